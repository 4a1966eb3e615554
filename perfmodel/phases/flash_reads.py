r"""Pages of one hop that come from flash: what neither the device's memory nor, where only rows are asked for, the pool has.

.. math:: r_F = r\,v \left(1 - (1 - m)(1 - [k > 0]\,[\text{rows alone}])\right)

A node whose neighbors are drawn (fanout ``k``) needs its list, which lies in flash beside its row and differs from
snapshot to snapshot; a pool of rows spares the reads of the last hop only, however large it is.

Worked number: hops of 128, 384, 1,152 and 3,456 pages, all rows pooled: 1,664 of 5,120 pages are read all the same.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(reads, local, pool, fanout, lists) = symbols("page_reads local_miss_share pool_miss_share hop_fanout pools_lists")

served = (1 - pool) * (1 - sympy.Min(fanout, 1) * (1 - lists))

PHASE = Phase(
    name="flash_reads",
    result="flash_reads",
    unit="",
    expression=reads * local * (1 - served),
    meaning="pages that a hop of the sampled neighborhood reads from flash",
    source="mdgnn2026",
)
