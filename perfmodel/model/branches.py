"""Formulas at a point: their value, the branch that is active there, and their slopes.

Rounding makes a formula a staircase, whose slope is zero almost everywhere. What a person asks is how the stairs rise,
so a rounded quantity keeps its value and passes on the slope of what it rounds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import sympy
from sympy.codegen.cfunctions import expm1
from sympy.core.relational import Relational

from perfmodel.errors import ModelError
from perfmodel.phases._comparisons import quick_comparisons

Numbers = Mapping[str, Any]


class SlopedCeiling(sympy.Function):  # type: ignore[misc]
    """A ceiling with the slope of what it rounds."""

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the slope."""
        return sympy.Integer(argindex)


class SlopedFloor(sympy.Function):  # type: ignore[misc]
    """A floor with the slope of what it rounds."""

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the slope."""
        return sympy.Integer(argindex)


_ROUNDING: Final[Mapping[Any, Callable[[Any], Any]]] = {
    sympy.ceiling: np.ceil, SlopedCeiling: np.ceil, sympy.floor: np.floor, SlopedFloor: np.floor,
}  # fmt: skip
_COMPARISONS: Final[Mapping[Any, Callable[[Any, Any], Any]]] = {
    sympy.StrictLessThan: np.less, sympy.LessThan: np.less_equal,
    sympy.StrictGreaterThan: np.greater, sympy.GreaterThan: np.greater_equal,
    sympy.Equality: np.equal, sympy.Unequality: np.not_equal,
}  # fmt: skip
_FOLDS: Final[Mapping[Any, Callable[[Any, Any], Any]]] = {
    sympy.Add: np.add, sympy.Mul: np.multiply, sympy.Max: np.maximum, sympy.Min: np.minimum,
    sympy.And: np.logical_and, sympy.Or: np.logical_or,
}  # fmt: skip
_FUNCTIONS: Final[Mapping[Any, Callable[[Any], Any]]] = {
    sympy.exp: np.exp, expm1: np.expm1, sympy.tanh: np.tanh, sympy.log: np.log, sympy.Abs: np.abs, sympy.Not: np.logical_not,
}  # fmt: skip


class Point:
    """Numbers for the names of a formula, and what formulas come to there.

    Parameters
    ----------
    numbers : mapping of name to float or array
    rounded : bool
        Whether ceilings and floors round; otherwise they are what they would round.
    """

    def __init__(self, numbers: Numbers, rounded: bool = True) -> None:
        self.numbers, self.rounded = numbers, rounded
        self._found: dict[sympy.Basic, Any] = {}

    def value(self, expression: sympy.Basic) -> Any:
        """Return the value of an expression, or the truth of a relation, elementwise for arrays."""
        with np.errstate(all="ignore"):
            return self._value(expression)

    def _value(self, node: sympy.Basic) -> Any:
        if node not in self._found:
            self._found[node] = self._worked_out(node)
        return self._found[node]

    def _worked_out(self, node: sympy.Basic) -> Any:
        if isinstance(node, sympy.Symbol):
            return self.numbers[node.name]
        if isinstance(node, (sympy.Number, sympy.NumberSymbol)):
            return float(node)
        if node.func in _FOLDS:
            return functools.reduce(_FOLDS[node.func], map(self._value, node.args))
        if isinstance(node, sympy.Pow):
            return np.power(np.asarray(self._value(node.base), float), self._value(node.exp))[()]
        if node.func in _ROUNDING:
            above, below = sympy.fraction(node.args[0])  # whole: 49 * (1 / 49) is below 1
            quotient = self._value(above) / np.asarray(self._value(below), float)
            return (_ROUNDING[node.func](quotient) if self.rounded else quotient)[()]
        if isinstance(node, Relational):
            return _COMPARISONS[node.func](*map(self._value, node.args))
        if isinstance(node, sympy.Piecewise):
            return self._piecewise(node)
        if node.func in _FUNCTIONS:
            return _FUNCTIONS[node.func](self._value(node.args[0]))
        if node in (sympy.true, sympy.false):
            return bool(node)
        raise ModelError(f"no value rule for {type(node).__name__}: {node}")

    def _piecewise(self, node: sympy.Piecewise) -> Any:
        result: Any = np.nan
        for branch, condition in reversed(node.args):
            result = np.where(self._value(condition), self._value(branch), result)[()]
        return result


class Branch:
    """The branch of a formula that is active at a point: no maximum, minimum or case is left in it."""

    def __init__(self, numbers: Numbers, rounded: bool = True) -> None:
        self._point, self._smooth = Point(numbers, rounded), Point(numbers, rounded=False)
        self._rounded = rounded
        self._found: dict[sympy.Basic, sympy.Basic] = {}

    @quick_comparisons()
    def of(self, node: sympy.Basic) -> sympy.Expr:
        """Return the active branch of an expression."""
        return self._of(node)

    def _of(self, node: sympy.Basic) -> sympy.Expr:
        if not node.args:
            return node
        if node not in self._found:
            self._found[node] = self._chosen(node)
        return self._found[node]

    def _chosen(self, node: sympy.Basic) -> sympy.Basic:
        if isinstance(node, (sympy.Max, sympy.Min)):
            return self._of(self._extreme(node))
        if isinstance(node, sympy.Piecewise):
            for branch, condition in node.args:
                if self._point.value(condition):
                    return self._of(branch)
            raise ModelError(f"a Piecewise needs a last branch that always holds: {node}")
        inner = [self._of(part) for part in node.args]
        if node.func is sympy.ceiling:
            return SlopedCeiling(*inner) if self._rounded else inner[0]
        if node.func is sympy.floor:
            return SlopedFloor(*inner) if self._rounded else inner[0]
        return node.func(*inner)

    def _extreme(self, node: sympy.Max | sympy.Min) -> sympy.Expr:
        """Return the part that wins; between equals the one that wins before rounding, then the one that can change."""
        sign = 1.0 if isinstance(node, sympy.Max) else -1.0
        left = _best(node.args, lambda part: _coarse(sign * self._point.value(part)))
        left = _best(left, lambda part: _coarse(sign * self._smooth.value(part)))
        left = _best(left, lambda part: float(not part.is_number))
        return left[0] if len(left) == 1 else min(left, key=sympy.default_sort_key)


def _best(parts: Sequence[sympy.Expr], rank: Callable[[sympy.Expr], float]) -> list[sympy.Expr]:
    """Return the parts of the highest rank; what has no value ranks last."""
    ranks = [-math.inf if math.isnan(own) else own for own in map(rank, parts)]
    return [part for part, own in zip(parts, ranks, strict=True) if own == max(ranks)]


def _coarse(number: float) -> float:
    """Return a number without its last digits, so that equals stay equal."""
    return float(f"{number:.12g}")


@functools.lru_cache(maxsize=256)
def _derivatives(branch: sympy.Expr) -> tuple[tuple[str, sympy.Expr], ...]:
    names = sorted(branch.free_symbols, key=str)
    return tuple((name.name, sympy.diff(branch, name)) for name in names)


def slopes(expression: sympy.Expr, numbers: Numbers) -> dict[str, float]:
    """Return the exact derivative by each name, on the branch that is active at these numbers.

    Parameters
    ----------
    expression : sympy.Expr
    numbers : mapping of name to float

    Returns
    -------
    dict of name to float
        Names that the active branch lacks are left out: their slope is zero.

    Examples
    --------
    >>> from perfmodel.phases._base import symbols
    >>> size, chunk = symbols("tensor_bytes chunk")
    >>> slopes(sympy.Max(sympy.ceiling(size / chunk), 1), {"tensor_bytes": 9.0, "chunk": 2.0})
    {'chunk': -2.25, 'tensor_bytes': 0.5}
    """
    point = Point(numbers)
    return {name: float(point.value(slope)) for name, slope in _derivatives(Branch(numbers).of(expression))}
