"""Joint degree classes of real nodes: few classes that keep what the expected mini-batch depends on."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CLASSES = 300
_EXACT = 48  # degrees below it have a bin each
_WIDTH = 0.02  # bins above are this wide in the logarithm of the degree
_PIECE = 1 << 22
_GRID = 1 << 22  # joint bins that are counted in one array


def joint_classes(
    degrees: Sequence[NDArray[np.unsignedinteger]], nodes: int, most: int = CLASSES
) -> tuple[Array, Array]:
    """Group nodes by their degrees in all slots at once.

    Parameters
    ----------
    degrees : sequence of arrays of shape (nodes with a label,)
        Degree in each slot [edge/node].
    nodes : int
        Number of nodes; those beyond the arrays have no edges.
    most : int
        Largest number of classes.

    Returns
    -------
    share : array of shape (classes,)
        Share of the nodes; sums to 1.
    mean : array of shape (classes, slots)
        Mean degree of the class: the number of edges in every slot is kept exactly [edge/node].

    Notes
    -----
    Cells of a fine logarithmic grid are split like a k-d tree, each time the class and slot with the largest spread
    of log(1 + degree), weighted by nodes and edges alike.

    Examples
    --------
    >>> share, mean = joint_classes([np.array([1, 1, 5, 5], dtype=np.uint32)], 4)
    >>> share.tolist(), mean.ravel().tolist()
    ([0.5, 0.5], [1.0, 5.0])
    """
    count, total = _cells(degrees)
    bare = nodes - count.sum()
    if bare > 0:
        count = np.append(count, bare)
        total = np.vstack([total, np.zeros((1, total.shape[1]))])
    members = _split(count, total, most)
    share = np.array([count[rows].sum() for rows in members])
    mean = np.array([total[rows].sum(axis=0) for rows in members]) / share[:, None]
    return share / share.sum(), mean


def _cells(degrees: Sequence[NDArray[np.unsignedinteger]]) -> tuple[Array, Array]:
    """Count nodes, and sum their degrees, by cell of the joint grid."""
    largest = [int(values.max()) if values.size else 0 for values in degrees]
    bins = [_bin(np.array([top]))[0] + 1 for top in largest]
    if float(np.prod([float(size) for size in bins])) <= _GRID:
        return _grid_cells(degrees, bins)
    keys = np.zeros(degrees[0].size, dtype=np.uint64)
    rng = np.random.default_rng(0)
    for values in degrees:
        table = rng.integers(0, 2**63, size=int(_bin(np.array([values.max()]))[0]) + 1, dtype=np.uint64)
        keys += table[_bin(values)]
    distinct, inverse = np.unique(keys, return_inverse=True)
    count = np.bincount(inverse, minlength=distinct.size).astype(float)
    total = np.zeros((distinct.size, len(degrees)))
    for slot, values in enumerate(degrees):
        total[:, slot] = np.bincount(inverse, weights=values, minlength=distinct.size)
    return count, total


def _grid_cells(degrees: Sequence[NDArray[np.unsignedinteger]], bins: Sequence[int]) -> tuple[Array, Array]:
    size = int(np.prod(bins))
    count, total = np.zeros(size), np.zeros((size, len(degrees)))
    for first in range(0, degrees[0].size, _PIECE):
        part = [values[first : first + _PIECE] for values in degrees]
        key = np.zeros(part[0].size, dtype=np.int64)
        for values, width in zip(part, bins, strict=True):
            key = key * width + _bin(values)
        count += np.bincount(key, minlength=size)
        for slot, values in enumerate(part):
            total[:, slot] += np.bincount(key, weights=values, minlength=size)
    filled = count > 0
    return count[filled], total[filled]


def _bin(degree: NDArray[np.integer]) -> NDArray[np.int64]:
    logs = np.log(np.maximum(degree, _EXACT) / _EXACT)
    return np.asarray(np.where(degree < _EXACT, degree, _EXACT + np.floor(logs / _WIDTH)), dtype=np.int64)


def _split(count: Array, total: Array, most: int) -> list[NDArray[np.int64]]:
    """Split cells into at most ``most`` groups; returns the cells of each."""
    place = np.log1p(total / count[:, None])
    edges = total / np.maximum(total.sum(axis=0), 1.0)
    weight = count / count.sum() + edges.sum(axis=1) / max(total.shape[1], 1)
    waiting: list[tuple[float, int, int, NDArray[np.int64]]] = []
    done: list[NDArray[np.int64]] = []
    serial = 0

    def consider(rows: NDArray[np.int64]) -> None:
        nonlocal serial
        serial += 1
        middle = np.average(place[rows], axis=0, weights=weight[rows])
        spread = (weight[rows, None] * (place[rows] - middle) ** 2).sum(axis=0)
        slot = int(spread.argmax())
        if rows.size == 1 or spread[slot] < 1e-15:
            done.append(rows)
        else:
            heapq.heappush(waiting, (-float(spread[slot]), serial, slot, rows))

    consider(np.arange(count.size))
    while waiting and len(waiting) + len(done) < most:
        _, _, slot, rows = heapq.heappop(waiting)
        high = place[rows, slot] > np.average(place[rows, slot], weights=weight[rows])
        consider(rows[~high])
        consider(rows[high])
    return done + [entry[3] for entry in waiting]
