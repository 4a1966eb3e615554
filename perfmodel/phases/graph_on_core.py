r"""One graph layer on one hop of a snapshot, on one core, in one direction.

.. math:: t = t_0 + 4 b\,a\,h\,f + b\,(a + h)\,e + b\,k\,(r + a\,p)

``b`` nodes of ``a`` elements take in ``k`` neighbors each and give out ``h``: two products, and the neighbors' rows averaged.

Worked number: 500 nodes of 100 elements, 20 neighbors each, at 50 ns a row and 0.1 ns an element: 0.6 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(targets, width, fanout, first, dimension, hidden) = symbols(
    "batch_targets hop_width hop_fanout is_first_layer feature_dimension hidden_width"
)
(call, operation, element, row, passed) = symbols(
    "graph_call_time graph_operation_time graph_element_time neighbor_row_time neighbor_element_time"
)
nodes = targets * width
inputs = sympy.Piecewise((dimension, first > 0), (hidden, True))

PHASE = Phase(
    name="graph_on_core",
    result="layer_time",
    unit="s",
    expression=call
    + 4 * nodes * inputs * hidden * operation
    + nodes * (inputs + hidden) * element
    + nodes * fanout * (row + inputs * passed),
    meaning="a graph layer of one snapshot in one direction",
    source="mdgnn2026",
    assumption="one thread; every node has its neighbors drawn anew",
)
