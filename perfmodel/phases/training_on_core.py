r"""Training on one core: forward pass, backward pass and update, one kernel after the other.

.. math:: t = \frac{F}{\epsilon P} + p\,t_p + i\,t_i + o\,t_o + t_s + d\,t_0

``F`` counts the dense products (forward, gradient of the weights and, but for the first layer, of the input), ``p`` the
message elements passed along edges (forward, and backward but for the first layer), ``i`` and ``o`` the elements that
layers take in and give out. On one core nothing overlaps, so that costs add up where a GPU's roofline takes the larger. ``d`` is the share of the cache that was displaced since the last step.

Worked number: 1 GFLOP at 100 GFLOPS and 20 million message elements at 0.4 ns take 18 ms.
"""

from perfmodel.phases._base import Phase, symbol, symbols
from perfmodel.phases._displaced import displaced

restart = symbol("training_restart_time")
(flop, passed, read, written) = symbols("product_flop passed_elements read_elements written_elements")
(peak, efficiency, per_passed, per_read, per_written, per_step) = symbols(
    "peak_flops compute_efficiency time_per_passed_element time_per_read_element time_per_written_element time_per_step"
)

PHASE = Phase(
    name="training_on_core",
    result="training_time",
    unit="s",
    expression=flop / (peak * efficiency) + passed * per_passed + read * per_read + written * per_written + per_step + displaced() * restart,
    meaning="forward pass, backward pass and update of the model on one core",
    source="williams2009",
    assumption="one core; kernels follow one another",
)
