r"""Sum of all gradients, sent to every process.

.. math:: t = N (t_w + p\,t_m + W t_b)

Worked number: 40 kB in 2 messages at 30 us to each of 3 processes: 90 us.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import devices, pieces, weights

(wake, each, byte) = symbols("send_wake_time send_message_time send_byte_time")

PHASE = Phase(
    name="weights_to_processes",
    result="update_time",
    unit="s",
    expression=devices * (wake + pieces * each + weights * byte),
    meaning="gradients of all snapshots to every process",
    source="mdgnn2026",
)
