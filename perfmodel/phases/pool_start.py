r"""How many draws of a snapshot a full pool has admitted when it becomes the oldest, to begin with.

.. math:: T_0 = \max\left(C' D/n,\ D/5\right), \quad C' = \frac{(C - \sigma n)^+}{1 - \sigma}

Worked number: room for 2 snapshots' rows, one draw for each: 2 visits' draws.
"""

import sympy

from perfmodel.phases._base import Phase
from perfmodel.phases._reuse import most, room, rows, visit

PHASE = Phase(
    name="pool_start",
    result="admitted_draws",
    unit="",
    expression=sympy.Min(most, sympy.Max(room * visit / rows, visit / 5)),
    meaning="draws of a snapshot that a pool has admitted, to begin with",
    source="mdgnn2026",
)
