r"""Peak memory of turning the raw graph into the sampler's: every copy that is alive at once.

.. math:: M = R + k_f F + k_e\,2 w E

Worked number: ogbn-papers100M with its features copied once more (2 x 56.9 GB) and its edges reversed and coalesced
(6 x 25.9 GB) peaks at 269 GB, beyond the 256 GB machine on which users saw it end.
"""

from perfmodel.phases._base import Phase, symbols

(features, edges, index_width, feature_copies, edge_copies, runtime) = symbols(
    "graph_feature_bytes graph_edges index_width feature_copies edge_copies runtime_bytes"
)

PHASE = Phase(
    name="memory_preprocessing",
    result="preprocessing_memory",
    unit="B",
    expression=runtime + feature_copies * features + edge_copies * 2 * index_width * edges,
    meaning="all copies of features and edge lists alive at the peak of preprocessing",
    source="ogb_issue_46",
    assumption="nothing is memory-mapped",
)
