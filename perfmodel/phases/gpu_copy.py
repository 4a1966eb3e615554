r"""Host-to-GPU copy of the mini-batch, as training wants it.

.. math:: t = V_d / B + k\, l

Worked number: 250 MB at 6 GB/s and three copies of 10 us take 41.7 ms.
"""

from perfmodel.phases._base import Phase, symbols

decoded_bytes, bandwidth, latency, tensors = symbols("decoded_bytes gpu_link_bandwidth gpu_link_latency tensors")

PHASE = Phase(
    name="gpu_copy",
    result="gpu_copy_time",
    unit="s",
    expression=decoded_bytes / bandwidth + tensors * latency,
    meaning="copy the mini-batch from host memory to the GPU",
    source="lgnnic2026",
    assumption="one copy for each tensor, not overlapped with another",
)
