r"""Graph work of one snapshot beside its reads: memory or arithmetic, whichever takes longer, and the cores' part.

.. math:: t = \max\!\left(\frac{M}{B_m},\ t_p + t_s\right) + n\,t_n

Worked number: 24.5 MB at 25.6 GB/s are 0.96 ms, more than the array needs; 5,120 nodes at 70 ns add 0.36 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(traffic, bandwidth, products, sums, nodes, per_node) = symbols(
    "graph_traffic memory_bandwidth product_time sum_time hop_nodes graph_time_per_node"
)
memory_bound = traffic / bandwidth
compute_bound = products + sums

PHASE = Phase(
    name="snapshot_graph",
    result="snapshot_time",
    unit="s",
    expression=sympy.Max(memory_bound, compute_bound) + nodes * per_node,
    meaning="sampling and graph layers of one snapshot",
    source="mdgnn2026",
    regimes=(Condition(compute_bound > memory_bound, "the array is the bottleneck of the graph layers"),),
)
