r"""LRU under draws: hits within a visit (Che's approximation), of the snapshot's last visit, and of those before.

.. math:: h_0 = \frac{t - U(t) + (D - t) H(t)}{D}, \quad
          h_1 = \frac{2 U(D) - U(2D)}{D} \frac{s - 1}{s}, \quad h_\infty = 1 - \frac{U(sD)}{sD} - h_0

``t`` draws are remembered, at most the visit's ``D``; ``U`` rows are touched, ``H`` is the chance to draw one of them
again. A snapshot's last visit lies ``s - 1`` visits back, so ``h_1`` comes in as the cache comes to reach ``v`` from
``s - 2`` to ``s`` visits; what is shared was drawn ``v`` times since.

Worked number: one draw for each row, all as popular, half of them remembered: 0.30 within the visit by itself.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import distinct, known, larger, missed, one_visit, shared, smaller, summed, visit, window

(remembered, visits) = symbols("remembered_draws remembered_visits")
half = sympy.Rational(1, 2)
draws = sympy.Min(remembered, visit)
within = (draws - distinct(draws) + (visit - draws) * known(draws)) / visit
last = (2 * one_visit - distinct(2 * visit)) / visit * (window - 1) / window
every = larger(1 - distinct(window * visit) / (window * visit) - within, sympy.Integer(0))
first = smaller(last, every)
ramp = sympy.Min(sympy.Max(visits - (window - 2), 0), 2)
reached = sympy.Piecewise((ramp**2 / 2, ramp < 1), (1 - (2 - ramp) ** 2 / 2, True))
beyond = larger(summed(window * visit) / one_visit - window, sympy.Float(0.1))
further = smaller(larger((visits - window) / beyond, sympy.Integer(0)), sympy.Integer(1))
own = within + first * reached + (every - first) * further
forgotten = sympy.Piecewise((missed ** sympy.Max(visits - half, 0), visits > half), (1, True))
common = within + (1 - within) * (1 - forgotten)

PHASE = Phase(
    name="drawn_lru",
    result="hit_share",
    unit="",
    expression=(1 - shared) * own + shared * common,
    meaning="hits of an LRU cache when rows are drawn by popularity",
    source="che2002",
    assumption="each visit draws anew; a snapshot's order of popularity is its own",
)
