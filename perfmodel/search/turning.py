"""Numbers that may tip a choice, turned over their ranges: what single plans are worth at every value."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.model.bound import bind
from perfmodel.search.axes import is_plain
from perfmodel.search.evaluator import Evaluator, Failure
from perfmodel.search.families import search_family
from perfmodel.search.grid import Grid, Point
from perfmodel.search.question import Question

Array = NDArray[np.float64]

_REACH: Final = 100.0  # times up and down from what a number is now
_MOST_COUNTED: Final = 64.0  # of a whole number, or twice what it is now


@dataclasses.dataclass(frozen=True)
class Number:
    """A number that may tip a choice.

    Attributes
    ----------
    key, what, unit : str
    whole : bool
    now, low, high : float
        What it is, and between which ends it is turned.
    plain : bool
        Whether formulas take it as it is, so that all its values are evaluated at once.
    """

    key: str
    what: str
    unit: str
    whole: bool
    now: float
    low: float
    high: float
    plain: bool

    def values(self, count: int) -> Array:
        """Return values over the whole range, evenly spread on a log scale; all of a short range of whole numbers."""
        return self.between(self.low, self.high, count)

    def between(self, low: float, high: float, count: int) -> Array:
        """Return values from one to another."""
        found = np.geomspace(low, high, count)
        if not self.whole:
            return found
        if high - low < 2 * count:
            return np.arange(np.ceil(low), np.floor(high) + 1)
        return np.unique(np.round(found))


def numbers_of(question: Question) -> list[Number]:
    """Return the numbers along which a family's choices may switch, as far as the scenario has them."""
    family = search_family(question.scenario)
    found = (_number(question, key, what) for key, what in family.switches().items())
    return [number for number in found if number is not None]


def _number(question: Question, key: str, what: str) -> Number | None:
    scenario = question.scenario
    looked_at = {other for axis in question.grid.axes for other in axis.when}
    found = search_family(scenario).turned(key)
    if found is None or not found.now > 0 or not np.isfinite(found.now) or key in looked_at:
        return None
    if found.whole:
        low, high = max(found.low, 1.0), min(found.high, max(_MOST_COUNTED, 2 * found.now))
    else:
        low, high = max(found.low, found.now / _REACH), min(found.high, found.now * _REACH)
    plain = key in bind(scenario).numbers and is_plain(scenario, key, (low, high))
    return Number(key, what, found.unit, found.whole, found.now, low, high, plain) if low < high else None


class Outlook:
    """What plans are worth where numbers are turned.

    Parameters
    ----------
    question : Question
        Its first objective counts, at expected values.
    keys : sequence of str
        The numbers' keys; those that are parameters of the space are taken out of it.
    plain : bool
        Whether all of them are.
    """

    def __init__(self, question: Question, keys: Sequence[str], plain: bool) -> None:
        whole = question.grid
        self._question, self.plain = question, plain
        self._kept = [place for place, axis in enumerate(whole.axes) if axis.key not in keys]
        outer, inner = ([axis for axis in axes if axis.key not in keys] for axes in (whole.outer, whole.inner))
        self._axes = outer, inner
        self.grid = Grid(whole.scenario, outer, inner, whole.space)
        self._evaluators: dict[tuple[float, ...], Evaluator | None] = {}
        self._evaluator = Evaluator(self.grid, question.objectives[:1], question.constraints)

    def project(self, point: Point) -> Point:
        """Return a plan of the question's space without the numbers that are turned."""
        return tuple(point[place] for place in self._kept)

    def table(self, points: Sequence[Point], columns: Mapping[str, Array]) -> Array:
        """Return the objective of each plan at each value, infinite where it is infeasible.

        Parameters
        ----------
        points : sequence of Point
        columns : mapping of key to array of shape (values,)

        Returns
        -------
        array of shape (plans, values)
        """
        if not points:
            return np.zeros((0, len(next(iter(columns.values())))))
        return self._at_once(points, columns) if self.plain else self._one_by_one(points, columns)

    def _at_once(self, points: Sequence[Point], columns: Mapping[str, Array]) -> Array:
        wide = len(next(iter(columns.values())))
        table = np.full((len(points), wide), np.inf)
        groups: dict[Point, list[int]] = {}
        for row, point in enumerate(points):
            groups.setdefault(self.grid.outer_of(point), []).append(row)
        for outer, rows in groups.items():
            model = self._evaluator.model(outer)
            if isinstance(model, Failure):
                continue
            numbers = {key: values[np.newaxis, :] for key, values in columns.items()}
            for place, axis in enumerate(self.grid.inner, len(self.grid.outer)):
                if points[rows[0]][place] is not None:
                    own = [axis.value(points[row][place]) for row in rows]  # type: ignore[arg-type]
                    numbers[axis.key] = np.array(own, dtype=np.float64)[:, np.newaxis]
            found = self._evaluator.evaluate(model, numbers)
            if not isinstance(found, Failure):
                table[rows] = _where_feasible(found, (len(rows), wide))
        return table

    def _one_by_one(self, points: Sequence[Point], columns: Mapping[str, Array]) -> Array:
        keys = list(columns)
        found = []
        for values in zip(*columns.values(), strict=True):
            evaluator = self._at(keys, tuple(map(float, values)))
            if evaluator is None:
                found.append(np.full(len(points), np.inf))
                continue
            batch = evaluator.points(points)
            found.append(np.where(batch.feasible, batch.values[:, 0], np.inf))
        return np.stack(found, axis=1)

    def _at(self, keys: Sequence[str], values: tuple[float, ...]) -> Evaluator | None:
        """Return the evaluator of a scenario with other numbers, None where the scenario can't have them."""
        if values not in self._evaluators:
            family = search_family(self._question.scenario)
            changes: dict[str, Any] = {}
            for key, value in zip(keys, values, strict=True):
                changes |= family.turn(key, value)
            try:
                grid = Grid(self._question.scenario.replace(changes), *self._axes, self._question.grid.space)
                found = Evaluator(grid, self._question.objectives[:1], self._question.constraints)
            except SpecError:
                found = None
            self._evaluators[values] = found
        return self._evaluators[values]


def _where_feasible(evaluation: Any, shape: tuple[int, int]) -> Array:
    value = np.broadcast_to(np.asarray(evaluation.values[0], dtype=np.float64), shape)
    kept: Any = np.isfinite(value)
    for limit in evaluation.limits:
        kept = np.logical_and(kept, limit.need <= limit.limit)
    return np.where(kept, value, np.inf)
