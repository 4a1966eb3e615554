"""Parts that the cache phases share: rows drawn by Zipf's law, in visits of the snapshots of a sliding window.

Rows come in classes of ranks, each as wide in the logarithm, so that what draws touch is a short sum. A cache's reach is found
by Newton's method, one phase a step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import sympy

from perfmodel.phases._base import symbols

_CLASSES: Final = 12

(capacity, rows, window, shared, skew, requests) = symbols(
    "cache_capacity snapshot_nodes frame_length shared_share skew requests_per_row"
)
visit = requests * rows
_edges = [rows ** sympy.Rational(step, _CLASSES) for step in range(_CLASSES + 1)]
_pairs = list(itertools.pairwise(_edges))
_counts = [sympy.Integer(1), *(high - low for low, high in _pairs)]
_weights = [sympy.Integer(1), *(sympy.sqrt(low * high) ** -skew for low, high in _pairs)]
_total = sympy.Add(*(count * weight for count, weight in zip(_counts, _weights, strict=True)))
_classes = [(count, weight / _total) for count, weight in zip(_counts, _weights, strict=True)]


def larger(one: sympy.Expr, other: sympy.Expr) -> sympy.Expr:
    """Return the larger of two long expressions, without a search for which of them is."""
    return sympy.Max(one, other, evaluate=False)


def smaller(one: sympy.Expr, other: sympy.Expr) -> sympy.Expr:
    """Return the smaller of two long expressions, without a search for which of them is."""
    return sympy.Min(one, other, evaluate=False)


def distinct(draws: sympy.Expr) -> sympy.Expr:
    """Return how many rows so many draws touch."""
    return sympy.Add(*(count * (1 - sympy.exp(-chance * draws)) for count, chance in _classes))


def known(draws: sympy.Expr) -> sympy.Expr:
    """Return the chance that the next draw is of a row that so many draws have touched."""
    return sympy.Add(*(count * chance * (1 - sympy.exp(-chance * draws)) for count, chance in _classes))


def summed(draws: sympy.Expr) -> sympy.Expr:
    """Return the rows that so many draws touch, and those that one visit's fewer do, and so on, added up.

    So many rows has a pool that has admitted so many draws of its oldest snapshot: a geometric series for each class.
    """
    visits = sympy.floor(draws / visit)
    return sympy.Add(*(count * (visits + 1 - untouched) for count, _, untouched in _untouched(draws, visits)))


def summed_slope(draws: sympy.Expr) -> sympy.Expr:
    """Return the rows that one more draw adds to ``summed``."""
    visits = sympy.floor(draws / visit)
    return sympy.Add(*(count * chance * untouched for count, chance, untouched in _untouched(draws, visits)))


def _untouched(draws: sympy.Expr, visits: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr, sympy.Expr]]:
    """Yield each class with the chances that a row is untouched by so many draws, by one visit's fewer, and so on, added up."""
    for count, chance in _classes:
        each = larger(chance * visit, sympy.Float(1e-12))
        series = (1 - sympy.exp(-(visits + 1) * each)) / (1 - sympy.exp(-each))
        yield count, chance, sympy.exp(-chance * (draws - visits * visit)) * series


one_visit = distinct(visit)
missed = larger(1 - one_visit / rows, sympy.Float(1e-9))
room = sympy.Max(capacity - shared * rows, 0) / sympy.Max(1 - shared, sympy.Float(1e-9))
most = (window - 1) * visit
