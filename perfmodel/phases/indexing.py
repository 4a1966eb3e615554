r"""Indexing: making neighbor lists of the edges that arrived, for a sampler on the compute node to draw from.

.. math:: t = t_0 + e\,t_i

Worked number: 2 million edges at 5 ns take 10 ms.
"""

from perfmodel.phases._base import Phase, symbols

(edges, per_call, per_edge) = symbols("batch_edges time_per_indexing time_per_indexed_edge")

PHASE = Phase(
    name="indexing",
    result="indexing_time",
    unit="s",
    expression=per_call + edges * per_edge,
    meaning="make neighbor lists of the edges that arrived",
    source="lgnnic2026",
    assumption="edges arrive grouped by target",
)
