"""Pareto fronts of plans by several objectives, and the exact hypervolume that they dominate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SCOUTS: Final = 16  # points of the front that thin out new plans before they are sorted


class Front:
    """The plans that no other plan beats in every objective; of plans that tie in all of them, the first.

    Attributes
    ----------
    values : array of shape (plans, objectives)
        Sorted by the first objective.
    indices : array of shape (plans,)
        Of the plans.
    """

    def __init__(self, objectives: int) -> None:
        self.values: Array = np.zeros((0, objectives))
        self.indices: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def add(self, columns: Sequence[Array], feasible: NDArray[np.bool_] | None, offset: int) -> None:
        """Add plans.

        Parameters
        ----------
        columns : sequence of array of one shape
            Their objectives.
        feasible : array of that shape, optional
            Which of them count.
        offset : int
            Index of the first.
        """
        shape = columns[0].shape
        candidate = np.ones(shape, dtype=bool) if feasible is None else feasible.copy()
        for column in columns:
            candidate &= np.isfinite(column)
        for scout in self._scouts():
            beaten: Any = True
            for column, value in zip(columns, scout, strict=True):
                beaten = np.logical_and(beaten, column >= value)
            candidate &= ~beaten
        places = np.flatnonzero(candidate)
        if places.size == 0:
            return
        values = np.stack([column[candidate] for column in columns], axis=1)
        self.merge(values, places + offset)

    def merge(self, values: Array, indices: NDArray[np.int64]) -> None:
        """Add plans by their values and indices."""
        together = np.concatenate([self.values, values])
        numbers = np.concatenate([self.indices, indices])
        kept = nondominated(together)
        self.values, self.indices = together[kept], numbers[kept]

    def _scouts(self) -> Array:
        """Return some points of the front, spread along it."""
        if len(self.values) <= _SCOUTS:
            return self.values
        scouts: Array = self.values[np.linspace(0, len(self.values) - 1, _SCOUTS).astype(int)]
        return scouts


def nondominated(values: Array) -> NDArray[np.intp]:
    """Return the rows that no other row beats or ties, sorted by the first column; of equal rows the first.

    Parameters
    ----------
    values : array of shape (plans, objectives)

    Examples
    --------
    >>> nondominated(np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 2.0], [1.0, 2.0]]))
    array([1, 0])
    """
    order: NDArray[np.intp] = np.lexsort(values.T[::-1])
    sorted_values = values[order]
    if values.shape[1] == 1:
        return order[:1]
    if values.shape[1] == 2:
        second = sorted_values[:, 1]
        least = np.minimum.accumulate(second)
        kept = np.flatnonzero(np.concatenate([[True], second[1:] < least[:-1]]))
    else:
        kept = _kept(sorted_values)
    best: NDArray[np.intp] = order[kept]
    return best


def _kept(values: Array) -> NDArray[np.intp]:
    """Return the rows of a sorted table that none before them beats or ties."""
    left = np.arange(len(values))
    kept: list[int] = []
    while left.size:
        first = left[0]
        kept.append(int(first))
        left = left[1:]
        left = left[np.any(values[left] < values[first], axis=1)]
    return np.array(kept, dtype=np.intp)


def hypervolume(values: Array, reference: Array) -> float:
    """Return the exact volume between a front and a reference point that all of it beats.

    Parameters
    ----------
    values : array of shape (plans, objectives)
    reference : array of shape (objectives,)
        What lies beyond it does not count.

    Examples
    --------
    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0]))
    3.0
    """
    inside = values[np.all(values < reference, axis=1)]
    if not len(inside):
        return 0.0
    front = inside[nondominated(inside)]
    if front.shape[1] == 1:
        return float(reference[0] - front[0, 0])
    if front.shape[1] == 2:
        widths = np.diff(np.append(front[:, 0], reference[0]))
        return float(np.sum(widths * (reference[1] - front[:, 1])))
    return _sliced(front, reference)


def _sliced(front: Array, reference: Array) -> float:
    """Add up slices along the last objective, each the volume of what reaches down to it in the others."""
    ordered = front[np.argsort(front[:, -1], kind="stable")]
    ends = np.append(ordered[1:, -1], reference[-1])
    total = 0.0
    for count, (start, end) in enumerate(zip(ordered[:, -1], ends, strict=True), 1):
        if end > start:
            total += (end - start) * hypervolume(ordered[:count, :-1], reference[:-1])
    return float(total)
