r"""Training on one core: forward pass, backward pass and update, one kernel after the other.

.. math:: t = \frac{F}{\epsilon P} + p\,t_p + i\,t_i + o\,t_o + M\,t_m + l\,(t_l + d\,t_0),
          \quad M = W - (1 - d) \min(W, L)

``F`` counts the dense products (forward, gradient of the weights and, but for the first of ``l`` layers, of the input), ``p``
the message elements passed along edges (forward, and backward but for the first layer), ``i`` and ``o`` the elements that
layers take in and give out. On one core nothing overlaps, so that costs add up where a GPU's roofline takes the larger.
Of the ``W`` bytes of activations a cache of ``L`` bytes holds some, less the share ``d`` that was displaced since the last
step; the others come from memory.

Worked number: 1 GFLOP at 100 GFLOPS and 20 million message elements at 0.4 ns take 18 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._displaced import displaced, kept

(flop, passed, read, written, layers, width) = symbols(
    "product_flop passed_elements read_elements written_elements training_layers activation_width"
)
(peak, efficiency, per_passed, per_read, per_written) = symbols(
    "peak_flops compute_efficiency time_per_passed_element time_per_read_element time_per_written_element"
)
(per_layer, restart, per_missed, cache) = symbols(
    "time_per_layer training_restart_time training_missed_byte_time outer_cache"
)

activations = width * (read + written)
displaced_share, kept_share = displaced(), kept()
missed = activations - kept_share * sympy.Min(activations, cache)
elements = passed * per_passed + read * per_read + written * per_written

PHASE = Phase(
    name="training_on_core",
    result="training_time",
    unit="s",
    expression=flop / (peak * efficiency)
    + elements
    + missed * per_missed
    + layers * (per_layer + displaced_share * restart),
    meaning="forward pass, backward pass and update of the model on one core",
    source="williams2009",
    assumption="one core; kernels follow one another",
)
