r"""Sums over the neighbors of one hop's nodes for one graph layer in the vector unit, and their gradients.

.. math:: t = \frac{2 - i}{\nu} \left\lceil \frac{n\,\min(k, g)\,d}{w} \right\rceil

``k`` neighbors were drawn for each node, of the ``g`` that it has. The first layer (``i = 1``) needs no gradient of its input.

Worked number: 1,664 nodes with 3 neighbors of 602 elements, 64 at a time at 800 MHz: 46,956 cycles forward, 59 us; none
backward.
"""

import sympy

from perfmodel.phases._array import frequency
from perfmodel.phases._base import Phase, symbols

(nodes, fanout, is_first, dimension, hidden, vector) = symbols(
    "hop_nodes hop_fanout is_first_layer feature_dimension hidden_width vector_width"
)
(all_nodes, edges, bias) = symbols("snapshot_nodes snapshot_edges degree_bias")
elements = nodes * sympy.Min(fanout, bias * edges / all_nodes) * (is_first * dimension + (1 - is_first) * hidden)

PHASE = Phase(
    name="layer_sums",
    result="sum_time",
    unit="s",
    expression=(2 - is_first) * sympy.ceiling(elements / vector) / frequency,
    meaning="sums over a layer's neighbors, forward and backward",
    source="mdgnn2026",
)
