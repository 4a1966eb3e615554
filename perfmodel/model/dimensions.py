"""Dimension check: walk a formula's tree and refuse what can't be added, compared or rounded.

Base dimensions are byte, flop, second, joule, node, edge, message and USD; a general unit library treats bytes as pure
numbers and would let bytes be added to a count.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy.codegen.cfunctions import expm1
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanFunction

from perfmodel.errors import ModelError
from perfmodel.symbols import NOMENCLATURE
from perfmodel.units import unit_factor

Dimension = dict[str, Fraction]
_SAME_DIMENSION = (sympy.Max, sympy.Min, sympy.Abs)
_PURE_NUMBERS = (sympy.ceiling, sympy.floor, sympy.exp, sympy.log, sympy.tanh, expm1)


def dimension_of_unit(unit: str) -> Dimension:
    """Return the dimension of a unit, and refuse units that aren't SI already (factor other than 1)."""
    factor, dimension = unit_factor(unit)
    if factor != 1:
        raise ModelError(f"{unit} is not an SI unit: formulas hold bare SI floats")
    return {base: Fraction(power) for base, power in dimension.items()}


def dimension(expression: sympy.Basic, units: dict[str, str] | None = None) -> Dimension:
    """Return the dimension of an expression over the nomenclature.

    Parameters
    ----------
    expression : sympy.Basic
        The formula.
    units : dict, optional
        Units of names that the nomenclature lacks, or other units for its names.

    Raises
    ------
    ModelError
        Unlike terms added or compared, a rounded quantity, an unknown function.

    Examples
    --------
    >>> from perfmodel.phases._base import symbol
    >>> dimension(symbol("chunk") / symbol("link_bandwidth"))
    {'second': Fraction(1, 1)}
    """
    found = _walk(expression, units or {})
    return {} if found is None else found


def _walk(node: sympy.Basic, units: dict[str, str]) -> Dimension | None:
    """Return the dimension; None for zero, which fits any."""
    if isinstance(node, sympy.Symbol):
        return dimension_of_unit(units[node.name] if node.name in units else NOMENCLATURE[node.name].unit)
    if isinstance(node, (sympy.Number, sympy.NumberSymbol)):
        return None if node in (0, sympy.oo, -sympy.oo) else {}
    if isinstance(node, sympy.Mul):
        return _product(node, units)
    if isinstance(node, sympy.Pow):
        return _power(node, units)
    if isinstance(node, (sympy.Add, *_SAME_DIMENSION)):
        return _alike(node, node.args, units)
    if isinstance(node, _PURE_NUMBERS):
        if _walk(node.args[0], units) not in (None, {}):
            raise ModelError(f"{node.func.__name__} of a quantity with a unit: {node}")
        return {}
    if isinstance(node, sympy.Piecewise):
        for _, condition in node.args:
            _check_condition(condition, units)
        return _alike(node, [branch for branch, _ in node.args], units)
    raise ModelError(f"no dimension rule for {type(node).__name__}: {node}")


def _product(node: sympy.Basic, units: dict[str, str]) -> Dimension | None:
    total: Dimension = {}
    for part in node.args:
        found = _walk(part, units)
        if found is None:
            return None
        for base, power in found.items():
            total[base] = total.get(base, Fraction(0)) + power
    return {base: power for base, power in sorted(total.items()) if power}


def _power(node: sympy.Pow, units: dict[str, str]) -> Dimension | None:
    base, exponent = _walk(node.base, units), node.exp
    if base is None:
        return None
    if not exponent.is_Rational:
        if base or _walk(exponent, units) not in (None, {}):
            raise ModelError(f"a quantity with a unit to a power that isn't a number: {node}")
        return {}
    factor = Fraction(int(exponent.p), int(exponent.q))
    return {name: power * factor for name, power in base.items()}


def _alike(node: sympy.Basic, parts: object, units: dict[str, str]) -> Dimension | None:
    common: Dimension | None = None
    for part in parts:  # type: ignore[attr-defined]
        found = _walk(part, units)
        if found is None:
            continue
        if common is not None and found != common:
            raise ModelError(f"unlike terms in {node}: {_read(common)} and {_read(found)} ({part})")
        common = found
    return common


def check_condition(condition: sympy.Basic) -> None:
    """Refuse a relation whose two sides have unlike dimensions."""
    _check_condition(condition, {})


def _check_condition(condition: sympy.Basic, units: dict[str, str]) -> None:
    if isinstance(condition, BooleanFunction):
        for part in condition.args:
            _check_condition(part, units)
    elif isinstance(condition, Relational):
        _alike(condition, condition.args, units)
    elif condition not in (sympy.true, sympy.false):
        raise ModelError(f"not a relation: {condition}")


def _read(dimension: Dimension) -> str:
    return " ".join(f"{base}^{power}" if power != 1 else base for base, power in dimension.items()) or "a pure number"
