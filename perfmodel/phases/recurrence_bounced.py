r"""Recurrent phase through the host: the chain, then the last state through the software to the loss, and its gradient back.

.. math:: t = t_c + 2 \left(w + l + t_p + (m - 1) \max(w, t_p/c)\right)

Worked number: 5.2 ms of chain, and 128 messages of 10 us a pass, 3 at a time, which are 0.43 ms either way: 6.1 ms for a
frame of 4 snapshots.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import message, messages

(chain, link, latency, pass_time, passes) = symbols("chain_time link_bandwidth link_latency pass_time passes")
wire = message / link
one_way = wire + latency + pass_time + sympy.Max(messages - 1, 0) * sympy.Max(wire, pass_time / passes)

PHASE = Phase(
    name="recurrence_bounced",
    result="recurrence_time",
    unit="s",
    expression=chain + 2 * one_way,
    meaning="recurrent cells, handovers through the host, and the loss",
    source="mdgnn2026",
    assumption="the loss is the host's, and states reach it as they reach any other device",
)
