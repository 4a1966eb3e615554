r"""Dense products of one graph layer for one hop on a systolic array: forward, gradients of the weights and of the input.

.. math:: t = \frac{c(n, 2d, h) + c(2d, n, h) + [l > 1]\,c(n, h, 2d)}{\nu}, \quad
          c(m, k, w) = \lceil k/R \rceil \lceil w/C \rceil (m + [\text{targets}] (R + C))

``n`` nodes with ``d`` inputs of their own and as many from their neighbors give ``h`` outputs. Tiles that ``k`` and
``w`` do not fill, and the filling of the array (once for all hops of a layer), are what keeps it from its peak. The
first layer needs no gradient of its input.

Worked number: 1,664 targets, 602 inputs, 6 outputs on 64 x 64 at 800 MHz: 34,048 cycles forward, 43 us; 4 % of the
multipliers work.
"""

from perfmodel.phases._array import cycles, frequency
from perfmodel.phases._base import Phase, symbols

(nodes, is_first, dimension, hidden, fills) = symbols(
    "hop_nodes is_first_layer feature_dimension hidden_width is_target_hop"
)
inner = 2 * (is_first * dimension + (1 - is_first) * hidden)
forward = cycles(nodes, inner, hidden, fills)
weights = cycles(inner, nodes, hidden, fills)
inputs = (1 - is_first) * cycles(nodes, hidden, inner, fills)

PHASE = Phase(
    name="layer_products",
    result="product_time",
    unit="s",
    expression=(forward + weights + inputs) / frequency,
    meaning="dense products of a graph layer, forward and backward",
    source="mdgnn2026",
    assumption="weights stay in place while rows pass through; tiles one after another",
)
