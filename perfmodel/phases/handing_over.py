r"""Handing over: what an application's core pays to pass full buffers to an agent, beyond writing them.

.. math:: t = \frac{V}{c}\,t_h + V\,t_w

Worked number: 80 MB in buffers of 8 kB, 0.2 us each, take 2 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled, volume

(per_buffer, per_byte) = symbols("handover_time_per_buffer written_byte_time")

PHASE = Phase(
    name="handing_over",
    result="handing_over_time",
    unit="s",
    expression=filled * per_buffer + volume * per_byte,
    meaning="hand full buffers to the agent",
    source="buddy2026",
)
