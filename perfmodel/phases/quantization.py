r"""Quantization: rounding the gathered features to the precision that is sent.

.. math:: t = q \frac{(n_{el}\, t_q + n_{row}\, t_r)}{D}

Nothing where features travel as they are stored (q = 0). LGNNIC rounds in software on the SmartNIC's cores.

Worked number: 63 million elements at 0.5 ns take 31.5 ms.
"""

from perfmodel.phases._base import Phase, symbols

(elements, rows, time_per_element, time_per_row, is_quantized, devices) = symbols(
    "gathered_elements gathered_rows quantize_time quantize_row_time is_quantized devices"
)

PHASE = Phase(
    name="quantization",
    result="quantization_time",
    unit="s",
    expression=is_quantized * (elements * time_per_element + rows * time_per_row) / devices,
    meaning="round features to the precision that is sent",
    source="lgnnic2026",
    assumption="one pass over the elements, on one core",
)
