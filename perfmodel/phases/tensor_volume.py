r"""Quantized transfer volume: the bytes of one tensor as it is sent.

.. math:: V = n_{el}\, w + n_{row}\, s

Each tensor is counted by its own width: features by the precision of the plan (4-bit elements are half a byte, and
scaled precisions add the bytes of a scale for each row), the edge index by the index width, labels by theirs.

Worked number: 1,000 rows of 100 elements as int8 with a 4-byte scale are 104,000 bytes.
"""

from perfmodel.phases._base import Phase, symbols

elements, width, rows, scale = symbols("tensor_elements element_width tensor_rows scale_bytes")

PHASE = Phase(
    name="tensor_volume",
    result="tensor_bytes",
    unit="B",
    expression=elements * width + rows * scale,
    meaning="bytes of one tensor as sent",
    source="lgnnic2026",
)
