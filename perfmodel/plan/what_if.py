"""What if: plans with one input swept, a tornado of all inputs, and where one option starts to beat another."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.plan.capacity import planned
from perfmodel.plan.planner import Demands
from perfmodel.plan.read import fleet_of
from perfmodel.plan.result import CapacityPlan
from perfmodel.spec.fleet import Fleet
from perfmodel.units import unit_factor

Progress = Callable[[int, int], None]
_MOST: Final = 1000  # points of a sweep
_GRID: Final = 9  # points between which a break-even is looked for
_HALVINGS: Final = 12
_NUMBERS: Final = (
    "epochs_per_day",
    "deadline",
    "price",
    "power",
    "idle_power",
    "lead_time",
    "utilization",
    "servers",
    "slots",
)


def _quiet(done: int, total: int) -> None:
    """Tell no one."""


@dataclasses.dataclass(frozen=True)
class Point:
    """One plan of a sweep.

    Attributes
    ----------
    value : float or str
        Of the input.
    cost : float
        Of the periods that have a fleet [USD].
    first_failing : int or None
    fleet : mapping of name to units
        In service in the last period that has a fleet.
    """

    value: float | str
    feasible: bool
    cost: float
    first_failing: int | None
    fleet: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Bar:
    """One input of a tornado: plans with it lower and higher by a share."""

    key: str
    value: float
    low: Point
    high: Point

    @property
    def swing(self) -> float:
        """Return by how much the cost differs between both [USD]; infinite where only one of them has a fleet throughout."""
        if self.low.feasible != self.high.feasible:
            return math.inf
        return abs(self.high.cost - self.low.cost)


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Where one option starts to beat another: the cheaper one below and above a value of an input."""

    value: float
    below: str
    above: str


@dataclasses.dataclass(frozen=True)
class BreakEven:
    """Costs of a fleet without one option and without the other, over an input; infinite where there is no such fleet."""

    key: str
    one: str
    other: str
    values: tuple[float, ...]
    costs_one: tuple[float, ...]
    costs_other: tuple[float, ...]
    crossings: tuple[Crossing, ...]


def sweep_of(text: str) -> tuple[str, list[float | str]]:
    """Return key and values of ``KEY=LOW..HIGH:POINTS`` or ``KEY=A,B,C``.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> sweep_of("jobs.0.growth.edges=1.2..3.0:10")[1][:2]
    [1.2, 1.4]
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise SpecError(
            "--sweep", "must be KEY=LOW..HIGH:POINTS or KEY=A,B,C", shown(text), "jobs.0.growth.edges=1.2..3.0:10"
        )
    if ".." not in values:
        return key.strip(), [each.strip() for each in values.split(",") if each.strip()]
    span, _, points = values.rpartition(":") if ":" in values else (values, "", "10")
    low, _, high = span.partition("..")
    number, unit = _number(low, "")
    end, end_unit = _number(high, unit)
    if not points.strip().isdigit() or not 2 <= int(points) <= _MOST:
        raise SpecError("--sweep", f"must have 2 to {_MOST} points", shown(points), "10")
    found = [float(f"{value:.12g}") for value in np.linspace(number, end, int(points))]
    unit = end_unit or unit
    return key.strip(), [f"{value!r} {unit}" for value in found] if unit else list(found)


def _number(text: str, unit: str) -> tuple[float, str]:
    """Return the number of a text and its unit."""
    head = text.strip()
    cut = next((at for at, letter in enumerate(head) if letter not in "0123456789.eE+-"), len(head))
    try:
        return float(head[:cut]), head[cut:].strip() or unit
    except ValueError:
        raise SpecError("--sweep", "must have numbers at both ends", shown(text), "1.2..3.0:10") from None


def number_of(table: Mapping[str, Any], key: str, value: float | str) -> float:
    """Return a value of an input in SI, as the fleet's spec reads it."""
    node: Any = fleet_of(table, {key: value})
    for part in key.split("."):
        if isinstance(node, tuple):
            named = {getattr(each, "name", ""): each for each in node}
            node = named[part] if part in named else node[int(part)]
        else:
            node = node[part] if isinstance(node, Mapping) else getattr(node, part)
    if isinstance(node, str):  # a change of a scenario, whose spec knows the unit
        number, unit = _number(node, "")
        return number * float(unit_factor(unit)[0])
    if isinstance(node, bool) or not isinstance(node, (int, float)):
        raise SpecError("--sweep", "must vary a number", f"{key} = {shown(node)}")
    return float(node)


def sweep(
    table: Mapping[str, Any],
    key: str,
    values: Sequence[float | str],
    known: Demands | None = None,
    progress: Progress = _quiet,
) -> tuple[Point, ...]:
    """Return the plan for each value of an input.

    Parameters
    ----------
    table : mapping
        Of the fleet, as its file has it.
    key : str
        Dotted, such as ``jobs.0.growth.edges``.
    values : sequence
        Numbers, or texts with units.
    """
    known, found = known or Demands(), []
    for number, value in enumerate(values):
        found.append(_point(value, planned(fleet_of(table, {key: value}), known)))
        progress(number + 1, len(values))
    return tuple(found)


def _point(value: float | str, plan: CapacityPlan) -> Point:
    fleet = dict(plan.periods[-1].fleet) if plan.periods else {}
    return Point(value, plan.feasible, plan.cost, None if plan.missing is None else plan.missing.period, fleet)


def tornado(
    table: Mapping[str, Any], share: float = 0.2, known: Demands | None = None, progress: Progress = _quiet
) -> tuple[Bar, ...]:
    """Return what each input does to cost and first failing period, lower and higher by a share; most first.

    Of growth it is the part above (or below) 1 that varies.
    """
    known = known or Demands()
    inputs, found = list(_inputs(fleet_of(table))), []
    for number, (key, value) in enumerate(inputs):
        ends = [_moved(key, value, 1.0 + sign * share) for sign in (-1.0, 1.0)]
        low, high = (_point(end, planned(fleet_of(table, {key: end}), known)) for end in ends)
        found.append(Bar(key, value, low, high))
        progress(number + 1, len(inputs))
    return tuple(sorted(found, key=lambda bar: (-bar.swing, bar.key)))


def _moved(key: str, value: float, factor: float) -> float:
    if ".growth." in key:
        return max(1.0 + (value - 1.0) * factor, 1e-3)
    return min(value * factor, 0.99) if key.endswith("utilization") or key == "confidence" else value * factor


def _inputs(fleet: Fleet) -> Iterator[tuple[str, float]]:
    """Yield every number of a fleet that may be otherwise, by dotted key."""
    for kind in ("jobs", "devices", "shared"):
        for number, part in enumerate(getattr(fleet, kind)):
            for name in _NUMBERS:
                value = getattr(part, name, None)
                if value:
                    yield f"{kind}.{number}.{name}", float(value)
            for name in ("nodes", "edges", "features", "jobs"):
                rate = getattr(getattr(part, "growth", None), name, None)
                if isinstance(rate, float) and rate != 1.0:
                    yield f"{kind}.{number}.growth.{name}", rate
    yield "confidence", fleet.confidence
    for name in ("budget", "energy_price"):
        value = getattr(fleet.money, name)
        if value and math.isfinite(value):
            yield f"money.{name}", value


def break_even(
    table: Mapping[str, Any],
    key: str,
    low: float,
    high: float,
    one: str,
    other: str,
    known: Demands | None = None,
    progress: Progress = _quiet,
) -> BreakEven:
    """Return where a fleet with one type of device and without another starts to be cheaper than the reverse.

    Parameters
    ----------
    key : str
        The input that varies: growth, price, ``devices.NAME.set.system.link.bandwidth``.
    low, high : float
        In the unit that the key has.
    one, other : str
        Types of device.
    """
    names = [device["name"] for device in fleet_of(table).model_dump()["devices"]]
    for name in (one, other):
        if name not in names:
            raise SpecError("--break-even", "must name two of the devices", shown(name), nearest(name, names))
    if one == other:
        raise SpecError("--break-even", "must name two devices that differ", shown(one))
    known = known or Demands()

    def costs(value: float) -> tuple[float, float]:
        return _cost_without(table, key, value, other, known), _cost_without(table, key, value, one, known)

    values = [float(value) for value in np.linspace(low, high, _GRID)]
    found = []
    for number, value in enumerate(values):
        found.append(costs(value))
        progress(number + 1, _GRID)
    crossings = []
    for (start, before), (end, after) in zip(
        zip(values, found, strict=True), list(zip(values, found, strict=True))[1:], strict=False
    ):
        first, last = _winner(before, one, other), _winner(after, one, other)
        if first != last:
            crossings.append(Crossing(_bisected(costs, start, end, first, one, other), first, last))
    ones, others = (tuple(pair[side] for pair in found) for side in (0, 1))
    return BreakEven(key, one, other, tuple(values), ones, others, tuple(crossings))


def _bisected(
    costs: Callable[[float], tuple[float, float]], low: float, high: float, first: str, one: str, other: str
) -> float:
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _winner(costs(middle), one, other) == first:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _winner(costs: tuple[float, float], one: str, other: str) -> str:
    if costs[0] == costs[1]:
        return "neither"
    return one if costs[0] < costs[1] else other


def _cost_without(table: Mapping[str, Any], key: str, value: float, name: str, known: Demands) -> float:
    changes = {key: value, f"devices.{name}.maximum": 0.0, f"devices.{name}.owned": 0.0}
    plan = planned(fleet_of(table, changes), known)
    return plan.cost if plan.feasible else math.inf
