r"""Rows of one hop that come from the host's pool: what the device's memory lacks and the pool has.

.. math:: n_P = n\,v \begin{cases} 1 - m & k = 0 \text{ or lists are pooled} \\ 0 & \text{otherwise} \end{cases}

The row of a node whose neighbors are drawn (fanout ``k``) comes with its list from flash.

Worked number: 3,456 nodes in the last hop, 36 % of the rows missing: 2,212 rows.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, local, pool, fanout, lists) = symbols("hop_nodes local_miss_share pool_miss_share hop_fanout pools_lists")

PHASE = Phase(
    name="pool_rows",
    result="pooled_rows",
    unit="",
    expression=nodes * local * sympy.Piecewise((1 - pool, sympy.Or(fanout <= 0, lists > 0)), (0, True)),
    meaning="rows that a hop of the sampled neighborhood takes from the host's pool",
    source="mdgnn2026",
)
