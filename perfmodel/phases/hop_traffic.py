r"""Memory traffic of one hop: rows come in once, are read forward and backward; so are the sums over neighbors.

.. math:: M = 3 f n \left(1 + [k > 0]\right)

A hop whose nodes' neighbors were drawn has a sum for each node.

Worked number: 128 targets with rows of 1,204 B: 3 x 154 kB for the rows and as much for the sums, 925 kB.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, fanout, dimension, row_width) = symbols("hop_nodes hop_fanout feature_dimension row_width")

PHASE = Phase(
    name="hop_traffic",
    result="graph_traffic",
    unit="B",
    expression=3 * dimension * row_width * nodes * (1 + sympy.Min(fanout, 1)),
    meaning="bytes in and out of the memory that the array works from",
    source="mdgnn2026",
    assumption="nothing of a mini-batch stays in the scratchpad between passes",
)
