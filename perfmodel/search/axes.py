"""Parameters with their values settled: parsed with units, checked by the scenario, told apart by what they change."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.model.bound import Bound, bind
from perfmodel.search.space import Parameter, Space, check_ends, numbers_in
from perfmodel.spec.scenario import Scenario

_LONG: Final = 32  # values of a list that are all tried


@dataclasses.dataclass(frozen=True)
class Span:
    """All numbers from ``low`` to ``high``."""

    low: float
    high: float
    log: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """A parameter as a search sees it.

    Attributes
    ----------
    key : str
    values : tuple
        What it may be, as the spec has it; empty where it is a span.
    numbers : array
        The values where they are numbers.
    unit : str
    structural : bool
        Whether another value is another model: names, and numbers that phases or their arguments depend on by name.
    when : mapping of dotted key to positions
        Of the values of other parameters that it needs.
    now : object
        The scenario's value.
    """

    key: str
    values: tuple[Any, ...]
    numbers: NDArray[np.float64]
    unit: str
    structural: bool
    when: Mapping[str, frozenset[int]]
    now: Any
    span: Span | None = None

    @property
    def ordered(self) -> bool:
        """Whether its values are numbers."""
        return self.span is not None or self.numbers.size > 0

    def value(self, position: int | float) -> Any:
        """Return the value at a position; of a span, the number itself."""
        return float(position) if self.span is not None else self.values[int(position)]

    def closest(self, value: Any) -> int | float:
        """Return the position of a value, of the nearest number, or of the first name."""
        if self.span is not None:
            number = value if isinstance(value, (int, float)) else self.span.low
            return float(min(max(number, self.span.low), self.span.high))
        if value in self.values:
            return self.values.index(value)
        if self.numbers.size and isinstance(value, (int, float)):
            return int(np.argmin(np.abs(self.numbers - value)))
        return 0

    def others(self, position: int | float) -> Iterator[int | float]:
        """Yield the neighboring positions: all other names, the numbers beside a number."""
        if self.span is not None:
            yield from self._shifted(float(position))
        elif self.ordered:
            yield from (other for other in (int(position) - 1, int(position) + 1) if 0 <= other < len(self.values))
        else:
            yield from (other for other in range(len(self.values)) if other != position)

    def some(self, position: int | float) -> Iterator[int | float]:
        """Yield a few positions near and far: all other names, the numbers beside a number, and numbers over the whole list."""
        if self.span is not None or not self.ordered:
            yield from self.others(position)
            return
        last = len(self.values) - 1
        near = (int(position) - 1, int(position) + 1)
        over = (last * quarter // 4 for quarter in range(5))
        yield from (other for other in dict.fromkeys((*near, *over)) if 0 <= other <= last and other != int(position))

    def far(self, position: int | float) -> Iterator[int | float]:
        """Yield all other positions, of a span or a long list some of them near and far."""
        if self.span is not None or (self.ordered and len(self.values) > _LONG):
            yield from self.others(position)
            if self.span is None:
                steps = range(0, len(self.values), max(1, len(self.values) // _LONG))
                yield from (other for other in steps if other != position)
        else:
            yield from (other for other in range(len(self.values)) if other != position)

    def _shifted(self, number: float) -> Iterator[float]:
        assert self.span is not None
        low, high = self.span.low, self.span.high
        for share in (-0.25, -0.02, 0.02, 0.25):
            moved = number * (high / low) ** share if self.span.log else number + share * (high - low)
            moved = min(max(moved, low), high)
            if moved != number:
                yield moved

    def random(self, generator: np.random.Generator) -> int | float:
        """Return a position drawn evenly, of a span on its scale."""
        if self.span is None:
            return int(generator.integers(len(self.values)))
        low, high = self.span.low, self.span.high
        if self.span.log:
            return float(math.exp(generator.uniform(math.log(low), math.log(high))))
        return float(generator.uniform(low, high))


def axes_of(scenario: Scenario, space: Space) -> list[Axis]:
    """Return the parameters of a space that exist in a scenario, in order.

    Raises
    ------
    SpecError
    """
    found: list[Axis] = []
    for key, parameter in space.parameters.items():
        where = f"{space.name}: {key}"
        for other in parameter.when:
            if other not in space.parameters:
                known = nearest(other, [name for name in space.parameters if name != key])
                raise SpecError(f"{where}: when", "must name another parameter of the space", shown(other), known)
        if all(value_at(scenario, part) is not None for part in parameter.needs):
            found.append(_axis(scenario, key, parameter, found, where))
    if not found:
        raise SpecError(space.name, "must have a parameter that the scenario has", ", ".join(space.parameters))
    return found


def _axis(scenario: Scenario, key: str, parameter: Parameter, before: Sequence[Axis], where: str) -> Axis:
    bound = bind(scenario)
    mark, span = bound.numbers.get(key), None
    values: tuple[Any, ...]
    if parameter.values is not None:
        values = tuple(dict.fromkeys(settled(scenario, key, value, where) for value in parameter.values))
    else:
        low, high = (settled(scenario, key, end, where) for end in (parameter.low, parameter.high))
        if not isinstance(low, (int, float)) or isinstance(low, bool):
            raise SpecError(where, "must list its values, as they aren't numbers", "a range", "values")
        whole = mark is not None and mark.whole
        if parameter.step is None and parameter.factor is None and parameter.count is None and not whole:
            check_ends(parameter, low, high, where)
            span, values = Span(float(low), float(high), parameter.scale == "log"), ()
        else:
            cut = parameter.model_copy(update={"whole": True}) if whole else parameter
            numbers = numbers_in(cut, float(low), float(high), _step(bound, key, parameter, where), where)
            values = tuple(settled(scenario, key, _as_given(low, number), where) for number in numbers)
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    ends = (span.low, span.high) if span is not None else values
    structural = mark is None or not is_plain(scenario, key, ends)
    now = value_at(scenario, key)
    array = np.array(values, dtype=np.float64) if numeric else np.zeros(0)
    when = {other: _positions(other, allowed, before, scenario, where) for other, allowed in parameter.when.items()}
    return Axis(key, values, array, "" if mark is None else mark.unit, structural, when, now, span)


def _as_given(like: Any, number: float) -> Any:
    """Return a number as the spec's field takes it: whole where its end is a whole number."""
    return int(number) if isinstance(like, int) else number


def _step(bound: Bound, key: str, parameter: Parameter, where: str) -> float | None:
    mark = bound.numbers.get(key)
    if parameter.step is None:
        every = mark is not None and mark.whole and parameter.factor is None and parameter.count is None
        return 1.0 if every else None
    from perfmodel.units import parse

    return parse(parameter.step, "" if mark is None else mark.unit, f"{where}: step")


def _positions(
    other: str, allowed: Sequence[Any], before: Sequence[Axis], scenario: Scenario, where: str
) -> frozenset[int]:
    axis = next((axis for axis in before if axis.key == other), None)
    if axis is None:
        raise SpecError(f"{where}: when", "must name a parameter that stands before it and exists", shown(other))
    if axis.span is not None:
        raise SpecError(f"{where}: when", "must name a parameter with a list of values", f"the range {other}")
    found = []
    for value in allowed:
        wanted = settled(scenario, other, value, f"{where}: when")
        if wanted not in axis.values:
            choices = [str(each) for each in axis.values]
            raise SpecError(
                f"{where}: when", f"must name values that {other} may have", shown(value), nearest(str(value), choices)
            )
        found.append(axis.values.index(wanted))
    return frozenset(found)


def settled(scenario: Scenario, key: str, value: Any, where: str) -> Any:
    """Return a value as the spec has it once it is checked; the name of an entry stays a name.

    Raises
    ------
    SpecError
    """
    mark = bind(scenario).numbers.get(key)
    if mark is not None:
        return mark.check_at(value, where)
    try:
        found = value_at(scenario.replace({key: value}), key)
    except SpecError as error:
        raise SpecError(where, error.rule, error.got, error.nearest) from None
    if isinstance(found, (BaseModel, Mapping)):
        if not isinstance(value, str):
            raise SpecError(where, "must be the name of a catalog entry", shown(value))
        return value
    return found


def value_at(scenario: Scenario, key: str) -> Any:
    """Return the scenario's value at a dotted key, None where there is none."""
    node: Any = scenario
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else getattr(node, part, None)
    return node


def is_plain(scenario: Scenario, key: str, values: Sequence[Any]) -> bool:
    """Return whether formulas take a number as it is: nothing else in the bound scenario changes with it."""
    now = bind(scenario)
    for value in {min(values), max(values), values[0]} - {now.values[key]}:
        try:
            other = bind(scenario.replace({key: value}))
        except SpecError:
            return False
        if _phases(other) != _phases(now) or other.displaces != now.displaces:
            return False
        if _rest(other, key) != _rest(now, key) or other.batches_per_epoch != now.batches_per_epoch:
            return False
    return True


def _phases(bound: Bound) -> list[tuple[str, str, Any]]:
    steps = (*bound.steps, *bound.memory_steps, *bound.energy_steps)
    return [(step.step.name, call.phase.name, call.arguments) for step in steps for call in step.calls]


def _rest(bound: Bound, key: str) -> dict[str, Any]:
    return {name: value for name, value in bound.values.items() if name not in (key, "batch.time")}
