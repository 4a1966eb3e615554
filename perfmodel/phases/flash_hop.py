r"""A hop's reads by themselves: none of the next hop starts before all of this one are done.

.. math:: t = z \left(L_0 + \max\left((r - q)^+ t_p + E(\min(r, q)),\ E(r)\right)\right)

At most ``q`` reads are in flight, one ending every ``t_p``; what is in flight at the end takes what the fullest plane,
bus or core has of it, ``E``. However many are in flight, the fullest has its share of all reads to do.

Worked number: 128 reads at once over 16 channels, 17.12 us alone: the fullest channel gets 13.5, so the hop takes 81
us.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._flash import beyond_first

(reads, depth, pace, latency, turns) = symbols("flash_reads queue_depth flash_pace flash_latency device_turns")
paced = sympy.Max(reads - depth, 0) * pace + beyond_first(sympy.Min(reads, depth))
hop = latency + sympy.Max(paced, beyond_first(reads), evaluate=False)

PHASE = Phase(
    name="flash_hop",
    result="flash_time",
    unit="s",
    expression=turns * sympy.Piecewise((hop, reads >= 1), (reads * latency, True)),
    meaning="read a hop's pages from flash, hops in strict order",
    source="mdgnn2026",
    assumption="pages lie at random over planes and channels",
)
