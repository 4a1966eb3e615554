r"""Memory traffic of one hop: its rows are read for sums and products; what does not stay in the scratchpad, again.

.. math:: M = f n \left(1 + 3\,[k > 0]\,(1 - \kappa)\right)

A hop whose nodes' neighbors were drawn has a sum for each node. Backward, rows and sums of such nodes are inputs of the
weights' gradient: a sum that did not stay was written, and both are read again. Rows reach the memory while they are
fetched, which takes no time of its own.

Worked number: 128 targets with rows of 1,204 B: 154 kB where they stay in the scratchpad, 616 kB where nothing does.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, fanout, dimension, row_width, kept) = symbols("hop_nodes hop_fanout feature_dimension row_width kept_share")

PHASE = Phase(
    name="hop_traffic",
    result="graph_traffic",
    unit="B",
    expression=dimension * row_width * nodes * (1 + 3 * sympy.Min(fanout, 1) * (1 - kept)),
    meaning="bytes between the array and its memory",
    source="mdgnn2026",
)
