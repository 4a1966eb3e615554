"""The best chunk in closed form: one tensor's transfer time as a function of the chunk, and where that is least.

With rounding left out a tensor of ``V`` bytes takes ``n = V / c`` chunks of ``c``, and its transfer time is a sum of
powers of ``c`` in each regime. The least is a zero of the slope within a regime, a place where two regimes meet, or an
end: the largest chunk that the link takes, the whole tensor, or no limit at all.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final, Literal

import numpy as np
import sympy
from numpy.typing import NDArray

from perfmodel.model.branches import Point
from perfmodel.model.thresholds import Chain, solved

_SCAN: Final = 1024
_REGIMES: Final = 33  # places at which the active regime is looked up
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
    slope : str
        ``falling``, ``rising``, ``flat`` or ``turning``.
    """

    low: float
    high: float
    time: sympy.Expr
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
    regimes : tuple of Regime
        In order of the chunk.
    """

    kind: Literal["interior", "kink", "largest", "smallest", "flat"]
    value: float
    formula: sympy.Expr | None
    regimes: tuple[Regime, ...]


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
    ('interior', sqrt(a/b), 2.0)
    """
    grid = np.geomspace(low, high, _SCAN)
    times = _times(time, chain, grid)
    regimes = _regimes(time, chain, grid)
    if np.ptp(times) <= _FLAT * np.max(times):
        return Optimum("flat", chain.numbers[CHUNK], None, regimes)
    least = int(np.argmin(times))
    ends = {0: low, _SCAN - 1: high}
    for end, value in ends.items():
        if times[end] <= times[least] * (1 + _FLAT):
            return Optimum("smallest" if end == 0 else "largest", value, None, regimes)
    for _ in range(4):
        grid = np.geomspace(grid[max(least - 1, 0)], grid[min(least + 1, grid.size - 1)], 129)
        least = int(np.argmin(_times(time, chain, grid)))
    return _within(time, chain, float(grid[least]), regimes)


def _within(time: sympy.Expr, chain: Chain, near: float, regimes: tuple[Regime, ...]) -> Optimum:
    """Return the optimum near a chunk: where the slope is zero, else where two regimes meet, else as it was found."""
    left, right = (in_powers(chain.branch(time, CHUNK, near * factor)) for factor in (1 - 1e-3, 1 + 1e-3))
    for branch in (left, right):
        formula = solved(_slope(branch), chain, CHUNK, near, tolerance=1e-2)
        if formula is not None and left == right:
            return Optimum("interior", _number(formula, chain), formula, regimes)
    formula = solved(left - right, chain, CHUNK, near, tolerance=1e-2) if left != right else None
    return Optimum("kink", near if formula is None else _number(formula, chain), formula, regimes)


@functools.lru_cache(maxsize=64)
def in_powers(branch: sympy.Expr) -> sympy.Expr:
    """Return a branch as a sum of powers of the chunk, as far as it is one."""
    chunk = _chunk_in(branch)
    powers = sympy.collect(sympy.expand(branch), chunk, evaluate=False)
    return sympy.Add(*(sympy.factor_terms(part) * power for power, part in powers.items()))


def _chunk_in(expression: sympy.Expr) -> sympy.Symbol:
    return next((name for name in expression.free_symbols if name.name == CHUNK), sympy.Symbol(CHUNK))


def _slope(branch: sympy.Expr) -> sympy.Expr:
    return sympy.diff(branch, _chunk_in(branch))


def _number(formula: sympy.Expr, chain: Chain) -> float:
    return float(Point(chain.at(CHUNK, chain.numbers[CHUNK])).value(formula))


def _times(time: sympy.Expr, chain: Chain, chunks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.broadcast_to(Point(chain.at(CHUNK, chunks), rounded=False).value(time), chunks.shape)


def _regimes(time: sympy.Expr, chain: Chain, grid: NDArray[np.float64]) -> tuple[Regime, ...]:
    """Return the branches that are active along the chunk."""
    found: list[Regime] = []
    for chunk in np.geomspace(grid[0], grid[-1], _REGIMES):
        branch = in_powers(chain.branch(time, CHUNK, float(chunk)))
        if found and found[-1].time == branch:
            found[-1] = dataclasses.replace(found[-1], high=float(chunk))
        else:
            found.append(Regime(float(chunk), float(chunk), branch, "flat"))
    return tuple(dataclasses.replace(regime, slope=_direction(regime, chain)) for regime in found)


def _direction(regime: Regime, chain: Chain) -> Literal["falling", "rising", "flat", "turning"]:
    slope = _slope(regime.time)
    at_ends = [float(Point(chain.at(CHUNK, chunk)).value(slope)) for chunk in (regime.low, regime.high)]
    if all(value == 0 for value in at_ends):
        return "flat"
    if at_ends[0] < 0 < at_ends[1]:
        return "turning"
    return "falling" if at_ends[0] < 0 else "rising"
