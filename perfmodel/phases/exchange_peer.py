r"""A state sent straight to the next snapshot's device: every message costs the sender's engine its setup.

.. math:: t = m (t_m + w) + 2 l

Worked number: 128 messages at 1.8 us each: 0.23 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import message, messages

(link, latency, engine) = symbols("link_bandwidth link_latency peer_message_time")

PHASE = Phase(
    name="exchange_peer",
    result="exchange_time",
    unit="s",
    expression=messages * (engine + message / link) + 2 * latency,
    meaning="a state straight to the next snapshot's device",
    source="mdgnn2026",
    assumption="the switch does not block, and every pair of devices can reach each other",
)
