r"""What the exchange of one state holds of the sender's engine and link.

.. math:: t = m (t_m + w)

Worked number: 128 messages at 1.8 us each: 0.23 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import message, messages

(link, engine) = symbols("link_bandwidth peer_message_time")

PHASE = Phase(
    name="exchange_engine",
    result="exchange_pace",
    unit="s",
    expression=messages * (engine + message / link),
    meaning="one state in a device's engine",
    source="mdgnn2026",
)
