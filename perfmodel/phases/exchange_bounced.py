r"""A state bounced through the host: up and down again, each message through the software stack on either way.

.. math:: t = 2 (w + l + t_p) + (m - 1) \max(w,\ 2 t_p/c), \quad w = \frac{h\,b + i}{B}

``m`` messages follow one another; the stack takes ``t_p`` for a pass and works on ``c`` at a time.

Worked number: 128 messages, 10 us a pass, 3 at a time: 0.87 ms, where 16 B over the link take half a nanosecond.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._chain import message, messages

(link, latency, pass_time, passes) = symbols("link_bandwidth link_latency pass_time passes")
wire = message / link
stack = 2 * pass_time / passes

PHASE = Phase(
    name="exchange_bounced",
    result="exchange_time",
    unit="s",
    expression=2 * (wire + latency + pass_time) + sympy.Max(messages - 1, 0) * sympy.Max(wire, stack),
    meaning="a state through the host to the next snapshot's device",
    source="mdgnn2026",
    assumption="every target's state is a message of its own",
    regimes=(Condition(stack > wire, "the host's software sets the pace of exchanges, not the link"),),
)
