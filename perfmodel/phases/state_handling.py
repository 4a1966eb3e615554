r"""What a state's messages hold of the cores: sending and taking them, and once more both where the parent passes them on.

.. math:: t = (1 + r) (t_w + 2 (m\,t_m + b\,t_b))

Taking a message costs about as much as sending it. Nothing is sent where one process has all snapshots.

Worked number: 4 messages of 5 us, 20 us to wake the receiver: 60 us, and 120 us through the parent.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import messages, state, travels

(relayed, wake, each, byte) = symbols("is_relayed send_wake_time send_message_time send_byte_time")

PHASE = Phase(
    name="state_handling",
    result="handling_time",
    unit="s",
    expression=travels * (1 + relayed) * (wake + 2 * (messages * each + state * byte)),
    meaning="one state's messages on the cores",
    source="mdgnn2026",
)
