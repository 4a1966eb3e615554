r"""Memory of the node that samples: the graph, and what each running sampler holds.

A sampler at work holds, for every edge it drew, its two ends and its position as they grow (with room to double), as
tensors, as the stacked edge index, and the position mapped back: 8 ids and 4 positions. For every node it holds the id
and its entry in the renaming table (about 4 ids), and the gathered tensors. Workers each hold one such set, the
mini-batches they have ready, and their share of the sampler's graph.

.. math:: M = R + G + \max(1, w)\,((8 i + 4 o) e + 4 i n + V) + w\,(\rho\,G_{s} + f V), \quad G_s = i E + o (E + T)

Worked number: drawing 104 million edges with int64 ids takes 10 GB besides the graph.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(graph, edges, nodes, index_width, drawn, workers, replicated, prefetched, runtime) = symbols(
    "graph_memory batch_edges batch_nodes index_width drawn_bytes workers replicated_share prefetched runtime_bytes"
)
(graph_edges, targets, offset_width) = symbols("graph_edges graph_targets offset_width")

at_work = (8 * index_width + 4 * offset_width) * edges + 4 * index_width * nodes + drawn
sampler_graph = index_width * graph_edges + offset_width * (graph_edges + targets)

PHASE = Phase(
    name="memory_sampling",
    result="sampling_memory",
    unit="B",
    expression=runtime
    + graph
    + sympy.Max(1, workers) * at_work
    + workers * (replicated * sampler_graph + prefetched * drawn),
    meaning="the graph, samplers at work and mini-batches held ready",
    source="lgnnic2026",
    assumption="workers are processes; all of them reach their peak at once",
)
