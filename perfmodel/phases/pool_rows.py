r"""Rows of one hop that come from the host's pool: what the device's memory lacks and the pool has.

.. math:: n_P = n\,v\,(1 - m)(1 - [k > 0]\,[\text{rows alone}])

The row of a node whose neighbors are drawn (fanout ``k``) comes with its list from flash.

Worked number: 3,456 nodes in the last hop, 36 % of the rows missing: 2,212 rows.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, local, pool, fanout, lists) = symbols("hop_nodes local_miss_share pool_miss_share hop_fanout pools_lists")

served = (1 - pool) * (1 - sympy.Min(fanout, 1) * (1 - lists))

PHASE = Phase(
    name="pool_rows",
    result="pooled_rows",
    unit="",
    expression=nodes * local * served,
    meaning="rows that a hop of the sampled neighborhood takes from the host's pool",
    source="mdgnn2026",
)
