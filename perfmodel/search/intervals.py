"""Numbers known to lie between two ends, carried through the compiled formulas: what comes out holds for all of them.

An ``Interval`` takes part in numpy's functions, so that the same code that evaluates a plan also encloses the values of a
whole box of plans. Comparisons give what surely and what possibly holds; where neither branch of a case is sure, both
count. Ends are not rounded outwards: whoever uses a bound leaves a relative 1e-9 of room.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Truth:
    """What surely holds and what possibly holds, as arrays."""

    def __init__(self, surely: Any, possibly: Any) -> None:
        self.surely, self.possibly = np.asarray(surely, bool), np.asarray(possibly, bool)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Combine truths."""
        sides = [side if isinstance(side, Truth) else Truth(side, side) for side in inputs]
        if method != "__call__" or function not in (np.logical_and, np.logical_or, np.logical_not):
            return NotImplemented
        if function is np.logical_not:
            return Truth(~sides[0].possibly, ~sides[0].surely)
        return Truth(function(sides[0].surely, sides[1].surely), function(sides[0].possibly, sides[1].possibly))

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, options: Any) -> Any:
        """Choose between branches."""
        return _where(*arguments) if function is np.where else NotImplemented


class Interval(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers between ``low`` and ``high``, as arrays."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Carry a function over."""
        rule = _RULES.get(function)
        if method != "__call__" or rule is None or options:
            return NotImplemented
        with np.errstate(all="ignore"):
            return rule(*[interval(side) for side in inputs])

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, options: Any) -> Any:
        """Choose between branches."""
        return _where(*arguments) if function is np.where else NotImplemented


def interval(value: Any) -> Interval:
    """Return a value as an interval; a number is one without width."""
    return value if isinstance(value, Interval) else Interval(value, value)


def _where(condition: Any, yes: Any, no: Any) -> Interval:
    truth = condition if isinstance(condition, Truth) else Truth(condition, condition)
    yes, no = interval(yes), interval(no)
    low = np.where(truth.surely, yes.low, np.where(truth.possibly, np.minimum(yes.low, no.low), no.low))
    high = np.where(truth.surely, yes.high, np.where(truth.possibly, np.maximum(yes.high, no.high), no.high))
    return Interval(low, high)


def _rising(function: Callable[..., Any]) -> Callable[..., Interval]:
    """Return the rule of a function that rises in each argument."""
    return lambda *sides: Interval(function(*[s.low for s in sides]), function(*[s.high for s in sides]))


def _corners(function: Callable[..., Any]) -> Callable[[Interval, Interval], Interval]:
    """Return the rule of a function that is monotone in each argument where the other stays as it is."""

    def rule(one: Interval, other: Interval) -> Interval:
        found = [function(a, b) for a, b in itertools.product((one.low, one.high), (other.low, other.high))]
        clean = [np.where(np.isnan(value), 0.0, value) for value in found]  # zero times infinity is a limit of zeros
        return Interval(_least(clean), _most(clean))

    return rule


def _least(values: list[Any]) -> Any:
    return np.minimum(np.minimum(values[0], values[1]), np.minimum(values[2], values[3]))


def _most(values: list[Any]) -> Any:
    return np.maximum(np.maximum(values[0], values[1]), np.maximum(values[2], values[3]))


def _divide(one: Interval, other: Interval) -> Interval:
    found = _corners(np.divide)(one, other)
    through = (other.low <= 0) & (other.high >= 0)
    positive = through & (other.low >= 0) & (one.low >= 0)  # a quotient of what is not negative has no sign to lose
    least = np.where(other.high > 0, one.low / np.where(other.high > 0, other.high, 1.0), 0.0)
    low = np.where(positive, least, np.where(through, -np.inf, found.low))
    return Interval(low, np.where(through, np.inf, found.high))


def _power(base: Interval, exponent: Interval) -> Interval:
    found = _corners(np.power)(base, exponent)
    signed = base.low < 0
    even = np.all((exponent.low == exponent.high) & (exponent.low % 2 == 0) & (exponent.low > 0))
    if even:
        ends = np.maximum(np.abs(base.low), np.abs(base.high)) ** exponent.low
        inner = np.where(signed & (base.high > 0), 0.0, np.minimum(np.abs(base.low), np.abs(base.high)) ** exponent.low)
        return Interval(np.where(signed, inner, found.low), np.where(signed, ends, found.high))
    return Interval(np.where(signed, -np.inf, found.low), np.where(signed, np.inf, found.high))


def _absolute(one: Interval) -> Interval:
    ends = np.abs(one.low), np.abs(one.high)
    through = (one.low < 0) & (one.high > 0)
    return Interval(np.where(through, 0.0, np.minimum(*ends)), np.maximum(*ends))


_RULES: Mapping[Any, Callable[..., Any]] = {
    np.add: _rising(np.add),
    np.subtract: lambda one, other: Interval(one.low - other.high, one.high - other.low),
    np.multiply: _corners(np.multiply),
    np.divide: _divide,
    np.negative: lambda one: Interval(-one.high, -one.low),
    np.positive: lambda one: one,
    np.power: _power,
    np.absolute: _absolute,
    **{rise: _rising(rise) for rise in (np.minimum, np.maximum, np.floor, np.ceil, np.exp, np.expm1, np.tanh)},
    np.sqrt: lambda one: Interval(np.sqrt(np.maximum(one.low, 0.0)), np.sqrt(np.maximum(one.high, 0.0))),
    np.log: lambda one: Interval(np.log(np.maximum(one.low, 0.0)), np.log(np.maximum(one.high, 0.0))),
    np.log1p: lambda one: Interval(np.log1p(np.maximum(one.low, -1.0)), np.log1p(np.maximum(one.high, -1.0))),
    np.less: lambda one, other: Truth(one.high < other.low, one.low < other.high),
    np.less_equal: lambda one, other: Truth(one.high <= other.low, one.low <= other.high),
    np.greater: lambda one, other: Truth(one.low > other.high, one.high > other.low),
    np.greater_equal: lambda one, other: Truth(one.low >= other.high, one.high >= other.low),
    np.equal: lambda one, other: Truth(
        (one.low == one.high) & (other.low == other.high) & (one.low == other.low),
        (one.low <= other.high) & (other.low <= one.high),
    ),
}
