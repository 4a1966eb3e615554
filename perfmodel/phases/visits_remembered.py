r"""How many visits back an LRU reaches: one step of Newton's method nearer, from none shared on.

.. math:: (1 - \sigma)\,v\,U(D) + \sigma n \left(1 - (1 - U(D)/n)^v\right) = C, \quad v \ge C / U(D)

Worked number: visits that touch 500 rows each, none of them shared, a cache of 1,500: 3 visits, where the step stays.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import capacity, larger, missed, one_visit, rows, shared, smaller

(before,) = symbols("remembered_visits")
visits = larger(before, capacity / one_visit)
kept = missed**visits
remembered = (1 - shared) * visits * one_visit + shared * rows * (1 - kept)
pace = (1 - shared) * one_visit - shared * rows * kept * sympy.log(missed)
step = (capacity - remembered) / larger(pace, sympy.Float(1e-6) * rows)

PHASE = Phase(
    name="visits_remembered",
    result="remembered_visits",
    unit="",
    expression=larger(smaller(visits + step, sympy.Integer(1000)), sympy.Integer(0)),
    meaning="visits that a cache remembers, a step nearer",
    source="che2002",
    assumption="a shared row is as popular in one snapshot as in another",
)
