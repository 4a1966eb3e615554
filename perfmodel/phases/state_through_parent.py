r"""A state from process to process through their parent, which passes each message on.

.. math:: t = t_w + m\,t_m + b\,t_b

Worked number: 4 messages of 10 us, 100 us to wake two processes: 140 us.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import messages, state

(wake, each, byte) = symbols("relayed_wake_time relayed_message_time relayed_byte_time")

PHASE = Phase(
    name="state_through_parent",
    result="exchange_time",
    unit="s",
    expression=wake + messages * each + state * byte,
    meaning="a state through the parent to the next snapshot's process",
    source="mdgnn2026",
)
