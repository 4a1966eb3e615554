r"""How many draws a cache remembers, to begin with: exact where all rows are as popular.

.. math:: t_0 = -n \ln(1 - C/n)

Worked number: a cache of half of 1,000 rows remembers about 693 draws.
"""

import sympy

from perfmodel.phases._base import Phase
from perfmodel.phases._reuse import capacity, rows

kept = sympy.Min(capacity / rows, sympy.Float(0.999))

PHASE = Phase(
    name="reach_start",
    result="remembered_draws",
    unit="",
    expression=-rows * sympy.log(1 - kept),
    meaning="draws that a cache remembers, where all rows are as popular",
    source="che2002",
)
