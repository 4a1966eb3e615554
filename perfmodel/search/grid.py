"""A space laid over a scenario: every value checked, every plan with a number of its own.

Parameters that change the model's structure (names, and numbers that others depend on) come first: each choice of
them is a block, within which the other parameters are the axes of a grid of numbers. A plan's index counts blocks in the
order of the space, and within a block the last parameter changes first.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.search.axes import Axis, axes_of
from perfmodel.search.space import Space
from perfmodel.spec.scenario import Scenario

#: A plan: for each parameter the position of its value, a number where every number counts, None where it has none.
Point = tuple[int | float | None, ...]
#: Positions to move to, of a parameter at one.
Moves = Callable[[Axis, int | float], Iterable[int | float]]


@dataclasses.dataclass(frozen=True)
class Block:
    """One choice of the outer parameters, and the grid of the others.

    Attributes
    ----------
    offset : int
        Index of its first plan.
    outer : Point
        Positions of the outer parameters.
    axes : tuple of Axis
        Of the grid within.
    """

    offset: int
    outer: Point
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the grid's shape."""
        return tuple(len(axis.values) for axis in self.axes)

    @property
    def size(self) -> int:
        """Return the plans of the block."""
        return math.prod(self.shape)


class Grid:
    """A space laid over a scenario.

    Attributes
    ----------
    scenario : Scenario
        What a parameter has where it does not exist.
    outer, inner : tuple of Axis
    constraints : tuple of str
        As the space has them.
    """

    def __init__(self, scenario: Scenario, outer: Sequence[Axis], inner: Sequence[Axis], space: Space) -> None:
        self.scenario, self.outer, self.inner = scenario, tuple(outer), tuple(inner)
        self.axes = (*self.outer, *self.inner)
        self.space, self.constraints = space, space.constraints
        self.places = {axis.key: place for place, axis in enumerate(self.axes)}
        #: at each parameter, the earlier ones that conditions from there on look at
        self._seen = [
            tuple(sorted({self.places[key] for axis in self.axes[place:] for key in axis.when} & set(range(place))))
            for place in range(len(self.axes) + 1)
        ]
        self._needs = [[(self.places[key], at) for key, at in axis.when.items()] for axis in self.axes]
        self._looked_at = {other for needs in self._needs for other, _ in needs}
        self._plans = functools.cache(self._count)

    @staticmethod
    def of(scenario: Scenario, space: Space) -> Grid:
        """Return a space laid over a scenario.

        Raises
        ------
        SpecError
            Unknown keys, values out of bounds, empty ranges, conditions on what is not there.

        Examples
        --------
        >>> import perfmodel as pm
        >>> scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
        >>> space = {"plan.precision.features": ["fp32", "fp16"], "plan.transfer.window": [1, 2, 4]}
        >>> grid = Grid.of(scenario, Space.of(space))
        >>> grid.size, grid.assignment(grid.point(4))
        (6, {'plan.precision.features': 'fp16', 'plan.transfer.window': 2.0})
        """
        axes = axes_of(scenario, space)
        looked_at = {key for axis in axes for key in axis.when}
        outer = [axis for axis in axes if axis.structural or axis.key in looked_at]
        inner = [axis for axis in axes if not (axis.structural or axis.key in looked_at)]
        return Grid(scenario, outer, inner, space)

    @property
    def enumerable(self) -> bool:
        """Whether every parameter has a list of values."""
        return all(axis.span is None for axis in self.axes)

    @functools.cached_property
    def size(self) -> int:
        """Return the number of plans, where they can be counted."""
        if not self.enumerable:
            raise SpecError("space", "must have values, a step, a factor or a count", "a range of all numbers")
        return self._plans(0, ())

    @functools.cached_property
    def structures(self) -> int:
        """Return the number of blocks, where they can be counted."""
        return functools.cache(self._count_blocks)(0, ())

    def _count(self, place: int, seen: Point) -> int:
        """Return how many plans go on from a parameter, by the values that conditions look at."""
        if place == len(self.axes):
            return 1
        known = dict(zip(self._seen[place], seen, strict=True))
        return sum(times * self._plans(place + 1, following) for times, following in self._branches(place, known))

    def _count_blocks(self, place: int, seen: Point) -> int:
        if place == len(self.outer):
            return 1
        known = dict(zip(self._seen[place], seen, strict=True))
        return sum(
            times * self._count_blocks(place + 1, following) for times, following in self._branches(place, known)
        )

    def _branches(self, place: int, known: Mapping[int, Any]) -> Iterator[tuple[int, Point]]:
        """Yield how often each state of what later conditions look at follows from a parameter."""
        axis, after = self.axes[place], self._seen[place + 1]
        if not self._exists(axis, known):
            yield 1, tuple(None if where == place else known[where] for where in after)
        elif place in after:
            for position in range(len(axis.values)):
                yield 1, tuple(position if where == place else known[where] for where in after)
        else:
            yield max(len(axis.values), 1), tuple(known[where] for where in after)

    def _exists(self, axis: Axis, known: Mapping[int, Any]) -> bool:
        return all(known[self.places[key]] in positions for key, positions in axis.when.items())

    def exists(self, place: int, point: Sequence[int | float | None]) -> bool:
        """Return whether a parameter exists, given those before it."""
        return all(point[other] in positions for other, positions in self._needs[place])

    def point(self, index: int) -> Point:
        """Return the plan of an index.

        Raises
        ------
        IndexError
            Beyond the last one.
        """
        if not 0 <= index < self.size:
            raise IndexError(index)
        point: list[int | float | None] = []
        for place, axis in enumerate(self.axes):
            if not self.exists(place, point):
                point.append(None)
                continue
            below = self._plans(place + 1, self._state(place + 1, [*point, 0]))
            if place not in self._seen[place + 1]:
                position, index = divmod(index, below)
                point.append(position)
                continue
            for position in range(len(axis.values)):
                below = self._plans(place + 1, self._state(place + 1, [*point, position]))
                if index < below:
                    point.append(position)
                    break
                index -= below
        return tuple(point)

    def index(self, point: Point) -> int:
        """Return the index of a plan; ``point`` turns it back."""
        index = 0
        for place in range(len(self.axes)):
            position = point[place]
            if position is None:
                continue
            if place not in self._seen[place + 1]:
                index += int(position) * self._plans(place + 1, self._state(place + 1, point))
                continue
            for earlier in range(int(position)):
                index += self._plans(place + 1, self._state(place + 1, [*point[:place], earlier]))
        return index

    def _state(self, place: int, point: Sequence[int | float | None]) -> Point:
        return tuple(point[where] for where in self._seen[place])

    def blocks(self) -> Iterator[Block]:
        """Yield every block in the order of the indices."""
        offset = 0
        for outer in self._outer_points([]):
            axes = tuple(
                axis
                for place, axis in enumerate(self.inner, len(self.outer))
                if self._exists(axis, dict(enumerate(outer)))
            )
            block = Block(offset, outer, axes)
            yield block
            offset += block.size

    def _outer_points(self, before: list[int | float | None]) -> Iterator[Point]:
        place = len(before)
        if place == len(self.outer):
            yield tuple(before)
        elif not self.exists(place, before):
            yield from self._outer_points([*before, None])
        else:
            for position in range(len(self.outer[place].values)):
                yield from self._outer_points([*before, position])

    def assignment(self, point: Sequence[int | float | None]) -> dict[str, Any]:
        """Return the values of a plan, or of its first parameters, by key."""
        return {
            axis.key: axis.value(position)
            for axis, position in zip(self.axes, point, strict=False)
            if position is not None
        }

    def outer_of(self, point: Point) -> Point:
        """Return a plan's part that chooses its block."""
        return point[: len(self.outer)]

    def nearest_point(self, assignment: Mapping[str, Any]) -> Point:
        """Return the plan of the space that is closest to given values; what they leave out is the scenario's."""
        point: list[int | float | None] = []
        for place, axis in enumerate(self.axes):
            point.append(axis.closest(assignment.get(axis.key, axis.now)) if self.exists(place, point) else None)
        return tuple(point)

    def neighbors(self, point: Point, moves: Moves = Axis.others) -> Iterator[tuple[int, Point]]:
        """Yield the plans that differ in one parameter, with its place; ``moves`` says how far.

        Where a name brings in another one, such as what to fetch where sampling moves, every value of that is tried.
        """
        for place, axis in enumerate(self.axes):
            now = point[place]
            if now is None:
                continue
            for position in moves(axis, now):
                changed = (*point[:place], position, *point[place + 1 :])
                if place not in self._looked_at:
                    yield place, changed
                else:
                    yield from ((place, repaired) for repaired in self._repaired([], changed))

    def _repaired(self, done: list[int | float | None], wanted: Sequence[int | float | None]) -> Iterator[Point]:
        """Yield the plans in which exactly those parameters have values that exist; new numbers are the scenario's."""
        place = len(done)
        if place == len(self.axes):
            yield tuple(done)
            return
        axis, position = self.axes[place], wanted[place]
        choices: Sequence[int | float | None] = [position]
        if not self.exists(place, done):
            choices = [None]
        elif position is None:
            choices = [axis.closest(axis.now)] if axis.ordered else range(len(axis.values))
        for choice in choices:
            yield from self._repaired([*done, choice], wanted)

    def repaired(self, wanted: Sequence[int | float | None]) -> Point:
        """Return the plan that has the wanted values where they may be, and the scenario's where it needs others."""
        return next(self._repaired([], wanted))

    def random(self, generator: np.random.Generator) -> Point:
        """Return a plan drawn evenly, parameter by parameter."""
        point: list[int | float | None] = []
        for place, axis in enumerate(self.axes):
            point.append(axis.random(generator) if self.exists(place, point) else None)
        return tuple(point)


def meshed(block: Block, starts: Sequence[slice]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of a part of a block, each along its own dimension, ready to broadcast.

    Parameters
    ----------
    block : Block
    starts : sequence of slice
        The part, a slice for each axis.
    """
    dimensions = len(block.axes)
    found: dict[str, NDArray[np.float64]] = {}
    for place, (axis, part) in enumerate(zip(block.axes, starts, strict=True)):
        shape = [1] * dimensions
        shape[place] = -1
        found[axis.key] = axis.numbers[part].reshape(shape)
    return found
