r"""Emission: writing messages into a buffer, wherever they are routed.

.. math:: t = \frac{V}{c}\,t_b + n\,t_m + V\,t_B

Worked number: a million messages at 5 ns each take 5 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled, volume

(messages, per_buffer, per_message, per_byte) = symbols(
    "messages emission_time_per_buffer emission_time_per_message emission_time_per_byte"
)

PHASE = Phase(
    name="emission",
    result="emission_time",
    unit="s",
    expression=filled * per_buffer + messages * per_message + volume * per_byte,
    meaning="write the messages into buffers",
    source="buddy2026",
)
