r"""How many draws a cache remembers: those that touch as many rows as it holds, one step nearer (Che's approximation).

.. math:: \sum_i \left(1 - e^{-p_i t}\right) = C, \quad t \ge -n \ln(1 - C/n)

The first step gives the bound, which is exact where all rows are as popular; others go on by Newton's method on the
logarithms of ``t`` and of ``-ln(1 - held/n)``, which are nearly proportional.

Worked number: where all rows are as popular the step stays where it starts, 693 draws for half of 1,000 rows.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._reuse import capacity, distinct, known, larger, rows

(before,) = symbols("remembered_draws")
wanted = larger(-sympy.log(1 - sympy.Min(capacity / rows, sympy.Float(0.999))), sympy.Float(1e-12))
start = rows * wanted
draws = larger(before, sympy.Float(1e-3))
left = larger(1 - distinct(draws) / rows, sympy.Float(1e-9))
here = larger(-sympy.log(left), sympy.Float(1e-12))
slope = draws * (1 - known(draws)) / (rows * left * here)

PHASE = Phase(
    name="draws_remembered",
    result="remembered_draws",
    unit="",
    expression=sympy.Piecewise(
        (start, before <= 0), (draws * sympy.exp(sympy.log(wanted / here) / larger(slope, sympy.Float(0.2))), True)
    ),
    meaning="draws that a cache remembers, a step nearer",
    source="che2002",
    assumption="rows are drawn independently, by Zipf's law",
)
