r"""The graph in memory, array by array, as PyG's loader keeps it.

.. math:: M = \frac{F + Y + 2 w E + w E + o (E + T)}{D}

Features and labels as stored; the edge list (two ids an edge); the neighbor lists (one id an edge) with a permutation
back to the edge list and one offset a list. Ids take the index width ``w``; positions in an edge array, the permutation
and the offsets, need 8 bytes once there are more than 2**31 - 1 edges, whatever the ids take.

Worked number: 61,859,140 edges both ways with int64 ids are 3.96 GB besides the features.
"""

from perfmodel.phases._base import Phase, symbols

(features, labels, edges, targets, index_width, offset_width, devices) = symbols(
    "graph_feature_bytes graph_label_bytes graph_edges graph_targets index_width offset_width devices"
)

PHASE = Phase(
    name="memory_graph",
    result="graph_memory",
    unit="B",
    expression=(features + labels + 3 * index_width * edges + offset_width * (edges + targets)) / devices,
    meaning="features, labels, edge list and neighbor lists",
    source="pyg2019",
    assumption="the edge list stays beside the neighbor lists; memory nodes share evenly",
)
