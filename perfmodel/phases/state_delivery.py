r"""The last state through the host's software to the loss, and its gradient back.

.. math:: t = 2 \left(w + l + t_p + (m - 1) \max(w, t_p/c)\right)

Worked number: 128 messages, 10 us a pass, 3 at a time: 0.43 ms either way.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import message, messages

(link, latency, pass_time, passes) = symbols("link_bandwidth link_latency pass_time passes")
wire = message / link

PHASE = Phase(
    name="state_delivery",
    result="delivery_time",
    unit="s",
    expression=2 * (wire + latency + pass_time + sympy.Max(messages - 1, 0) * sympy.Max(wire, pass_time / passes)),
    meaning="the last state to the loss and its gradient back",
    source="mdgnn2026",
    assumption="the loss is the host's, and states reach it as they reach any other device",
)
