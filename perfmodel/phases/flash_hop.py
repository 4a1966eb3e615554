r"""A hop's reads by themselves: none of the next hop starts before all of this one are done.

.. math:: t = z \left((r - q)^+ t_p + L_0 + E(\min(r, q))\right)

Worked number: 128 reads at once over 16 channels, 17.12 us alone: the fullest channel gets 13.5, so the hop takes 81
us.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._flash import beyond_first

(reads, depth, pace, latency, turns) = symbols("flash_reads queue_depth flash_pace flash_latency device_turns")
last = sympy.Min(reads, depth)
hop = sympy.Max(reads - depth, 0) * pace + latency + beyond_first(last)

PHASE = Phase(
    name="flash_hop",
    result="flash_time",
    unit="s",
    expression=turns * sympy.Piecewise((hop, reads >= 1), (reads * latency, True)),
    meaning="read a hop's pages from flash, hops in strict order",
    source="mdgnn2026",
    assumption="pages lie at random over planes and channels",
)
