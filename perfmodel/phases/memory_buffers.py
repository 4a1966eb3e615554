r"""Memory of the node that receives: the mini-batch as it arrives and as training wants it.

.. math:: M = R + V_s + V_d

Worked number: a mini-batch of 126 MB sent as fp16 and widened to 253 MB holds 379 MB.
"""

from perfmodel.phases._base import Phase, symbols

(sent, decoded, runtime) = symbols("batch_bytes decoded_bytes runtime_bytes")

PHASE = Phase(
    name="memory_buffers",
    result="buffer_memory",
    unit="B",
    expression=runtime + sent + decoded,
    meaning="the mini-batch as it arrives, and widened",
    source="lgnnic2026",
    assumption="one mini-batch at a time",
)
