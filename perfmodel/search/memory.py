"""The plans that a search has evaluated: none is evaluated twice, and the best of them is known at any time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Container, Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from perfmodel.search.grid import Point
from perfmodel.search.pareto import nondominated


@dataclasses.dataclass(frozen=True)
class Remembered:
    """What is known of one plan: its objectives (NaN where the model fails), and what it breaks, by rule."""

    values: tuple[float, ...]
    broken: dict[str, float]

    @property
    def feasible(self) -> bool:
        """Whether it breaks nothing."""
        return not self.broken


class Memory:
    """Evaluated plans.

    Attributes
    ----------
    objectives : int
    plans : dict of Point to Remembered
        In the order of their evaluation.
    best : Point or None
        The feasible plan with the least first objective.
    gained : int
        How many plans were known when the best, or the front, last changed.
    """

    def __init__(self, objectives: int) -> None:
        self.plans: dict[Point, Remembered] = {}
        self.best: Point | None = None
        self.gained = 0
        self.feasible = 0
        self.objectives = objectives
        self._front: NDArray[np.float64] = np.zeros((0, objectives))

    def __contains__(self, point: Point) -> bool:
        return point in self.plans

    def __len__(self) -> int:
        return len(self.plans)

    def add(self, point: Point, known: Remembered) -> None:
        """Remember a plan; one that is known already stays as it is."""
        if point in self.plans:
            return
        self.plans[point] = known
        if not known.feasible:
            return
        self.feasible += 1
        if known.values[0] < self.value:
            self.best = point
            self.gained = len(self.plans)
        if self.objectives > 1 and not np.any(np.all(self._front <= np.array(known.values), axis=1)):
            front = np.vstack([self._front, known.values])
            self._front = front[nondominated(front)]
            self.gained = len(self.plans)

    @property
    def value(self) -> float:
        """Return the least first objective of feasible plans, infinite where there are none."""
        return math.inf if self.best is None else self.plans[self.best].values[0]

    def best_by(self, group: Callable[[Point], Hashable]) -> list[Point]:
        """Return the best feasible plan of each group, the best first."""
        best: dict[Hashable, Point] = {}
        for point, known in self.plans.items():
            name = group(point)
            if known.feasible and (name not in best or known.values[0] < self.plans[best[name]].values[0]):
                best[name] = point
        return sorted(best.values(), key=lambda point: self.plans[point].values[0])

    def front(self) -> list[Point]:
        """Return the feasible plans that no other beats in every objective."""
        points = [point for point, known in self.plans.items() if known.feasible]
        if not points:
            return []
        values = np.array([self.plans[point].values for point in points])
        return [points[place] for place in nondominated(values)]

    def reasons(self) -> dict[str, int]:
        """Return how many plans break each rule."""
        counts: dict[str, int] = {}
        for known in self.plans.values():
            for rule in known.broken:
                counts[rule] = counts.get(rule, 0) + 1
        return counts

    def nearest_to_feasible(self) -> tuple[Point, str, float] | None:
        """Return the plan whose furthest broken rule is broken least, that rule, and by what factor."""
        candidates = ((max(known.broken.values()), point, known) for point, known in self.plans.items() if known.broken)
        found = min(candidates, key=lambda one: one[0], default=None)
        if found is None or math.isinf(found[0]):
            return None
        over, point, known = found
        return point, max(known.broken, key=lambda rule: known.broken[rule]), over


def unseen(candidates: Iterator[tuple[int, Point]], memory: Memory, taken: Container[Point]) -> list[Point]:
    """Return those plans that neither the memory nor ``taken`` holds, each once."""
    return list(dict.fromkeys(point for _, point in candidates if point not in memory and point not in taken))
