r"""How many draws of a snapshot a full pool has admitted when it becomes the oldest: one step nearer.

.. math:: \sum_{k \ge 0} U(T - kD) = C', \quad C' = \frac{(C - \sigma n)^+}{1 - \sigma}

Older snapshots come first in every window, so that they fill what room there is. The first step gives ``C' D/n``, at least
``D/5``; others go on by Newton's method on logarithms, held to slopes from 0.5 to 3.

Worked number: 1,000 rows, all as popular, as many draws in a visit, room for 1,170 rows: 1,500 draws, which touch 777 rows
of the oldest snapshot and 393 of the next, and where the step stays.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import larger, most, room, rows, smaller, summed, summed_slope, visit

(before,) = symbols("admitted_draws")
start = smaller(most, sympy.Max(room * visit / rows, visit / 5))
draws = larger(before, sympy.Float(1e-6))
now = larger(summed(draws), sympy.Float(1e-9))
ratio = smaller(larger(room / now, sympy.Float(0.01)), sympy.Integer(100))
slope = smaller(larger(draws * summed_slope(draws) / now, sympy.Float(0.5)), sympy.Integer(3))

PHASE = Phase(
    name="draws_admitted",
    result="admitted_draws",
    unit="",
    expression=sympy.Piecewise(
        (start, before <= 0), (smaller(draws * sympy.exp(sympy.log(ratio) / slope), most), True)
    ),
    meaning="draws of a snapshot that a pool has admitted, a step nearer",
    source="mdgnn2026",
)
