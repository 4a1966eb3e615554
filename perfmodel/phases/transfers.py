r"""Aggregation: how many buffers a process's messages are sent off in, when fewer are open than there are next hops.

A message for a next hop that has no open buffer closes one early. With ``b`` buffers open for ``D`` next hops and runs of
``q`` messages to one of them, that happens to the share ``p = max(0, 1 - b/D)/q`` of the messages; a buffer of ``k``
messages is then sent off after a geometric number of them, cut at ``k``:

.. math:: s = \frac{n\,p}{1 - (1-p)^k} \approx \frac nk\,\frac{y}{1 - e^{-y}}, \quad y = k\,p

Full buffers (``p = 0``) are ``n/k``; one buffer for eight next hops with random targets is sent off after 1.14 messages.

Worked number: 1000 messages, 100 to a buffer, one buffer for two next hops, runs of 50: y = 1 and 15.8 transfers.
"""

import sympy
from sympy.codegen.cfunctions import expm1

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._messages import next_hops

(messages, size, capacity, open_buffers, run) = symbols("messages message_size buffer_size open_buffers run_length")

early = sympy.Max(1 - open_buffers / next_hops, 0) / run
losses = sympy.Max(capacity / size * early, sympy.Float(1e-9))  # not zero, whose limit are full buffers

PHASE = Phase(
    name="transfers",
    result="transfers",
    unit="",
    expression=messages * size / capacity * losses / -expm1(-losses),
    meaning="aggregation buffers that are sent off, full or early",
    source="buddy2026",
    assumption="next hops are equally likely, whichever buffer is closed early",
    regimes=(Condition(open_buffers < next_hops, "there are fewer buffers than next hops: they are sent off early"),),
)
