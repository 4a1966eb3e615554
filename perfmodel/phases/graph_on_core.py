r"""One graph layer on one hop of a snapshot, on one core, in one direction.

.. math:: t = t_0 + 4 b\,a\,h\,f + b\,(a + h)\,e + b\,k\,(a\,p + m (r + a\,q)), \quad m = \left(1 - \frac{L}{V a w}\right)^+

``b`` nodes of ``a`` elements take in ``k`` neighbors each and give out ``h``: two products, and the neighbors' rows averaged.
Of the ``V`` rows, in random order, a core's cache of ``L`` bytes finds some; the others come from farther.

Worked number: 500 nodes of 100 elements, 20 neighbors each of 5,000 rows, a cache of half of them: at 50 ns a missed row and
0.1 ns an element, 0.35 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(targets, width, fanout, first, dimension, hidden) = symbols(
    "batch_targets hop_width hop_fanout is_first_layer feature_dimension hidden_width"
)
(call, operation, element, passed) = symbols(
    "graph_call_time graph_operation_time graph_element_time neighbor_element_time"
)
(rows, row_width, cache, missed_row, missed_element) = symbols(
    "snapshot_nodes row_width near_cache missed_row_time missed_element_time"
)
nodes = targets * width
inputs = first * dimension + (1 - first) * hidden
missed = sympy.Max(1 - cache / (rows * inputs * row_width), 0)

PHASE = Phase(
    name="graph_on_core",
    result="layer_time",
    unit="s",
    expression=call
    + 4 * nodes * inputs * hidden * operation
    + nodes * (inputs + hidden) * element
    + nodes * fanout * (inputs * passed + missed * (missed_row + inputs * missed_element)),
    meaning="a graph layer of one snapshot in one direction",
    source="mdgnn2026",
    assumption="one thread; every node has its neighbors drawn anew",
)
