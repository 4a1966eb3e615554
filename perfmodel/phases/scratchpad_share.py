r"""Share of the first layer's inputs that stay beside the array from the forward to the backward pass.

.. math:: \kappa = \min\left(1, \frac{S}{2 f n_s}\right)

A row and a sum for each node that sums up neighbors.

Worked number: 1,664 nodes with rows of 1,204 B need 4.0 MB: all of it stays in 6 MB, half of it in 2 MB.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(scratchpad, summed, dimension, row_width) = symbols("scratchpad summed_nodes feature_dimension row_width")
inputs = 2 * dimension * row_width * summed

PHASE = Phase(
    name="scratchpad_share",
    result="kept_share",
    unit="",
    expression=sympy.Min(scratchpad / inputs, 1),
    meaning="inputs of the first layer that stay in the scratchpad",
    source="mdgnn2026",
    regimes=(Condition(inputs > scratchpad, "the scratchpad is too small for a mini-batch's inputs"),),
)
