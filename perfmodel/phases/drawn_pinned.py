r"""Pinned pool under draws: what it has admitted of a snapshot is hit until the window has left it.

.. math:: h = \frac{T - U(T) + (D - t) H(t) + D H(T)}{s D}, \quad t = T \bmod D

``T`` draws of a snapshot were admitted before it is the oldest; in its first visit only ``t``, when the pool was full.
A pool with room for all has ``1 - U(sD)/(sD)``. What all snapshots share stays for good, if there is room for it; if
not, the pool holds some of it, between any rows and the popular ones.

Worked number: 1,000 rows, all as popular, 4 visits of 1,000 draws each: room for all of them lets 75 % of all draws hit.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import capacity, distinct, known, most, room, rows, shared, smaller, summed, visit, window

(draws, remembered) = symbols("admitted_draws remembered_draws")
first = draws - sympy.floor(draws / visit) * visit
admitted = draws + (visit - first) * known(first) - distinct(draws) + visit * known(draws)
whole = window * visit - distinct(window * visit)
own = sympy.Piecewise((whole, summed(most) <= room), (admitted, True)) / (window * visit)
some = smaller((capacity / rows + known(remembered)) / 2, sympy.Integer(1))

PHASE = Phase(
    name="drawn_pinned",
    result="hit_share",
    unit="",
    expression=sympy.Piecewise((some, capacity <= shared * rows), (shared + (1 - shared) * own, True)),
    meaning="hits of a pinned pool when rows are drawn by popularity",
    source="che2002",
    assumption="each visit draws anew; windows work on their oldest snapshot first",
)
