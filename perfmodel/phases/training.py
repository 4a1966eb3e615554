r"""Training: forward and backward pass as a roofline (Williams 2009) of operations and memory traffic.

.. math:: t = \max\!\left(\frac{F}{\epsilon_c P}, \frac{M}{\epsilon_m B_m}\right) + k\, t_l

``F`` and ``M`` add up over the layers: dense products of each layer's nodes, messages gathered and scattered along its
edges. ``k`` kernels have a launch floor that small batches can't get below.

Worked number: 1 TFLOP at half of 19.5 TFLOPS takes 102.6 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(flop, traffic, kernels, peak, efficiency, bandwidth, memory_efficiency, launch) = symbols(
    "training_flop training_bytes training_kernels peak_flops compute_efficiency memory_bandwidth memory_efficiency "
    "launch_time"
)
compute_bound = flop / (peak * efficiency)
memory_bound = traffic / (bandwidth * memory_efficiency)

PHASE = Phase(
    name="training",
    result="training_time",
    unit="s",
    expression=sympy.Max(compute_bound, memory_bound) + kernels * launch,
    meaning="forward pass, backward pass and update of the model",
    source="williams2009",
    regimes=(
        Condition(compute_bound > memory_bound, "the GPU's arithmetic is the bottleneck of training"),
        Condition(kernels * launch > sympy.Max(compute_bound, memory_bound), "kernel launches are the bottleneck"),
    ),
)
