r"""Dequantization: widening the features that arrived to the precision of training.

.. math:: t = q\, (n_{el}\, t_d + n_{row}\, t_r + d\,G\,t_m + t_c + d\,t_0)

Worked number: 63 million elements at 0.25 ns take 15.75 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._displaced import displaced

(elements, rows, time_per_element, time_per_row, is_quantized) = symbols(
    "gathered_elements gathered_rows dequantize_time dequantize_row_time is_quantized"
)
(per_call, restart, per_displaced, features) = symbols(
    "dequantize_call_time dequantize_restart_time dequantize_displaced_byte_time gathered_bytes"
)
displaced_share = displaced()
work = elements * time_per_element + rows * time_per_row + displaced_share * features * per_displaced
once = per_call + displaced_share * restart

PHASE = Phase(
    name="dequantization",
    result="dequantization_time",
    unit="s",
    expression=is_quantized * (work + once),
    meaning="widen features to the precision of training",
    source="lgnnic2026",
    assumption="one pass over the elements, on one core",
)
