r"""Routing inline: the application's core routes between its own work, which displaces the routing tables from its caches.

After ``m c`` bytes of memory work for each buffer of ``c``, the share ``1 - exp(-m c/X)`` of them is gone, and of the buffers
that messages are written into and gathered in. It comes from memory once more:

.. math:: t = t_{routing} + \left(1 - e^{-m c/X}\right) \left(\frac{V}{c}\,t_r + V\,t_d\right)

Worked number: 1 ms of routing, 1000 buffers, tables displaced as far as makes no difference, 2 us to restart: 3 ms.
"""

from sympy.codegen.cfunctions import expm1

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled, volume

(work, ratio, size, displacement, restart, per_byte) = symbols(
    "routing_work memory_ratio buffer_size displacement routing_restart_time routing_displaced_byte_time"
)

displaced_share = -expm1(-ratio * size / displacement)

PHASE = Phase(
    name="routing_inline",
    result="inline_routing_time",
    unit="s",
    expression=work + displaced_share * (filled * restart + volume * per_byte),
    meaning="route the process's own messages between its work",
    source="buddy2026",
)
