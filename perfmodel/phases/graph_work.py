r"""Graph work of a frame on the busiest device: memory or arithmetic, whichever takes longer, and the cores' part.

.. math:: t = z \left(\max\!\left(\frac{M}{B_m},\ t_p + t_s\right) + n\,t_n\right)

Worked number: 24.5 MB at 25.6 GB/s are 0.96 ms, more than the array needs; 5,120 nodes at 70 ns add 0.36 ms; a device
that works on one snapshot for each frame takes 1.32 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(turns, traffic, bandwidth, products, sums, nodes, per_node) = symbols(
    "device_turns graph_traffic memory_bandwidth product_time sum_time hop_nodes graph_time_per_node"
)
memory_bound = traffic / bandwidth
compute_bound = products + sums

PHASE = Phase(
    name="graph_work",
    result="graph_work_time",
    unit="s",
    expression=turns * (sympy.Max(memory_bound, compute_bound) + nodes * per_node),
    meaning="sampling and graph layers of a frame's snapshots",
    source="mdgnn2026",
    regimes=(Condition(compute_bound > memory_bound, "the array is the bottleneck of the graph layers"),),
)
