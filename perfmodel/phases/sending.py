r"""Sending: all tensors of a mini-batch, one after the other, and what both ends need to start on it.

.. math:: t = \sum t_{tensor} + d\,t_0

Between two mini-batches other phases displace the share ``d`` of the receiver's cache, and with it the code and buffers of
both ends; the first tensor waits for them.

Worked number: tensors of 20 ms in all and 0.1 ms to start on them, half displaced, take 20.05 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._displaced import displaced

(tensors, restart) = symbols("transfer_time link_restart_time")

displaced_share = displaced("receiver_displacement_time")

PHASE = Phase(
    name="sending",
    result="sending_time",
    unit="s",
    expression=tensors + displaced_share * restart,
    meaning="send all tensors of the mini-batch",
    source="lgnnic2026",
    assumption="the next tensor is sent when the last one is acknowledged",
)
