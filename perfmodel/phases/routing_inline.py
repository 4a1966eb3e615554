r"""Routing inline: the application's core routes between its own work, which displaces the routing tables from its caches.

After ``m c`` bytes of memory work for each buffer of ``c``, the share ``1 - exp(-m c/X)`` of them is gone and comes from memory
once more:

.. math:: t = t_{routing} + \frac{V}{c}\left(1 - e^{-m c/X}\right) t_r

Worked number: 1 ms of routing, 1000 buffers, tables displaced as far as makes no difference, 2 us to restart: 3 ms.
"""

from sympy.codegen.cfunctions import expm1

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled

(work, ratio, size, displacement, restart) = symbols(
    "routing_work memory_ratio buffer_size displacement routing_restart_time"
)

displaced_share = -expm1(-ratio * size / displacement)

PHASE = Phase(
    name="routing_inline",
    result="inline_routing_time",
    unit="s",
    expression=work + filled * displaced_share * restart,
    meaning="route the process's own messages between its work",
    source="buddy2026",
)
