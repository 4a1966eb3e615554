"""Parts that the cache phases share: rows drawn by Zipf's law, in visits of the snapshots of a sliding window.

Rows come in classes of ranks, each as wide in the logarithm, so that what draws touch is a short sum. A cache's reach is found
by Newton's method, one phase a step.
"""

from __future__ import annotations

import itertools
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
    """Return the rows that 1, 2, ... visits touch, added up, for so many draws in all (trapezoids)."""
    touched = [(count, chance, 1 - sympy.exp(-chance * draws)) for count, chance in _classes]
    return sympy.Add(*(n * (draws / visit - t / (p * visit) + t / 2) for n, p, t in touched))


def held(draws: sympy.Expr) -> sympy.Expr:
    """Return the rows that a pool holds whose oldest snapshot it has admitted so many draws of."""
    return larger(distinct(draws), summed(draws))


one_visit = distinct(visit)
missed = larger(1 - one_visit / rows, sympy.Float(1e-9))
room = sympy.Max(capacity - shared * rows, 0) / sympy.Max(1 - shared, sympy.Float(1e-9))
most = (window - 1) * visit
