r"""Nodes of one hop.

.. math:: n = b \min(w, d^h)

Worked number: 128 targets with 27 nodes each at the third hop are 3,456 nodes.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(targets, width, depth, nodes, edges) = symbols("batch_targets hop_width hop_depth snapshot_nodes snapshot_edges")

PHASE = Phase(
    name="hop_nodes",
    result="hop_nodes",
    unit="",
    expression=targets * sympy.Min(width, (edges / nodes) ** depth),
    meaning="nodes of a hop of the sampled neighborhood",
    source="mdgnn2026",
    assumption="every node has the mean degree, and no node is sampled twice",
)
