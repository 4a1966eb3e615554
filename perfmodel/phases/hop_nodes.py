r"""Nodes of one hop.

.. math:: n = b \min(w, (\beta d)^h)

Nodes at the ends of edges have more neighbors than the mean of all nodes, ``beta`` times as many.

Worked number: 128 targets with 27 nodes each at the third hop are 3,456 nodes.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(targets, width, depth, nodes, edges, bias) = symbols(
    "batch_targets hop_width hop_depth snapshot_nodes snapshot_edges degree_bias"
)

PHASE = Phase(
    name="hop_nodes",
    result="hop_nodes",
    unit="",
    expression=targets * sympy.Min(width, (bias * edges / nodes) ** depth),
    meaning="nodes of a hop of the sampled neighborhood",
    source="mdgnn2026",
    assumption="every node that is reached has as many neighbors, and no node is sampled twice",
)
