"""Where a regime begins and ends: its condition solved for the numbers that a user can turn.

A condition is scanned along each number, rounding left out (``ceil(x)`` taken as ``x``). Where it flips, the relation
that flips it is an equality, free of maxima and cases on that spot, and sympy solves it in closed form where it is of
first or second degree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.core.relational import Relational

from perfmodel.model.branches import Point
from perfmodel.model.chains import Chain, symbol_in

Array = NDArray[np.float64]

_SMALLEST: Final = 1e-15
_LARGEST: Final = 1e18
_SCAN: Final = 512
_NEAR: Final = 1e3  # how many times up and down the scan is dense
_LONGEST: Final = 400  # operations up to which a closed form is sought: beyond, no one would read it
_CLOSE: Final = 1e-6  # relative distance between the closed form and the flip that was found


@dataclasses.dataclass(frozen=True)
class Threshold:
    """Where a condition flips along one number, everything else as it is.

    Attributes
    ----------
    name : str
        Of the number, in formulas.
    value : float
    holds : str
        On which side the condition holds: ``above`` or ``below``.
    formula : sympy.Expr or None
        The value in closed form, without what is zero or infinite now; None where it was only found by scanning.
    """

    name: str
    value: float
    holds: str
    formula: sympy.Expr | None


def thresholds(relation: sympy.Basic, chain: Chain, name: str, low: float, high: float) -> list[Threshold]:
    """Return where a condition flips along one number.

    Parameters
    ----------
    relation : sympy.Basic
    chain : Chain
        What the relation's names are worth.
    name : str
        The number that is turned.
    low, high : float
        What it may be.
    """
    found = []
    for below, above in _flips(relation, chain, name, low, high):
        middle = float(np.sqrt(below * above))
        formula = _closed_form(relation, chain, name, (below, above))
        value = middle if formula is None else float(Point(chain.at(name, middle)).value(formula))
        holds = "above" if Point(chain.at(name, above), rounded=False).value(relation) else "below"
        found.append(Threshold(name, value, holds, formula))
    return found


def _flips(relation: sympy.Basic, chain: Chain, name: str, low: float, high: float) -> Iterator[tuple[float, float]]:
    """Yield the narrow intervals within which the condition flips."""
    low, high = max(low, _SMALLEST), min(high, _LARGEST)
    now = chain.numbers[name]
    dense = np.geomspace(now / _NEAR, now * _NEAR, _SCAN) if now > 0 and np.isfinite(now) else np.array([])
    grid = np.union1d(np.geomspace(low, high, _SCAN), dense[(dense >= low) & (dense <= high)])
    for start in _changes(_truth(relation, chain, name, grid)):
        below, above = grid[start], grid[start + 1]
        for _ in range(5):
            finer = np.geomspace(below, above, 64)
            inner = _changes(_truth(relation, chain, name, finer))
            below, above = finer[inner[0]], finer[inner[0] + 1]
        yield float(below), float(above)


def _truth(relation: sympy.Basic, chain: Chain, name: str, values: Array) -> NDArray[np.bool_]:
    truth = Point(chain.at(name, values), rounded=False).value(relation)
    return np.broadcast_to(np.asarray(truth, bool), values.shape)


def _changes(truth: NDArray[np.bool_]) -> NDArray[np.intp]:
    return np.flatnonzero(truth[1:] != truth[:-1])


def _closed_form(relation: sympy.Basic, chain: Chain, name: str, flip: tuple[float, float]) -> sympy.Expr | None:
    """Solve the relation that flips for the number, on either side's active branch."""
    sides = [Point(chain.at(name, value), rounded=False) for value in flip]
    for atom in sorted(relation.atoms(Relational), key=str):
        if bool(sides[0].value(atom)) == bool(sides[1].value(atom)):
            continue
        for value in flip:
            found = solved(chain.branch(atom.lhs - atom.rhs, name, value), chain, name, value)
            if found is not None:
                return found
    return None


def solved(
    expression: sympy.Expr, chain: Chain, name: str, close_to: float, tolerance: float = _CLOSE
) -> sympy.Expr | None:
    """Return the closed form of the zero of an expression near a value, None where there is none.

    Examples
    --------
    >>> x, a = sympy.symbols("x a", positive=True)
    >>> solved(a / x - x / 4, Chain([], {"x": 1.0, "a": 9.0}), "x", 6.0)
    2*sqrt(a)
    """
    unknown = symbol_in(expression, name)
    if unknown is None or expression.count_ops() > _LONGEST:
        return None
    numerator = sympy.fraction(sympy.together(expression))[0]
    try:
        polynomial = sympy.Poly(numerator, unknown)
    except sympy.PolynomialError:
        return None
    for root in _roots(_reduced(polynomial)):
        point = Point(chain.at(name, close_to))
        if abs(float(point.value(root)) - close_to) <= tolerance * abs(close_to):
            above, below = sympy.fraction(root)
            return -above / -below if point.value(below) < 0 else root
    return None


def _reduced(polynomial: sympy.Poly) -> sympy.Poly:
    """Divide out roots that are a name by itself, such as a chunk of the whole tensor."""
    unknown = polynomial.gen
    for name in sorted(polynomial.free_symbols - {unknown}, key=str):
        while polynomial.degree() > 1 and sympy.expand(polynomial.as_expr().subs(unknown, name)) == 0:
            polynomial = sympy.quo(polynomial, sympy.Poly(unknown - name, unknown))
    return polynomial


def _roots(polynomial: sympy.Poly) -> list[sympy.Expr]:
    if polynomial.degree() == 1:
        slope, constant = polynomial.all_coeffs()
        return [sympy.factor_terms(sympy.cancel(-constant / slope))]
    if polynomial.degree() != 2:
        return []
    square, slope, constant = (sympy.factor_terms(part) for part in polynomial.all_coeffs())
    if slope == 0:
        return [sympy.sqrt(sympy.cancel(-constant / square))]
    inner = sympy.sqrt(slope**2 - 4 * square * constant)
    return [(-slope + sign * inner) / (2 * square) for sign in (1, -1)]
