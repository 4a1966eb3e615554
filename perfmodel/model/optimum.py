"""The best chunk in closed form: one tensor's transfer time as a function of the chunk, and where that is least.

With rounding left out a tensor of ``V`` bytes takes ``n = V / c`` chunks of ``c``, and its transfer time is a sum of
powers of ``c`` in each regime. The least is a zero of the slope within a regime, a place where two regimes meet, or an
end: the largest chunk that the link takes, the whole tensor, or no limit at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
import sympy
from numpy.typing import NDArray

from perfmodel.model.branches import Point
from perfmodel.model.chains import Chain, symbol_in
from perfmodel.model.thresholds import solved

_SCAN: Final = 1024
_REGIMES: Final = 25  # places at which the active regime is looked up
SHORT: Final = 80  # operations up to which a regime is written as powers of the chunk
_FLAT: Final = 1e-9
CHUNK: Final = "chunk"


@dataclasses.dataclass(frozen=True)
class Regime:
    """A range of chunks [B] on which one branch of the formula holds.

    Attributes
    ----------
    low, high : float
        Chunks between which it was found.
    time : sympy.Expr
        Transfer time as a function of the chunk.
    powers : mapping of power to float
        The same in numbers: the factor of each power of the chunk; empty where it isn't a sum of powers.
    slope : str
        ``falling``, ``rising``, ``flat`` or ``turning``.
    """

    low: float
    high: float
    time: sympy.Expr
    powers: Mapping[int, float]
    slope: Literal["falling", "rising", "flat", "turning"]


@dataclasses.dataclass(frozen=True)
class Optimum:
    """The best chunk of one tensor.

    Attributes
    ----------
    kind : str
        ``interior`` (a zero of the slope), ``kink`` (two regimes meet), ``largest`` or ``smallest`` (an end of what is
        allowed) or ``flat`` (the chunk doesn't matter).
    value : float
        [B]
    formula : sympy.Expr or None
        The value in closed form; None at an end, or where only the scan found it.
    """

    kind: Literal["interior", "kink", "largest", "smallest", "flat"]
    value: float
    formula: sympy.Expr | None


def best_chunk(time: sympy.Expr, chain: Chain, low: float, high: float) -> Optimum:
    """Return the chunk with the least transfer time.

    Parameters
    ----------
    time : sympy.Expr
        Transfer time over the chain's names.
    chain : Chain
        Holds ``chunk`` among its numbers.
    low, high : float
        Chunks that may be chosen [B].

    Examples
    --------
    >>> c, a, b = sympy.symbols("chunk a b", positive=True)
    >>> found = best_chunk(a / c + b * c, Chain([], {"chunk": 1.0, "a": 8.0, "b": 2.0}), 0.1, 100.0)
    >>> found.kind, found.formula, round(found.value, 6)
    ('interior', sqrt(a)/sqrt(b), 2.0)
    """
    grid = np.geomspace(low, high, _SCAN)
    times = _times(time, chain, grid)
    if np.ptp(times) <= _FLAT * np.max(times):
        return Optimum("flat", chain.numbers[CHUNK], None)
    least = int(np.argmin(times))
    ends = {0: low, _SCAN - 1: high}
    for end, value in ends.items():
        if times[end] <= times[least] * (1 + _FLAT):
            return Optimum("smallest" if end == 0 else "largest", value, None)
    for _ in range(4):
        grid = np.geomspace(grid[max(least - 1, 0)], grid[min(least + 1, grid.size - 1)], 129)
        least = int(np.argmin(_times(time, chain, grid)))
    return _within(time, chain, float(grid[least]))


def _within(time: sympy.Expr, chain: Chain, near: float) -> Optimum:
    """Return the optimum near a chunk: where the slope is zero, else where two regimes meet, else as it was found."""
    left, right = (chain.branch(time, CHUNK, near * factor) for factor in (1 - 1e-3, 1 + 1e-3))
    for branch in (left, right):
        formula = solved(_slope(branch), chain, CHUNK, near, tolerance=1e-2)
        if formula is not None and left == right:
            return Optimum("interior", _number(formula, chain), formula)
    formula = solved(left - right, chain, CHUNK, near, tolerance=1e-2) if left != right else None
    return Optimum("kink", near if formula is None else _number(formula, chain), formula)


def _in_powers(branch: sympy.Expr) -> sympy.Expr:
    """Return a branch as a sum of powers of the chunk."""
    chunk = _chunk_in(branch)
    powers = sympy.collect(sympy.expand(branch), chunk, evaluate=False)
    return sympy.Add(*(sympy.factor_terms(part) * power for power, part in powers.items()))


def _powers(branch: sympy.Expr, numbers: Mapping[str, float]) -> dict[int, float]:
    """Return the factors of the powers of the chunk in numbers, none where a branch isn't a sum of them."""
    chunk = _chunk_in(branch)
    rule = {name: sympy.Float(numbers[name.name]) for name in branch.free_symbols if name != chunk}
    found: dict[int, float] = {}
    for power, factor in sympy.collect(sympy.expand(branch.xreplace(rule)), chunk, evaluate=False).items():
        exponent = power.as_base_exp()[1] if power.has(chunk) else sympy.Integer(0)
        if factor.free_symbols or not exponent.is_Integer:
            return {}
        found[int(exponent)] = float(factor)
    largest = max(map(abs, found.values()), default=0.0)
    return {power: factor for power, factor in sorted(found.items()) if abs(factor) > 1e-15 * largest}


def _chunk_in(expression: sympy.Expr) -> sympy.Symbol:
    return symbol_in(expression, CHUNK) or sympy.Symbol(CHUNK)


def _slope(branch: sympy.Expr) -> sympy.Expr:
    return sympy.diff(branch, _chunk_in(branch))


def _number(formula: sympy.Expr, chain: Chain) -> float:
    return float(Point(chain.at(CHUNK, chain.numbers[CHUNK])).value(formula))


def _times(time: sympy.Expr, chain: Chain, chunks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.broadcast_to(Point(chain.at(CHUNK, chunks), rounded=False).value(time), chunks.shape)


def regimes(time: sympy.Expr, chain: Chain, low: float, high: float) -> tuple[Regime, ...]:
    """Return the branches that are active along the chunk."""
    found: list[Regime] = []
    for chunk in map(float, np.geomspace(low, high, _REGIMES)):
        branch = chain.branch(time, CHUNK, chunk)
        if found and _alike(branch, found[-1].time, chain, (found[-1].low, chunk)):
            found[-1] = dataclasses.replace(found[-1], high=chunk)
        else:
            found.append(Regime(chunk, chunk, branch, {}, "flat"))
    for place in range(len(found) - 1):
        edge = _edge(time, chain, found[place], found[place + 1])
        found[place] = dataclasses.replace(found[place], high=edge)
        found[place + 1] = dataclasses.replace(found[place + 1], low=edge)
    return tuple(
        dataclasses.replace(
            regime,
            time=_in_powers(regime.time) if regime.time.count_ops() <= SHORT else regime.time,
            powers=_powers(regime.time, chain.at(CHUNK, regime.low)),
            slope=_direction(regime, chain),
        )
        for regime in found
    )


def _edge(time: sympy.Expr, chain: Chain, left: Regime, right: Regime) -> float:
    """Return the chunk up to which the left one of two regimes holds."""
    below, above = left.high, right.low
    for _ in range(30):
        middle = float(np.sqrt(below * above))
        point = Point(chain.at(CHUNK, middle), rounded=False)
        holds = bool(np.isclose(point.value(left.time), point.value(time), rtol=1e-9))
        below, above = (middle, above) if holds else (below, middle)
    return below


def _alike(first: sympy.Expr, second: sympy.Expr, chain: Chain, chunks: tuple[float, float]) -> bool:
    """Say whether two branches come to the same at two chunks: they may be written differently."""
    points = [Point(chain.at(CHUNK, chunk), rounded=False) for chunk in chunks]
    return first == second or all(
        bool(np.isclose(point.value(first), point.value(second), rtol=1e-9)) for point in points
    )


def _direction(regime: Regime, chain: Chain) -> Literal["falling", "rising", "flat", "turning"]:
    slope = _slope(regime.time)
    low, high = (
        float(Point(chain.at(CHUNK, chunk)).value(slope))
        * chunk
        / float(Point(chain.at(CHUNK, chunk)).value(regime.time))
        for chunk in (regime.low, regime.high)
    )
    if max(abs(low), abs(high)) < _FLAT:
        return "flat"
    if low < 0 < high:
        return "turning"
    return "falling" if low < 0 else "rising"
