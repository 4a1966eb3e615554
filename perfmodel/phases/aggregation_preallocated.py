r"""Aggregation into a buffer of the tensor's full size: each byte is copied once.

.. math:: t = V / B_r + V\,t_f\,[V > L] + d\,V\,t_m

LGNNIC's DOCA mechanism copies each chunk from the fixed DMA buffer to a larger local one. A buffer above ``L`` is mapped
afresh for every tensor, and each of its pages faults at first touch (glibc's mmap threshold, malloc.c
DEFAULT_MMAP_THRESHOLD_MAX). Where the buffer is kept, the share ``d`` of it was displaced
from the receiver's cache since the last mini-batch.

Worked number: 250 MB at 10 GB/s take 25 ms, and 125 ms more where first touch costs 0.5 ns a byte.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbol, symbols
from perfmodel.phases._displaced import displaced

tensor_bytes, copy_bandwidth, fault_time, limit = symbols(
    "tensor_bytes receiver_copy_bandwidth fault_time receiver_heap_limit"
)

displaced_share = displaced("receiver_displacement_time")

PHASE = Phase(
    name="aggregation_preallocated",
    result="aggregation_time",
    unit="s",
    expression=tensor_bytes / copy_bandwidth
    + sympy.Piecewise((tensor_bytes * fault_time, tensor_bytes > limit), (0, True))
    + displaced_share * tensor_bytes * symbol("link_displaced_byte_time"),
    meaning="copy each chunk to its place in the receiver's buffer",
    source="lgnnic2026",
    assumption="the buffer is given back after each tensor where its pages fault, and kept where they do not",
    regimes=(Condition(tensor_bytes > limit, "the buffer is mapped afresh: every page faults at first touch"),),
)
