r"""How many draws of a snapshot a full pool has admitted when it becomes the oldest: one step nearer.

.. math:: \sum_{k \ge 0} U(T - kD) = C', \quad C' = \frac{(C - \sigma n)^+}{1 - \sigma}

Older snapshots come first in every window, so that they fill what room there is. Steps start at ``C' D/n``, at least
``D/5``. The sum grows about as ``T``, so that a step by the ratio to the power of 3/4 gets nearer at any slope from 0.3
to 2.

Worked number: a scan, ``U = n`` from the first visit on, with room for 2 snapshots: 2 visits' draws, where the step
stays.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import held, larger, most, room, rows, smaller, visit

(before,) = symbols("admitted_draws")
start = sympy.Min(most, sympy.Max(room * visit / rows, visit / 5))
draws = sympy.Piecewise((start, before <= 0), (before, True))
now = larger(held(draws), sympy.Float(1e-9))
ratio = smaller(larger(room / now, sympy.Float(0.01)), sympy.Integer(100))

PHASE = Phase(
    name="draws_admitted",
    result="admitted_draws",
    unit="",
    expression=smaller(draws * ratio ** sympy.Rational(3, 4), most),
    meaning="draws of a snapshot that a pool has admitted, a step nearer",
    source="mdgnn2026",
)
