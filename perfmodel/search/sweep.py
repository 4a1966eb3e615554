"""Every plan of a space, exactly: block by block on open grids, in bounded memory.

Within a block each number lies along its own dimension, so that a phase is evaluated once for each combination of the
numbers it depends on, and only what the whole plan decides (its time, whether it is feasible) is spread over all plans.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.search.evaluator import FINITE, Evaluation, Evaluator, Failure, Model, excess
from perfmodel.search.grid import Block, meshed
from perfmodel.search.importance import Effects
from perfmodel.search.pareto import Front

Array = NDArray[np.float64]

#: Plans at a time: their arrays stay in cache, and numpy's cost of a call is spread over many plans.
CHUNK: Final = 2**17
_CHUNK_DRAWN: Final = 2**12  # where every plan has hundreds of draws


@dataclasses.dataclass(frozen=True)
class Found:
    """One plan of a sweep: its index, and its value of the first objective."""

    index: int
    value: float


@dataclasses.dataclass(frozen=True)
class Near:
    """The plan that comes closest to feasible: the limit that it passes furthest, and by what factor."""

    index: int
    rule: str
    excess: float


@dataclasses.dataclass
class Sweep:
    """What a sweep has found.

    Attributes
    ----------
    evaluated, feasible : int
        Plans.
    infeasible : dict of rule to int
        Plans that break the rule; one that breaks two is counted under both.
    best : Found or None
        The feasible plan with the least first objective, the first of those that tie.
    blocks : dict of block offset to Found
        The best of each block.
    relaxed : dict of rule to Found
        The best plan that breaks this rule and no other, where it beats the best that is feasible.
    effects : Effects or None
        Of each parameter on the first objective, where that is positive.
    front : Front
        Of feasible plans, where there are several objectives.
    failures : dict of rule to SpecError
        What the model can't take, by the rule that those plans are counted under.
    complete : bool
        Whether every plan was evaluated.
    """

    front: Front
    effects: Effects | None
    evaluated: int = 0
    feasible: int = 0
    infeasible: dict[str, int] = dataclasses.field(default_factory=dict)
    best: Found | None = None
    blocks: dict[int, Found] = dataclasses.field(default_factory=dict)
    relaxed: dict[str, Found] = dataclasses.field(default_factory=dict)
    failures: dict[str, SpecError] = dataclasses.field(default_factory=dict)
    complete: bool = False

    def count(self, rule: str, plans: int) -> None:
        """Count plans that break a rule."""
        if plans:
            self.infeasible[rule] = self.infeasible.get(rule, 0) + plans

    def fail(self, failure: Failure, plans: int) -> None:
        """Count plans that the model can't take."""
        self.count(failure.rule, plans)
        self.failures.setdefault(failure.rule, failure.error)
        self.evaluated += plans


def sweep(
    evaluator: Evaluator,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Sweep], None] = lambda found: None,
) -> Sweep:
    """Evaluate every plan of a grid.

    Parameters
    ----------
    evaluator : Evaluator
    stop : callable
        Asked between chunks; the sweep ends where it says so, with what it has found.
    progress : callable
        Told what was found, between chunks.

    Returns
    -------
    Sweep
    """
    found = Sweep(Front(len(evaluator.objectives)), Effects(evaluator.grid))
    for block in evaluator.grid.blocks():
        model = evaluator.model(block.outer, keep=False)
        if isinstance(model, Failure):
            found.fail(model, block.size)
            continue
        for start, parts, shape in chunks(block, _CHUNK_DRAWN if evaluator.quantile is not None else CHUNK):
            evaluation = evaluator.evaluate(model, meshed(block, parts))
            if isinstance(evaluation, Failure):
                found.fail(evaluation, math.prod(shape))
            else:
                _take(found, evaluation, block, start, parts, shape)
            evaluator.evaluated += math.prod(shape)
            progress(found)
            if stop():
                return found
    best = found.best.value if found.best is not None else math.inf
    found.relaxed = {rule: one for rule, one in found.relaxed.items() if one.value < best}
    found.complete = True
    return found


def chunks(block: Block, most: int = CHUNK) -> Iterator[tuple[int, list[slice], tuple[int, ...]]]:
    """Yield the parts of a block of at most so many plans: where each starts, its slices, its shape."""
    shape = block.shape
    split = len(shape)
    inside = 1
    while split > 0 and inside * shape[split - 1] <= most:
        split -= 1
        inside *= shape[split]
    whole = [slice(0, length) for length in shape[split:]]
    if split == 0:
        yield 0, whole, shape
        return
    slab = max(1, most // inside)
    for outside in np.ndindex(*shape[: split - 1]):
        before = int(np.ravel_multi_index(outside, shape[: split - 1])) if outside else 0
        for begin in range(0, shape[split - 1], slab):
            end = min(begin + slab, shape[split - 1])
            parts = [slice(place, place + 1) for place in outside] + [slice(begin, end), *whole]
            yield (
                (before * shape[split - 1] + begin) * inside,
                parts,
                (1,) * len(outside) + (end - begin, *shape[split:]),
            )


def _take(
    found: Sweep, evaluation: Evaluation, block: Block, start: int, parts: Sequence[slice], shape: tuple[int, ...]
) -> None:
    """Add what one chunk gives."""
    plans = math.prod(shape)
    first = np.broadcast_to(np.asarray(evaluation.values[0], dtype=np.float64), shape)
    feasible, kept = _feasible(evaluation, found, shape, plans)
    if not math.isfinite(float(first.max())):
        finite = np.isfinite(first)
        found.count(FINITE, plans - int(np.count_nonzero(finite)))
        feasible = finite if feasible is None else feasible & finite
        first = np.where(finite, first, np.inf)
    offset = block.offset + start
    found.evaluated += plans
    usable = first if feasible is None else np.where(feasible, first, np.inf)
    found.feasible += plans if feasible is None else _spread_count(feasible, plans)
    place = int(usable.argmin())
    value = float(usable.flat[place])
    if math.isfinite(value):
        one = Found(offset + place, value)
        if found.best is None or value < found.best.value:
            found.best = one
        if block.offset not in found.blocks or value < found.blocks[block.offset].value:
            found.blocks[block.offset] = one
        _measure(found, first, feasible, block, parts)
        if len(evaluation.values) > 1:
            found.front.add(_columns(evaluation, shape), feasible, offset)
    if feasible is not None:
        _relax(found, first, feasible, kept, offset)


def _measure(
    found: Sweep, first: Array, feasible: NDArray[np.bool_] | None, block: Block, parts: Sequence[slice]
) -> None:
    """Add to the effects of the parameters; an objective that isn't positive has no log, and none are kept."""
    if found.effects is None:
        return
    positive = first if feasible is None else np.where(feasible, first, 1.0)
    if not float(positive.min()) > 0:
        found.effects = None
        return
    weights: Any = 1.0 if feasible is None else feasible
    found.effects.add_grid(block.outer, block.axes, parts, np.log(positive), weights)


def _feasible(
    evaluation: Evaluation, found: Sweep, shape: tuple[int, ...], plans: int
) -> tuple[NDArray[np.bool_] | None, dict[str, Any]]:
    """Return which plans keep all limits (None: all of them do), and which keep each limit that some break."""
    feasible: Any = None
    kept: dict[str, Any] = {}
    for limit in evaluation.limits:
        holds = np.asarray(limit.need <= limit.limit)
        if holds.all():
            continue
        found.count(limit.rule, plans - _spread_count(holds, plans))
        kept[limit.rule] = holds if limit.rule not in kept else kept[limit.rule] & holds
        feasible = holds if feasible is None else feasible & holds
    return (None if feasible is None else np.broadcast_to(feasible, shape)), kept


def _spread_count(holds: NDArray[np.bool_], plans: int) -> int:
    """Return how many plans a condition holds for, given on the dimensions that it depends on."""
    return int(np.count_nonzero(holds)) * (plans // holds.size)


def _columns(evaluation: Evaluation, shape: tuple[int, ...]) -> list[Array]:
    return [np.broadcast_to(np.asarray(value, dtype=np.float64), shape) for value in evaluation.values]


def _relax(found: Sweep, first: Array, feasible: NDArray[np.bool_], kept: dict[str, Any], offset: int) -> None:
    """Keep for each rule the best plan that breaks it alone, as far as it beats the best so far."""
    best = found.best.value if found.best is not None else math.inf
    for rule in kept:
        others = [np.broadcast_to(holds, first.shape) for other, holds in kept.items() if other != rule]
        alone = ~np.broadcast_to(kept[rule], first.shape)
        for holds in others:
            alone = alone & holds
        known = found.relaxed.get(rule)
        most = best if known is None else min(best, known.value)
        values = np.where(alone, first, np.inf)
        place = int(values.argmin())
        value = float(values.flat[place])
        if value < most:
            found.relaxed[rule] = Found(offset + place, value)


def nearest_to_feasible(
    evaluator: Evaluator,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Sweep], None] = lambda found: None,
) -> Near | None:
    """Return the plan that breaks its limits least, by the largest factor that one of them is passed by."""
    near: Near | None = None
    for block in evaluator.grid.blocks():
        model = evaluator.model(block.outer, keep=False)
        if isinstance(model, Failure):
            continue
        for start, parts, shape in chunks(block):
            near = _nearer(near, evaluator, model, block, start, parts, shape)
            if stop():
                return near
    return near


def _nearer(
    near: Near | None, evaluator: Evaluator, model: Model, block: Block, start: int, parts: Sequence[slice], shape: Any
) -> Near | None:
    evaluation = evaluator.evaluate(model, meshed(block, list(parts)))
    if isinstance(evaluation, Failure) or not evaluation.limits:
        return near
    limits = evaluation.limits
    passed = [excess(limit.need, limit.limit) for limit in limits]
    furthest = np.broadcast_to(_largest(passed), shape)
    place = int(furthest.argmin())
    value = float(furthest.flat[place])
    if near is not None and value >= near.excess:
        return near
    own = [float(np.broadcast_to(one, shape).flat[place]) for one in passed]
    return Near(block.offset + start + place, limits[int(np.argmax(own))].rule, value)


def _largest(arrays: Sequence[Any]) -> Any:
    largest = arrays[0]
    for array in arrays[1:]:
        largest = np.maximum(largest, array)
    return largest
