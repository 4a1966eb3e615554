r"""Backward pass of a frame: the chain, graph layers of the last process to have its gradients, and those to the parent.

.. math:: t = t_c + \left\lceil \frac{s}{N} \right\rceil t_g + t_w + p\,t_m + W t_b

Worked number: a chain of 3 ms, 4 graph layers of 0.1 ms and 40 kB of gradients in 2 messages at 0.1 ms: 3.5 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import pieces, rounds, weights

(chain, layer, wake, each, byte) = symbols("chain_time layer_time wake_time way_message_time way_byte_time")

PHASE = Phase(
    name="backward_on_cores",
    result="backward_time",
    unit="s",
    expression=chain + rounds * layer + wake + pieces * each + weights * byte,
    meaning="recurrent cells and graph layers backward, and their gradients to the parent",
    source="mdgnn2026",
    assumption="the other processes' graph layers are done meanwhile",
)
