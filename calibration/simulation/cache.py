"""Caches replayed access by access: an LRU, and a pool that keeps what its window will come back to.

A window of consecutive snapshots is worked on, then moves on by one; so a snapshot is visited as often as the window is
long. An LRU cache that is smaller than what lies between two visits has lost everything of a scan when it comes back. The pool
(M-DGNN's host-pinned memory extension, section 4.5) admits what comes while there is room and keeps it until no
snapshot of the window has it, so it keeps its share however large the window is.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration.simulation._checks import at_least
from perfmodel.errors import SpecError

Items = NDArray[np.int64]


class Visit(NamedTuple):
    """One snapshot as one window sees it."""

    window: int
    snapshot: int
    items: Items


@dataclasses.dataclass(frozen=True)
class Counts:
    """What a cache saw.

    Attributes
    ----------
    accesses, hits : int
    first : int
        Accesses to what was never accessed before: no cache has it.
    """

    accesses: int
    hits: int
    first: int

    @property
    def hit_rate(self) -> float:
        """Return hits over accesses; 0 where there were none."""
        return self.hits / self.accesses if self.accesses else 0.0


@dataclasses.dataclass(frozen=True)
class SlidingWindow:
    """A made-up dynamic graph.

    Attributes
    ----------
    snapshots, window : int
    items : int
        Of each snapshot.
    draws : int, optional
        Accesses of a visit, each to an item drawn anew; every item once and in order where None.
    skew : float
        Exponent of Zipf's law by which items are drawn; the order of popularity is each snapshot's own.
    shared : float
        Share of a snapshot's items that all snapshots have.
    """

    snapshots: int
    window: int
    items: int
    draws: int | None = None
    skew: float = 0.0
    shared: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, self, "snapshots", "window", "items")
        at_least(0, self, "skew", "shared")
        if self.shared > 1:
            raise SpecError("SlidingWindow.shared", "must be at most 1", self.shared, "1")
        if self.window > self.snapshots:
            raise SpecError("SlidingWindow.window", "must be at most all snapshots", self.window, str(self.snapshots))

    def visits(self, seed: int = 0) -> list[Visit]:
        """Return what is accessed, window after window.

        Examples
        --------
        >>> [visit.items.tolist() for visit in SlidingWindow(snapshots=3, window=2, items=2).visits()]
        [[0, 1], [2, 3], [2, 3], [4, 5]]
        """
        random = np.random.default_rng(seed)
        own = [self._ids(snapshot, random) for snapshot in range(self.snapshots)]
        return list(visits([self._drawn(ids, random) for ids in own], self.window))

    def _ids(self, snapshot: int, random: np.random.Generator) -> Items:
        common = round(self.shared * self.items)
        ids = snapshot * self.items + np.arange(self.items, dtype=np.int64)
        ids[:common] = np.arange(common)
        # what all snapshots have is as popular as the rest, and equally in each
        return ids if self.draws is None else random.permutation(ids)

    def _drawn(self, ids: Items, random: np.random.Generator) -> _Drawn:
        if self.draws is None:
            return _Drawn(ids, None, 0, random)
        weight = np.arange(1, self.items + 1, dtype=np.float64) ** -self.skew
        return _Drawn(ids, np.cumsum(weight) / weight.sum(), self.draws, random)


class _Drawn:
    """A snapshot's items, drawn anew at each visit."""

    def __init__(
        self, ids: Items, chances: NDArray[np.float64] | None, draws: int, random: np.random.Generator
    ) -> None:
        self._ids, self._chances, self._draws, self._random = ids, chances, draws, random

    def __call__(self) -> Items:
        if self._chances is None:
            return self._ids
        places = np.searchsorted(self._chances, self._random.random(self._draws), side="right")
        return self._ids[np.minimum(places, self._ids.size - 1)]


def visits(snapshots: Sequence[Items | _Drawn], window: int) -> Iterator[Visit]:
    """Return every snapshot of every window of consecutive snapshots, in order.

    Parameters
    ----------
    snapshots : sequence of array of int
        What a visit of each accesses.
    window : int
        Snapshots of a window; it moves on by one.
    """
    for start in range(len(snapshots) - window + 1):
        for snapshot in range(start, start + window):
            found = snapshots[snapshot]
            yield Visit(start, snapshot, found if isinstance(found, np.ndarray) else found())


def lru(seen: Iterable[Visit], capacity: int, skip: int = 0) -> Counts:
    """Replay accesses through a cache that gives up what was not accessed for longest.

    Parameters
    ----------
    seen : iterable of Visit
    capacity : int
        Items that it holds.
    skip : int
        Windows at the start whose accesses are not counted.

    Returns
    -------
    Counts

    Examples
    --------
    A scan over three items through a cache of two: whatever comes has just been given up.

    >>> scan = [Visit(0, 0, np.array([0, 1, 2, 0, 1, 2, 0, 1, 2]))]
    >>> lru(scan, 2).hits, lru(scan, 3).hits
    (0, 6)
    """
    held: OrderedDict[int, None] = OrderedDict()
    before: set[int] = set()
    accesses = hits = first = 0
    for visit in seen:
        counted = visit.window >= skip
        for item in visit.items.tolist():
            hit = item in held
            if hit:
                held.move_to_end(item)
            elif capacity > 0:
                if len(held) >= capacity:
                    held.popitem(last=False)
                held[item] = None
            if counted:
                accesses, hits, first = accesses + 1, hits + hit, first + (item not in before)
            before.add(item)
    return Counts(accesses, hits, first)


def pinned(seen: Iterable[Visit], capacity: int, skip: int = 0) -> Counts:
    """Replay accesses through a pool that admits while there is room and keeps what the window will come back to.

    When the window has worked on its oldest snapshot, what no younger one has accessed need not stay: it gives way when room
    is needed.

    Parameters
    ----------
    seen : iterable of Visit
        Windows in order, each from its oldest snapshot on.
    capacity : int
        Items that it holds.
    skip : int
        Windows at the start whose accesses are not counted.

    Returns
    -------
    Counts

    Examples
    --------
    Of four items in two snapshots three are kept, and are found when the window moves on by nothing:

    >>> twice = [Visit(window, t, np.array([2 * t, 2 * t + 1])) for window in (0, 0) for t in (1, 2)]
    >>> pinned(twice, 3).hits, lru(twice, 3).hits
    (3, 0)
    """
    kept: dict[int, int] = {}  # item -> youngest snapshot that accessed it
    left: OrderedDict[int, None] = OrderedDict()  # what gives way
    before: set[int] = set()
    accesses = hits = first = 0
    for visit in seen:
        counted = visit.window >= skip
        for item in visit.items.tolist():
            hit = item in kept or item in left
            left.pop(item, None)
            if not hit and left and len(kept) + len(left) >= capacity:
                left.popitem(last=False)
            if hit or len(kept) + len(left) < capacity:
                kept[item] = max(visit.snapshot, kept.get(item, 0))
            if counted:
                accesses, hits, first = accesses + 1, hits + hit, first + (item not in before)
            before.add(item)
        if visit.snapshot == visit.window:
            for item in [item for item, youngest in kept.items() if youngest <= visit.snapshot]:
                del kept[item]
                left[item] = None
    return Counts(accesses, hits, first)


def stack_distances(items: Sequence[int] | Items) -> Items:
    """Return for each access how many other items were accessed since the item's last one, -1 where there was none.

    An LRU of capacity ``c`` hits what has a distance from 0 to below ``c``: one pass for all capacities (Mattson et al. 1970).

    Examples
    --------
    >>> stack_distances([5, 7, 5, 5, 7]).tolist()
    [-1, -1, 1, 0, 1]
    """
    size = len(items)
    tree = np.zeros(size + 1, dtype=np.int64).tolist()  # Fenwick tree over the last access of every item

    def add(place: int, value: int) -> None:
        place += 1
        while place <= size:
            tree[place] += value
            place += place & -place

    def below(place: int) -> int:
        total = 0
        while place > 0:
            total += tree[place]
            place -= place & -place
        return total

    last: dict[int, int] = {}
    found = np.full(size, -1, dtype=np.int64)
    for now, item in enumerate(items):
        if item in last:
            found[now] = below(now) - below(last[item] + 1)
            add(last[item], -1)
        add(now, 1)
        last[item] = now
    return found
