"""New plans that a study tries beside its sampler's: changes of good ones, and others in place of those that are known."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from perfmodel.search.axes import Axis
from perfmodel.search.families import search_family
from perfmodel.search.grid import Grid, Point
from perfmodel.search.memory import Memory, unseen

_DRAWN: Final = 100  # random plans that are tried where a known one is to be replaced
_BEST: Final = 0.5  # share of the plans beside good ones that are beside the best
_FEW: Final = 2  # plans beside another one, at a time

#: A parameter's place, and the position that it moves to.
Change = tuple[int, int | float | None]


class Proposals:
    """New plans, by what is known.

    Parameters
    ----------
    grid : Grid
    memory : Memory
    seed : int

    Attributes
    ----------
    generator : numpy.random.Generator
        May be replaced by another one.
    """

    def __init__(self, grid: Grid, memory: Memory, seed: int) -> None:
        self._grid, self._memory = grid, memory
        self.generator = np.random.default_rng(seed)
        self._names = [place for place, axis in enumerate(grid.axes) if not axis.ordered]
        placing = search_family(grid.scenario).placements()
        self._placing = [grid.places[key] for key in placing if key in grid.places] or self._names
        self._bests: dict[Point, Point] = {}  # of each placement, among the first so many plans:
        self._grouped = 0
        self._looks: collections.Counter[Point] = collections.Counter()  # by placement
        self._tries: collections.Counter[tuple[Point, Change]] = collections.Counter()  # by placement and change
        self._gains: collections.Counter[Change] = collections.Counter()  # less losses, of all placements
        self._asked: dict[Point, dict[Point, int]] = {}  # by the plan that they are beside: what changed

    def near(self, count: int) -> list[Point]:
        """Return new plans beside good ones: most of them differ in one parameter.

        Half of them are beside the best plan, the others beside the best of placements that were looked at least; so none
        is given up before its numbers were tuned. Changes that were tried least come first, and of these what was a gain
        elsewhere. Those that were gains one by one are tried together. Where nothing is left to change in one parameter,
        two names change. With several objectives the front is what is good.
        """
        found: dict[Point, None] = {}
        if self._memory.objectives == 1:
            found |= dict.fromkeys(self._together()[:count])
        centers = self._centers()
        for center, share in self._shares(centers, count - len(found)):
            beside = self._beside(center, share, found)
            self._looks[self._group(center)] += len(beside)
            found |= dict.fromkeys(beside)
        return list(found)

    def _shares(self, centers: Sequence[Point], count: int) -> Iterator[tuple[Point, int]]:
        """Yield plans to look beside, and how many plans beside each."""
        if not centers:
            return
        least = sorted(centers[1:], key=lambda center: self._looks[self._group(center)])
        others = min(int(count * (1 - _BEST)), len(least) * _FEW)
        yield centers[0], count - others
        for center in least:
            share = min(_FEW, others)
            others -= share
            if share:
                yield center, share

    def _centers(self) -> list[Point]:
        """Return the plans whose neighbors are worth a look, the most worthy first."""
        plans = self._memory.plans
        if self._memory.objectives > 1:
            front = self._memory.front()
            return [front[place] for place in self.generator.permutation(len(front))]
        for point in itertools.islice(plans, self._grouped, None):
            best = self._bests.get(self._group(point))
            if best is None or self._worth(point) < self._worth(best):
                self._bests[self._group(point)] = point
        self._grouped = len(plans)
        return sorted(self._bests.values(), key=self._worth)

    def _group(self, point: Point) -> Point:
        return tuple(point[place] for place in self._placing)

    def _worth(self, point: Point) -> tuple[float, float]:
        """Return what plans are ordered by: what the worst limit is passed by, and the objective where none is."""
        known = self._memory.plans[point]
        return (0.0, known.values[0]) if known.feasible else (max(known.broken.values()), math.inf)

    def _beside(self, center: Point, count: int, taken: Mapping[Point, None]) -> list[Point]:
        """Return new plans that differ in one parameter, those that were tried least first, or else in two names."""
        group = self._group(center)
        new = {
            point: (place, point[place])
            for place, point in self._grid.neighbors(center, Axis.some)
            if point not in self._memory and point not in taken
        }
        order = [list(new)[each] for each in self.generator.permutation(len(new))]
        order.sort(key=lambda point: (self._tries[group, new[point]], -self._gains[new[point]]))
        chosen = order[:count]
        asked = self._asked.setdefault(center, {})
        for point in chosen:
            self._tries[group, new[point]] += 1
            asked[point] = new[point][0]
        if len(chosen) < count:
            pairs = unseen(self._in_two_names(center), self._memory, {**taken, **dict.fromkeys(chosen)})
            chosen += [pairs[each] for each in self.generator.permutation(len(pairs))[: count - len(chosen)]]
        return chosen

    def _in_two_names(self, center: Point) -> Iterator[tuple[int, Point]]:
        for place, point in self._grid.neighbors(center):
            if place in self._names:
                yield from (
                    (other, changed)
                    for other, changed in self._grid.neighbors(point)
                    if other in self._names and other > place
                )

    def _together(self) -> list[Point]:
        """Return plans that take all gains beside a plan together."""
        asked, self._asked = self._asked, {}
        found: list[Point] = []
        for center, beside in asked.items():
            gains: dict[int, Point] = {}
            for point, place in beside.items():
                self._gains[place, point[place]] += 1 if self._gained(point, center) else -1
                if self._gained(point, center) and (place not in gains or self._gained(point, gains[place])):
                    gains[place] = point
            if len(gains) > 1:
                changed = {place: point[place] for place, point in gains.items()}
                found.append(self._grid.repaired([changed.get(place, now) for place, now in enumerate(center)]))
        return [point for point in found if point not in self._memory]

    def _gained(self, point: Point, other: Point) -> bool:
        return point in self._memory and self._worth(point) < self._worth(other)

    def instead(self, point: Point, taken: Mapping[Point, None]) -> Point | None:
        """Return a new plan in place of a known one, a neighbor or any; None where there is none."""
        found = unseen(self._grid.neighbors(point), self._memory, taken)
        if found:
            return found[int(self.generator.integers(len(found)))]
        return next((other for other in self._anywhere() if other not in self._memory and other not in taken), None)

    def _anywhere(self) -> Iterator[Point]:
        """Yield random plans, and then all of them where most are known."""
        for _ in range(_DRAWN):
            yield self._grid.random(self.generator)
        if self._grid.enumerable and self._grid.size <= _DRAWN * len(self._memory):
            yield from map(self._grid.point, range(self._grid.size))
