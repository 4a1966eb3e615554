"""Chains of formulas with their numbers: what a phase's time depends on, through the results that it uses."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from perfmodel.model.branches import Branch, Point
from perfmodel.model.notation import Written
from perfmodel.model.tracing import Record, earlier


@dataclasses.dataclass(frozen=True)
class Chain:
    """Formulas in order, each using the results of those before it, with the numbers that are given.

    Attributes
    ----------
    formulas : sequence of (result, expression)
    numbers : mapping of name to float
        Of every name that isn't a result.
    """

    formulas: Sequence[tuple[str, sympy.Expr]]
    numbers: Mapping[str, float]

    def at(self, name: str, values: Any, rounded: bool = False) -> dict[str, Any]:
        """Return all numbers, results included, with other values for one of them."""
        numbers: dict[str, Any] = {**self.numbers, name: values}
        for result, expression in self.formulas:
            numbers[result] = Point(numbers, rounded).value(expression)
        return numbers

    def depends(self, name: str) -> frozenset[str]:
        """Return the results that change with a number."""
        found: set[str] = set()
        for result, expression in self.formulas:
            if not names_in(expression).isdisjoint({name, *found}):
                found.add(result)
        return frozenset(found)

    def branch(self, expression: sympy.Basic, name: str, value: float) -> sympy.Expr:
        """Return the branch of an expression that is active at a value of one number, over given numbers alone.

        Results that don't change with the number stay as they are, rounding is left out, and so is what is zero or
        infinite.
        """
        numbers = self.at(name, value)
        active = Branch(numbers, rounded=False)
        whole = active.of(expression)
        changing = self.depends(name)
        for result, formula in reversed(self.formulas):
            symbol = symbol_in(whole, result) if result in changing else None
            if symbol is not None:
                whole = whole.xreplace({symbol: active.of(formula)})
        return without_extremes(whole, {key: number for key, number in numbers.items() if key != name})


@functools.lru_cache(maxsize=4096)
def names_in(expression: sympy.Basic) -> frozenset[str]:
    """Return the names of all symbols in an expression; formulas are long, and asked again for every threshold."""
    return frozenset(symbol.name for symbol in expression.free_symbols)


def symbol_in(expression: sympy.Basic, name: str) -> sympy.Symbol | None:
    """Return the symbol of a name in an expression, None where it lacks it."""
    return next((symbol for symbol in expression.free_symbols if symbol.name == name), None)


def without_extremes(expression: sympy.Expr, numbers: Mapping[str, float]) -> sympy.Expr:
    """Return an expression with what is zero or infinite left out.

    Examples
    --------
    >>> size, rate, header = sympy.symbols("size rate header")
    >>> without_extremes((size + header) / rate, {"size": 1.0, "rate": 2.0, "header": 0.0})
    size/rate
    """
    rule = {}
    for symbol in expression.free_symbols:
        number = numbers.get(symbol.name, 1.0)
        if number == 0 or np.isinf(number):
            rule[symbol] = sympy.Integer(0) if number == 0 else sympy.oo
    shorter = expression.subs(rule)
    return expression if shorter.has(sympy.nan, sympy.oo, sympy.zoo) else shorter


def chain_of(record: Record, records: Sequence[Record], written: Written) -> Chain:
    """Return the formulas that lead to a record, its named parts last, and the numbers that they start from.

    Parameters
    ----------
    record : Record
    records : sequence of Record
        All calls of its step.
    written : Written
        The record's formulas in the words of their phase.
    """
    before = earlier(record, records)
    numbers: dict[str, float] = {}
    for each in (*before, record):
        numbers |= each.numbers
    return Chain([*((each.phase.result, each.phase.expression) for each in before), *written.ordered], numbers)
