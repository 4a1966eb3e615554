"""A run of the model that keeps its steps: every call of a phase with its numbers, and the slopes of all results.

The bound model runs as ever; its numbers carry how they change with each key of the scenario. A phase's slopes are the
exact derivatives of its formula, and whatever happens between phases (sums over tensors, the overlap policy) passes
them on.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from perfmodel.model.bound import Bound, BoundStep, Outcome
from perfmodel.model.branches import slopes
from perfmodel.model.compile import CompiledPhase
from perfmodel.phases._base import Phase, all_phases


class Traced:
    """A number that knows its slope by each key of the scenario."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: float, slopes: Mapping[str, float] | None = None) -> None:
        self.value, self.slopes = float(value), dict(slopes or {})

    def __add__(self, other: Any) -> Traced:
        return combined(self.value + _value(other), (self, 1.0), (other, 1.0))

    def __sub__(self, other: Any) -> Traced:
        return combined(self.value - _value(other), (self, 1.0), (other, -1.0))

    def __rsub__(self, other: Any) -> Traced:
        return combined(_value(other) - self.value, (self, -1.0), (other, 1.0))

    def __mul__(self, other: Any) -> Traced:
        return combined(self.value * _value(other), (self, _value(other)), (other, self.value))

    def __truediv__(self, other: Any) -> Traced:
        below = _value(other)
        return combined(self.value / below, (self, 1.0 / below), (other, -self.value / below**2))

    __radd__, __rmul__ = __add__, __mul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Take part in numpy's elementwise arithmetic."""
        if ufunc is np.ceil:
            return Traced(float(np.ceil(self.value)))
        first, second = (each if isinstance(each, Traced) else Traced(each) for each in inputs)
        if ufunc is np.maximum:
            return first if first.value >= second.value else second
        if ufunc is np.minimum:
            return first if first.value <= second.value else second
        operation = _OPERATIONS.get(ufunc)
        return NotImplemented if operation is None else operation(first, second)


_OPERATIONS: Mapping[np.ufunc, Callable[[Traced, Traced], Traced]] = {
    np.add: Traced.__add__,
    np.subtract: Traced.__sub__,
    np.multiply: Traced.__mul__,
    np.true_divide: Traced.__truediv__,
}


def _value(number: Any) -> float:
    return number.value if isinstance(number, Traced) else float(number)


def combined(value: float, *parts: tuple[Any, float]) -> Traced:
    """Return a value whose slope adds up its parts' slopes, each times its factor."""
    total: dict[str, float] = {}
    for part, factor in parts:
        if isinstance(part, Traced) and factor:
            for key, slope in part.slopes.items():
                total[key] = total.get(key, 0.0) + factor * slope
    return Traced(value, total)


@dataclasses.dataclass(frozen=True)
class Record:
    """One call of a phase.

    Attributes
    ----------
    phase : Phase
    part, item : int
        Which part of the step, and which of its items.
    item_name : str
        The tensor, node type or relation; empty where there are none to tell apart.
    numbers : mapping of argument to float
    keys : mapping of argument to dotted key; empty for results of other phases
    result : float
    """

    phase: Phase
    part: int
    item: int
    item_name: str
    numbers: Mapping[str, float]
    keys: Mapping[str, str]
    result: float


@dataclasses.dataclass(frozen=True)
class Trace:
    """A traced run.

    Attributes
    ----------
    bound : Bound
    outcome : Outcome
        Its numbers are ``Traced``.
    records : mapping of (kind, step name) to list of Record
        ``kind`` is ``step``, ``memory`` or ``energy``; in the order of the calls.
    """

    bound: Bound
    outcome: Outcome
    records: Mapping[tuple[str, str], list[Record]]


def earlier(record: Record, records: Sequence[Record]) -> list[Record]:
    """Return what was called before a record for the same item, in order."""
    same = [each for each in records if (each.part, each.item) == (record.part, record.item)]
    return same[: same.index(record)]


def trace(bound: Bound) -> Trace:
    """Run a bound scenario and keep what its phases did; of several rounds, what they did in the last."""
    logs: dict[tuple[str, str], _Log] = {}
    traced = copy.copy(bound)
    for kind in ("step", "memory", "energy"):
        field = "steps" if kind == "step" else f"{kind}_steps"
        steps = [_step(step, logs.setdefault((kind, step.step.name), {})) for step in getattr(bound, field)]
        setattr(traced, field, tuple(steps))
    outcome = traced.run({key: Traced(value, {key: 1.0}) for key, value in bound.values.items()})
    return Trace(bound, outcome, {place: list(log.values()) for place, log in logs.items()})


#: Records by part, item, and place in the chain.
_Log = dict[tuple[int, int, int], Record]


def _step(step: BoundStep, log: _Log) -> BoundStep:
    """Return a step whose calls write to the log."""
    parts = []
    for number, part in enumerate(step.parts):
        chains = []
        for position, chain in enumerate(part.chains):
            name = part.items[position].name if part.items else ""
            calls = []
            for place, call in enumerate(chain):
                keys = {argument.name: argument.key for argument in call.arguments}
                blank = Record(all_phases()[call.phase.name], number, position, name, {}, keys, 0.0)
                keep = functools.partial(log.__setitem__, (number, position, place))
                calls.append(dataclasses.replace(call, phase=_logged(call.phase, blank, keep)))
            chains.append(tuple(calls))
        parts.append(dataclasses.replace(part, chains=tuple(chains)))
    return dataclasses.replace(step, parts=tuple(parts))


def _logged(compiled: CompiledPhase, blank: Record, keep: Callable[[Record], None]) -> CompiledPhase:
    """Return a phase that fills in its record and knows its slopes."""

    def function(*arguments: Any) -> Traced:
        given = dict(zip(compiled.arguments, arguments, strict=True))
        numbers = {name: _value(number) for name, number in given.items()}
        with np.errstate(all="ignore"):
            result = float(compiled.function(*numbers.values()))
        keep(dataclasses.replace(blank, numbers=numbers, result=result))
        parts = ((given[name], slope) for name, slope in slopes(blank.phase.expression, numbers).items())
        return combined(result, *parts)

    return dataclasses.replace(compiled, function=function)
