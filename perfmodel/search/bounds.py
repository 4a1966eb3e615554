"""A guaranteed lower bound where not every plan can be evaluated: boxes of plans, enclosed by interval arithmetic.

The formulas are evaluated on whole boxes of numbers at once. What comes out encloses every plan of a box; boxes that can't
beat the best plan known, or that surely break a limit, are put aside, the others are halved along their widest side until
the time is up or nothing is left that could be better.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.search.evaluator import Evaluator, Failure, Model
from perfmodel.search.grid import Block
from perfmodel.search.intervals import Interval, interval

Array = NDArray[np.float64]

_CLOSE: Final = 1e-3  # boxes whose bound is that close to the best plan are not halved any more
_ROOM: Final = 1e-9  # for the rounding of the intervals' ends
_BOXES: Final = 4096  # of one block that are halved at a time
_MOST_BLOCKS: Final = 20_000
_ROUNDS: Final = 60


@dataclasses.dataclass(frozen=True)
class Bounded:
    """A lower bound of an objective over a space.

    Attributes
    ----------
    value : float
    boxes : int
        That were evaluated.
    blocks : int
    closed : bool
        Whether it is as close to the best plan as was asked for.
    """

    value: float
    boxes: int
    blocks: int
    closed: bool


@dataclasses.dataclass
class _Part:
    """What is left of one block: the ends of its boxes in positions (of spans in shares), and their bounds."""

    model: Model
    block: Block
    first: Array
    last: Array
    bound: Array


def lower_bound(evaluator: Evaluator, best: float, stop: Callable[[], bool]) -> Bounded | None:
    """Return a lower bound of the first objective over all plans that may be feasible.

    Parameters
    ----------
    evaluator : Evaluator
        Of expected values, not of a quantile.
    best : float
        The least value that is known.
    stop : callable
        Asked between rounds.

    Returns
    -------
    Bounded
        None where the space has too many blocks, or the formulas can't be enclosed.
    """
    if any(axis.span is not None for axis in evaluator.grid.outer) or evaluator.grid.structures > _MOST_BLOCKS:
        return None
    target = best * (1 - _CLOSE) if best > 0 else best
    parts, boxes, blocks, aside = [], 0, 0, math.inf
    for block in evaluator.grid.blocks():
        if stop():
            return None
        model = evaluator.model(block.outer, keep=False)
        blocks += 1
        if isinstance(model, Failure):
            continue
        wide = len(block.axes)
        whole = np.array([[0.0] * wide]), np.array([[_end(axis) for axis in block.axes]])
        found = _enclosed(evaluator, model, block, *whole)
        if found is None:
            return None
        boxes += 1
        if found[0] < target:
            parts.append(_Part(model, block, *whole, found))
        else:
            aside = min(aside, float(found[0]))
    for _ in range(_ROUNDS):
        if not parts or stop():
            break
        boxes += _round(evaluator, parts, target)
        aside = min([aside, *(float(part.bound[part.bound >= target].min(initial=np.inf)) for part in parts)])
        parts = [left for part in parts if (left := _kept(part, target)) is not None]
    least = min([aside, *(float(part.bound.min()) for part in parts)])
    return Bounded(min(least, best), boxes, blocks, not parts)


def _end(axis: Any) -> float:
    return 1.0 if axis.span is not None else float(len(axis.values) - 1)


def _kept(part: _Part, target: float) -> _Part | None:
    left = part.bound < target
    if not left.any():
        return None
    return dataclasses.replace(part, first=part.first[left], last=part.last[left], bound=part.bound[left])


def _round(evaluator: Evaluator, parts: Sequence[_Part], target: float) -> int:
    """Halve the least boxes of every block; returns how many were evaluated."""
    boxes = 0
    for part in parts:
        order = np.argsort(part.bound)[:_BOXES]
        rest = np.ones(len(part.bound), dtype=bool)
        rest[order] = False
        halves = _halved(part, order)
        if halves is None:
            continue
        found = _enclosed(evaluator, part.model, part.block, *halves)
        assert found is not None
        found = np.maximum(found, np.concatenate([part.bound[order], part.bound[order]])[: len(found)])
        boxes += len(found)
        part.first = np.concatenate([part.first[rest], halves[0]])
        part.last = np.concatenate([part.last[rest], halves[1]])
        part.bound = np.concatenate([part.bound[rest], found])
    return boxes


def _halved(part: _Part, order: NDArray[np.intp]) -> tuple[Array, Array] | None:
    """Return both halves of boxes, each cut along its widest side by value; a box of one plan stays as it is."""
    first, last = part.first[order], part.last[order]
    if not part.block.axes:
        return None
    widths = np.stack([_width(axis, first[:, at], last[:, at]) for at, axis in enumerate(part.block.axes)], axis=1)
    side = np.argmax(widths, axis=1)
    rows = np.arange(len(order))
    low, high = first[rows, side], last[rows, side]
    is_span = np.array([axis.span is not None for axis in part.block.axes])[side]
    middle = np.where(is_span, (low + high) / 2, np.floor((low + high) / 2))
    after = np.where(is_span, middle, np.minimum(middle + 1, high))
    upper_first, lower_last = first.copy(), last.copy()
    lower_last[rows, side] = middle
    upper_first[rows, side] = after
    return np.concatenate([first, upper_first]), np.concatenate([lower_last, last])


def _width(axis: Any, first: Array, last: Array) -> Array:
    """Return how wide a side is: the log of the ratio of its ends, zero where it is one value."""
    low, high = _values(axis, first, last)
    with np.errstate(all="ignore"):
        ratio = np.log((high + 1e-300) / np.maximum(low, 1e-3 * high + 1e-300))
    return np.where(last > first, np.maximum(ratio, 1e-12), 0.0)


def _values(axis: Any, first: Array, last: Array) -> tuple[Array, Array]:
    """Return the least and the largest number between two positions."""
    if axis.span is None:
        ordered = np.sort(axis.numbers)
        return ordered[first.astype(np.intp)], ordered[last.astype(np.intp)]
    low, high = axis.span.low, axis.span.high
    if axis.span.log:
        return low * (high / low) ** first, low * (high / low) ** last
    return low + first * (high - low), low + last * (high - low)


def _enclosed(evaluator: Evaluator, model: Model, block: Block, first: Array, last: Array) -> Array | None:
    """Return the lower end of the first objective in each box, infinite where a limit is surely broken."""
    numbers = {axis.key: Interval(*_values(axis, first[:, at], last[:, at])) for at, axis in enumerate(block.axes)}
    try:
        found = evaluator.evaluate(model, numbers)
    except TypeError:  # a formula uses a function that has no rule
        return None
    if isinstance(found, Failure):
        return np.full(len(first), np.inf)
    low = np.broadcast_to(interval(found.values[0]).low, len(first)).copy()
    low[np.isnan(low)] = -np.inf
    low -= np.abs(low) * _ROOM
    for limit in found.limits:
        need, most = interval(limit.need), interval(limit.limit)
        broken = np.broadcast_to(need.low > most.high * (1 + _ROOM) + 0.0, len(first))
        low[broken] = np.inf
    return np.asarray(low, dtype=np.float64)
