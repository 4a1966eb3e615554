"""What a search has seen, whichever way it went: the sweep's findings and the study's in the same words."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from perfmodel.errors import SpecError
from perfmodel.search.grid import Grid, Point
from perfmodel.search.memory import Memory
from perfmodel.search.sweep import Sweep

_OTHERS = 1000  # choices of names whose best plan is kept


@dataclasses.dataclass(frozen=True)
class Explored:
    """What was seen of a space.

    Attributes
    ----------
    best : Point or None
    value : float
        Its first objective.
    front : sequence of (Point, values)
        Where there are several objectives.
    evaluated, feasible : int
    infeasible : mapping of rule to int
    others : sequence of Point
        The best plan of each other choice of names, the best first.
    relaxed : mapping of rule to (Point, float)
        The best plan that breaks this rule alone, where it beats the best, and its value.
    failures : mapping of rule to SpecError
    complete : bool
        Whether every plan was seen.
    near : (Point, rule, factor) or None
        The plan that comes closest to feasible, among those that were seen.
    """

    best: Point | None
    value: float
    front: Sequence[tuple[Point, tuple[float, ...]]]
    evaluated: int
    feasible: int
    infeasible: Mapping[str, int]
    others: Sequence[Point]
    relaxed: Mapping[str, tuple[Point, float]]
    failures: Mapping[str, SpecError]
    complete: bool
    near: tuple[Point, str, float] | None = None


def from_sweep(found: Sweep, grid: Grid) -> Explored:
    """Return what a sweep has seen."""
    best = found.best
    blocks = sorted(found.blocks.values(), key=lambda one: (one.value, one.index))
    others = [grid.point(one.index) for one in blocks[:_OTHERS] if best is None or one.index != best.index]
    front = [
        (grid.point(int(index)), tuple(map(float, values)))
        for index, values in zip(found.front.indices, found.front.values, strict=True)
    ]
    return Explored(
        best=None if best is None else grid.point(best.index),
        value=math.inf if best is None else best.value,
        front=front,
        evaluated=found.evaluated,
        feasible=found.feasible,
        infeasible=found.infeasible,
        others=others,
        relaxed={rule: (grid.point(one.index), one.value) for rule, one in found.relaxed.items()},
        failures=found.failures,
        complete=found.complete,
    )


def from_memory(memory: Memory, grid: Grid) -> Explored:
    """Return what a study has seen."""
    bests = memory.best_by(grid.outer_of)
    relaxed: dict[str, tuple[Point, float]] = {}
    for point, known in memory.plans.items():
        rule, value = next(iter(known.broken), ""), known.values[0]
        if len(known.broken) == 1 and value < memory.value and value < relaxed.get(rule, (point, math.inf))[1]:
            relaxed[rule] = (point, value)
    return Explored(
        best=memory.best,
        value=memory.value,
        front=[(point, memory.plans[point].values) for point in memory.front()],
        evaluated=len(memory),
        feasible=memory.feasible,
        infeasible=memory.reasons(),
        others=[point for point in bests[:_OTHERS] if point != memory.best],
        relaxed=relaxed,
        failures={},
        complete=grid.enumerable and len(memory) == grid.size,
        near=memory.nearest_to_feasible(),
    )
