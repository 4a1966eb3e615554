r"""Quantization: rounding the gathered features to the precision that is sent.

.. math:: t = q\left(\frac{n_{el}\, t_q + n_{row}\, t_r + d\,G\,t_m}{D} + t_c + d\,t_0\right)

Nothing where features travel as they are stored (q = 0); ``d`` is the share of the caches that
was displaced since the last mini-batch, ``G`` the bytes of the features. LGNNIC rounds in software on the SmartNIC's cores.

Worked number: 63 million elements at 0.5 ns take 31.5 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._displaced import displaced

(elements, rows, time_per_element, time_per_row, is_quantized, devices) = symbols(
    "gathered_elements gathered_rows quantize_time quantize_row_time is_quantized devices"
)
(per_call, restart, per_displaced, features) = symbols(
    "quantize_call_time quantize_restart_time quantize_displaced_byte_time gathered_bytes"
)
displaced_share = displaced()
work = elements * time_per_element + rows * time_per_row + displaced_share * features * per_displaced
once = per_call + displaced_share * restart

PHASE = Phase(
    name="quantization",
    result="quantization_time",
    unit="s",
    expression=is_quantized * (work / devices + once),
    meaning="round features to the precision that is sent",
    source="lgnnic2026",
    assumption="one pass over the elements, on one core",
)
