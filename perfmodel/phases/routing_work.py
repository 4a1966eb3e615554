r"""Routing work: sorting a process's messages by next hop, sending them off and delivering them, on one thread.

A buffer is taken up (``t_b``, and ``t_d`` for each of ``D`` next hops), each message looked at and copied at its source and
at the nodes between (``g = 1 + (h - 1) f`` times); each of ``s`` transfers is posted, completed, and taken in; what left its
node (the share ``f``) is delivered at the other end. All nodes are alike, so a node delivers as much as it sends.

.. math:: t = g\left(\frac{V}{c}(t_b + D\,t_d) + n\,t_m + V\,t_B + s\,t_s\right) + f\,(n\,t'_m + V\,t'_B)

Worked number: a million messages over 8 nodes, at 10 ns for sorting and 10 ns for delivery, take 18.75 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled, next_hops, remote, sorted_times, volume

(messages, transfers, per_buffer, per_partner, per_message, per_byte) = symbols(
    "messages transfers routing_time_per_buffer routing_time_per_partner routing_time_per_message routing_time_per_byte"
)
(per_transfer, per_delivered, per_delivered_byte) = symbols(
    "time_per_transfer delivery_time_per_message delivery_time_per_byte"
)

taking = filled * (per_buffer + next_hops * per_partner)
sorting = taking + messages * per_message + volume * per_byte + transfers * per_transfer
delivering = messages * per_delivered + volume * per_delivered_byte

PHASE = Phase(
    name="routing_work",
    result="routing_work",
    unit="s",
    expression=sorted_times * sorting + remote * delivering,
    meaning="sort, aggregate and deliver one process's messages",
    source="buddy2026",
    assumption="all nodes are alike; cost is linear in buffers, messages, bytes and transfers",
)
