"""New plans that a study tries beside its sampler's: neighbors of good ones, and others in place of those that are known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from perfmodel.search.grid import Grid, Point
from perfmodel.search.memory import Memory, unseen

_DRAWN: Final = 100  # random plans that are tried where a known one is to be replaced
_BEST: Final = 0.5  # share of the plans beside good ones that are beside the best


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
        self._bests: dict[Point, Point] = {}  # of each choice of names, among the first so many plans:
        self._grouped = 0

    def near(self, count: int) -> list[Point]:
        """Return new plans beside good ones, each differing in one parameter.

        Good ones are the best of each choice of names, the better the more often; so a placement is not given up before
        its numbers were tuned. With several objectives they are the front.
        """
        found: dict[Point, None] = {}
        centers = self._centers()
        ranks = np.minimum(self.generator.geometric(_BEST, size=count) - 1, len(centers) - 1)
        for place, times in enumerate(np.bincount(ranks) if centers else ()):
            beside = unseen(self._grid.neighbors(centers[place]), self._memory, found)
            found |= dict.fromkeys(beside[other] for other in self.generator.permutation(len(beside))[:times])
        return list(found)

    def _centers(self) -> list[Point]:
        """Return the plans whose neighbors are worth a look, the most worthy first."""
        plans = self._memory.plans
        if self._memory.objectives > 1:
            front = self._memory.front()
            return [front[place] for place in self.generator.permutation(len(front))]
        for point, known in itertools.islice(plans.items(), self._grouped, None):
            if known.feasible:
                group = tuple(point[place] for place in self._names)
                best = self._bests.get(group)
                if best is None or known.values[0] < plans[best].values[0]:
                    self._bests[group] = point
        self._grouped = len(plans)
        return sorted(self._bests.values(), key=lambda point: plans[point].values[0])

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
