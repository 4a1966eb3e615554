r"""Indexing: making neighbor lists of the edges that arrived, for a sampler on the compute node to draw from.

.. math:: t = t_c + d\,t_0 + e\,t_i + n\,t_n

``d`` is the share of the caches that was displaced since the last mini-batch.

Worked number: 2 million edges at 5 ns take 10 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._displaced import displaced

(edges, nodes) = symbols("batch_edges batch_nodes")
(per_call, restart, per_edge, per_node) = symbols(
    "time_per_indexing indexing_restart_time time_per_indexed_edge time_per_indexed_node"
)

displaced_share = displaced()

PHASE = Phase(
    name="indexing",
    result="indexing_time",
    unit="s",
    expression=per_call + displaced_share * restart + edges * per_edge + nodes * per_node,
    meaning="make neighbor lists of the edges that arrived",
    source="lgnnic2026",
    assumption="edges arrive grouped by target",
)
