r"""Aggregation into a buffer of the tensor's full size: each byte is copied once.

.. math:: t = V / B_r

LGNNIC's DOCA mechanism copies each chunk from the fixed DMA buffer to a larger local one.

Worked number: 250 MB at 10 GB/s take 25 ms.
"""

from perfmodel.phases._base import Phase, symbols

tensor_bytes, copy_bandwidth = symbols("tensor_bytes receiver_copy_bandwidth")

PHASE = Phase(
    name="aggregation_preallocated",
    result="aggregation_time",
    unit="s",
    expression=tensor_bytes / copy_bandwidth,
    meaning="copy each chunk to its place in the receiver's buffer",
    source="lgnnic2026",
)
