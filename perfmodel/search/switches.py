"""Where another placement becomes best: along one number by itself, and over two of them.

Every placement enters with its own best plans. Where a number is turned, they are evaluated at all its values at once; plans
beside the best ones, in one parameter each, join in as long as one of them is better somewhere. Between two values with
different winners the place is narrowed down the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.search.axes import Axis
from perfmodel.search.clock import Clock
from perfmodel.search.explored import Explored
from perfmodel.search.families import search_family
from perfmodel.search.grid import Point
from perfmodel.search.question import Question
from perfmodel.search.result import plain
from perfmodel.search.turning import Number, Outlook, numbers_of

Array = NDArray[np.float64]
Placement = tuple[tuple[str, Any], ...]

_VALUES: Final = 49  # along a number at first
_FEW_VALUES: Final = 9  # where every value is a model of its own
_NARROWING: Final = 6  # times that a switch is narrowed down
_BEST: Final = 4  # plans of each placement that begin
_ROUNDS: Final = 12
_SWITCHES: Final = 4  # between two values
_GAIN: Final = 1e-9
_MOST_PLACEMENTS: Final = 64
_MAP: Final = (33, 13)  # values of a regime map


def switch_points(question: Question, seen: Explored, clock: Clock) -> dict[str, Any]:
    """Return the switch points of the best plan.

    Parameters
    ----------
    question : Question
    seen : Explored
        Its plans begin.
    clock : Clock
        What it leaves no time for is left out.

    Returns
    -------
    dict
        ``switch_points`` (number, value, what is best below and above), ``steady`` (numbers along which one placement
        stays best) and ``regime_map``.
    """
    keys = _placing(question)
    found: dict[str, Any] = {"switch_points": [], "steady": [], "regime_map": None}
    if not keys:
        return found
    numbers = numbers_of(question)
    for number in numbers:
        if clock.stop():
            return found
        points, steady = _along(question, seen, keys, number, clock)
        found["switch_points"] += points
        found["steady"] += steady
    turned = [number for number in numbers if number.plain][:2]
    if len(turned) == 2 and not clock.stop():
        found["regime_map"] = _map(question, seen, keys, turned[0], turned[1], clock)
    return found


def best_along(
    question: Question, seen: Explored, number: Number, clock: Clock
) -> tuple[Array, Array, list[dict[str, Any]]]:
    """Return values of a plain number, the least objective of any plan at each of them, and that plan."""
    outlook = Outlook(question, [number.key], True)
    values = number.values(_VALUES)
    keys = [key for key in _placing(question) if key != number.key]
    contest = _Contest(outlook, keys, {number.key: values}, clock)
    contest.add(_beginners(question, seen, outlook, contest))
    contest.settle()
    rows = contest.table.argmin(axis=0)
    plans = [outlook.grid.assignment(contest.points[row]) for row in rows]
    return values, contest.table.min(axis=0), [{key: plain(each) for key, each in plan.items()} for plan in plans]


def _placing(question: Question) -> list[str]:
    """Return the parameters that say what runs where; without any, all names."""
    grid = question.grid
    placing = [key for key in search_family(question.scenario).placements() if key in grid.places]
    placing = placing or [axis.key for axis in grid.axes if not axis.ordered]
    return [key for key in placing if len(grid.axes[grid.places[key]].values) > 1]


class _Contest:
    """Plans of all placements at the values of some numbers."""

    def __init__(self, outlook: Outlook, keys: Sequence[str], columns: Mapping[str, Array], clock: Clock) -> None:
        self.outlook, self.columns, self.clock = outlook, columns, clock
        self.keys = keys
        self._places = [(key, outlook.grid.places[key]) for key in keys]
        self.points: list[Point] = []
        self.table: Array = np.zeros((0, len(next(iter(columns.values())))))
        self.placements: list[Placement] = []

    def placement(self, point: Point) -> Placement:
        """Return where a plan runs what."""
        axes = self.outlook.grid.axes
        return tuple(
            (key, axes[place].value(position)) for key, place in self._places if (position := point[place]) is not None
        )

    def add(self, points: Sequence[Point], only_better: bool = False) -> bool:
        """Let plans join in; returns whether any did."""
        known = set(self.points)
        new = [point for point in dict.fromkeys(points) if point not in known]
        table = self.outlook.table(new, self.columns)
        if only_better:
            least = {placement: self.least(placement) for placement in dict.fromkeys(self.placements)}
            kept = []
            for row, point in enumerate(new):
                own = least.get(self.placement(point))
                kept.append(own is not None and bool(np.any(table[row] < _clearly_below(own))))
            new, table = [point for point, keep in zip(new, kept, strict=True) if keep], table[kept]
        self.points += new
        self.placements += [self.placement(point) for point in new]
        self.table = np.concatenate([self.table, table])
        return bool(new)

    def least(self, placement: Placement) -> Array:
        """Return the least objective of a placement at every value."""
        rows = [row for row, own in enumerate(self.placements) if own == placement]
        least: Array = self.table[rows].min(axis=0)
        return least

    def settle(self) -> _Contest:
        """Let better plans join in until there are none."""
        tried: set[Point] = set()
        for _ in range(_ROUNDS):
            centers = [point for point in self._centers() if point not in tried]
            tried |= set(centers)
            if not centers or self.clock.stop():
                break
            beside = [near for point in centers for near in self._beside(point)]
            if not self.add(beside, only_better=True):
                break
        return self

    def _centers(self) -> list[Point]:
        """Return the best plans of each placement at each value."""
        found: dict[Point, None] = {}
        for placement in dict.fromkeys(self.placements):
            rows = [row for row, own in enumerate(self.placements) if own == placement]
            for row in dict.fromkeys(self.table[rows].argmin(axis=0).tolist()):
                found[self.points[rows[row]]] = None
        return list(found)

    def _beside(self, point: Point) -> Iterator[Point]:
        own, grid = self.placement(point), self.outlook.grid
        for _, near in grid.neighbors(point, Axis.far):
            inside = self.outlook.plain or grid.outer_of(near) == grid.outer_of(point)
            if inside and self.placement(near) == own:
                yield near

    def winners(self, first: Placement | None = None) -> list[Placement | None]:
        """Return the placement that is best at each value; of those that tie ``first``, then the one that came first."""
        names = sorted(dict.fromkeys(self.placements), key=lambda name: name != first)
        table = np.stack([self.least(name) for name in names])
        least = table.min(axis=0)
        tied = table <= least + np.abs(least) * _GAIN
        return [
            names[int(tied[:, column].argmax())] if np.isfinite(least[column]) else None for column in range(len(least))
        ]

    def best_at(self, columns: Sequence[int]) -> list[Point]:
        """Return the best plan of each placement at some of the values."""
        found: dict[Point, None] = {}
        for placement in dict.fromkeys(self.placements):
            rows = [row for row, own in enumerate(self.placements) if own == placement]
            found |= dict.fromkeys(self.points[rows[int(self.table[rows, column].argmin())]] for column in columns)
        return list(found)

    def plan(self, placement: Placement | None, column: int) -> dict[str, Any] | None:
        """Return the best plan of a placement at a value."""
        if placement is None:
            return None
        rows = [row for row, own in enumerate(self.placements) if own == placement]
        best = self.points[rows[int(self.table[rows, column].argmin())]]
        return {key: plain(value) for key, value in self.outlook.grid.assignment(best).items()}


def _beginners(question: Question, seen: Explored, outlook: Outlook, contest: _Contest) -> list[Point]:
    """Return the plans that begin: the best that were seen of each placement, and one of each that was not."""
    assert seen.best is not None
    found: dict[Placement, list[Point]] = {}
    for point in (seen.best, *seen.others):
        projected = outlook.project(point)
        own = found.setdefault(contest.placement(projected), [])
        if len(own) < _BEST and projected not in own:
            own.append(projected)
    axes = [outlook.grid.axes[outlook.grid.places[key]] for key in contest.keys]
    choices = itertools.product(*(axis.values for axis in axes))
    for values in itertools.islice(choices, _MOST_PLACEMENTS):
        point = outlook.grid.nearest_point(dict(zip((axis.key for axis in axes), values, strict=True)))
        found.setdefault(contest.placement(point), [point])
    return [point for own in found.values() for point in own]


def _along(
    question: Question, seen: Explored, keys: Sequence[str], number: Number, clock: Clock
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the switch points along one number, and that it has none."""
    outlook = Outlook(question, [number.key], number.plain)
    keys = [key for key in keys if key != number.key]
    values = number.values(_VALUES if number.plain else _FEW_VALUES)
    contest = _Contest(outlook, keys, {number.key: values}, clock)
    contest.add(_beginners(question, seen, outlook, contest))
    contest.settle()
    assert seen.best is not None
    winners = contest.winners(contest.placement(outlook.project(seen.best)))
    about = {"key": number.key, "what": number.what, "unit": number.unit, "now": number.now}
    found = []
    for column in range(len(values) - 1):
        if winners[column] != winners[column + 1]:
            ends = winners[column], winners[column + 1]
            found += [about | one for one in _narrowed(contest, number, column, ends, clock)]
    if found or not any(winners):
        return found, []
    low, high = float(values[0]), float(values[-1])
    return [], [about | {"placement": named(winners[0]), "low": low, "high": high}]


def _narrowed(
    contest: _Contest, number: Number, column: int, ends: tuple[Placement | None, Placement | None], clock: Clock
) -> Iterator[dict[str, Any]]:
    """Yield the switches between a value and the next: where each placement ceases to be best, and what follows it."""
    values = contest.columns[number.key]
    low, last = float(values[column]), float(values[column + 1])
    points = contest.points if number.plain else contest.best_at([column, column + 1])
    below, final = ends
    for _ in range(_SWITCHES):
        found = _first_switch(contest, points, number, (low, last), below, clock)
        if found is None:
            return
        low, below, one = found
        yield one
        if below == final:
            return


def _first_switch(
    contest: _Contest,
    points: Sequence[Point],
    number: Number,
    ends: tuple[float, float],
    below: Placement | None,
    clock: Clock,
) -> tuple[float, Placement | None, dict[str, Any]] | None:
    """Return where a placement first ceases to be best, which one follows, and both in words."""
    low, high = ends
    found: tuple[float, Placement | None, dict[str, Any]] | None = None
    for _ in range(_NARROWING):
        values = number.between(low, high, 17 if number.plain else 3)
        if len(values) < 2 or clock.stop():
            break
        finer = _Contest(contest.outlook, contest.keys, {number.key: values}, clock)
        finer.add(points)
        if number.plain:
            finer.settle()
        winners = finer.winners(below)
        change = next((place for place, winner in enumerate(winners) if winner != below), 0)
        if change == 0:
            break
        low, high = float(values[change - 1]), float(values[change])
        above = winners[change]
        plans = {"below": finer.plan(below, change - 1), "above": finer.plan(above, change)}
        at = high if number.whole else float(np.sqrt(low * high))
        found = high, above, {"value": at, "below": named(below), "above": named(above), "plans": plans}
        if number.whole and high - low <= 1:
            break
    return found


def _clearly_below(values: Array) -> Array:
    """Return what is below values by more than rounding."""
    return np.where(np.isfinite(values), values - np.abs(np.where(np.isfinite(values), values, 0.0)) * _GAIN, values)


def named(placement: Placement | None) -> str:
    """Return a placement in words."""
    if placement is None:
        return "nothing feasible"
    return ", ".join(f"{key.removeprefix('plan.').removeprefix('placement.')} {value}" for key, value in placement)


def _map(
    question: Question, seen: Explored, keys: Sequence[str], across: Number, up: Number, clock: Clock
) -> dict[str, Any]:
    """Return which placement is best over two numbers."""
    outlook = Outlook(question, [across.key, up.key], True)
    x, y = across.values(_MAP[0]), up.values(_MAP[1])
    columns = {across.key: np.tile(x, len(y)), up.key: np.repeat(y, len(x))}
    contest = _Contest(outlook, [key for key in keys if key not in columns], columns, clock)
    contest.add(_beginners(question, seen, outlook, contest))
    contest.settle()
    assert seen.best is not None
    winners = contest.winners(contest.placement(outlook.project(seen.best)))
    names = list(dict.fromkeys(named(winner) for winner in winners if winner is not None))
    places = [None if winner is None else names.index(named(winner)) for winner in winners]
    ends = ((across, x), (up, y))
    sides = [
        {"key": one.key, "what": one.what, "unit": one.unit, "now": one.now, "values": v.tolist()} for one, v in ends
    ]
    return {
        "x": sides[0], "y": sides[1], "placements": names,
        "best": [places[row * len(x) : (row + 1) * len(x)] for row in range(len(y))],
    }  # fmt: skip
