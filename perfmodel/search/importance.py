"""How much of the spread of an objective each parameter accounts for by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.search.axes import Axis
from perfmodel.search.grid import Grid, Point
from perfmodel.search.memory import Memory

Array = NDArray[np.float64]

_BINS = 8  # of a range of all numbers


class Effects:
    """Sums of the log of an objective over feasible plans, in all and for every value of every parameter.

    The share of a parameter is that of the variance of the log that the means over its values explain: the correlation
    ratio, for independent parameters Sobol's first-order index.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.count, self.total, self.squares = 0.0, 0.0, 0.0
        lengths = [_BINS if axis.span is not None else len(axis.values) for axis in grid.axes]
        self._counts = [np.zeros(length + 1) for length in lengths]  # the last one: the parameter does not exist
        self._totals = [np.zeros(length + 1) for length in lengths]

    def add_grid(self, outer: Point, axes: Sequence[Axis], starts: Sequence[slice], logs: Array, weights: Any) -> None:
        """Add a part of a block: logs of the objective, zero where the weights are."""
        count = float(np.sum(weights)) if np.ndim(weights) else float(weights) * logs.size
        total = float(logs.sum())
        self.count, self.total = self.count + count, self.total + total
        self.squares += float(np.vdot(logs, logs))
        inside = {axis.key: place for place, axis in enumerate(axes)}
        spread = np.broadcast_to(weights, logs.shape)
        for place, axis in enumerate(self._grid.axes):
            counts, totals = self._counts[place], self._totals[place]
            at = inside.get(axis.key)
            if at is None:
                position = outer[place] if place < len(outer) else None
                where = len(counts) - 1 if position is None else int(position)
                counts[where] += count
                totals[where] += total
                continue
            others = tuple(dimension for dimension in range(logs.ndim) if dimension != at)
            part = slice(starts[at].start, starts[at].stop)
            counts[:-1][part] += spread.sum(axis=others)
            totals[:-1][part] += logs.sum(axis=others)

    def add_point(self, point: Point, value: float) -> None:
        """Add one plan."""
        if not value > 0 or not math.isfinite(value):
            return
        log = math.log(value)
        self.count, self.total, self.squares = self.count + 1, self.total + log, self.squares + log * log
        for place, axis in enumerate(self._grid.axes):
            position = point[place]
            where = len(self._counts[place]) - 1 if position is None else _bin(axis, position)
            self._counts[place][where] += 1
            self._totals[place][where] += log

    def shares(self) -> dict[str, float]:
        """Return each parameter's share, the largest first; none where nothing varies."""
        if self.count < 2:
            return {axis.key: 0.0 for axis in self._grid.axes}
        mean = self.total / self.count
        variance = self.squares / self.count - mean * mean
        found: dict[str, float] = {}
        for axis, counts, totals in zip(self._grid.axes, self._counts, self._totals, strict=True):
            there = counts > 0
            between = float(np.sum(counts[there] * (totals[there] / counts[there] - mean) ** 2) / self.count)
            found[axis.key] = (
                min(max(between / variance, 0.0), 1.0) if variance > 1e-12 * max(mean * mean, 1.0) else 0.0
            )
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def _bin(axis: Axis, position: int | float) -> int:
    if axis.span is None:
        return int(position)
    low, high = axis.span.low, axis.span.high
    share = math.log(position / low) / math.log(high / low) if axis.span.log else (position - low) / (high - low)
    return min(int(share * _BINS), _BINS - 1)


def effects_of(memory: Memory, grid: Grid) -> Effects:
    """Return the effects among the plans that a study has tried."""
    effects = Effects(grid)
    for point, known in memory.plans.items():
        if known.feasible:
            effects.add_point(point, known.values[0])
    return effects
