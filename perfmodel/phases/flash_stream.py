r"""A snapshot's reads as one stream: a node's neighbors are read as soon as it is, whatever hop others are at.

.. math:: t = z \left(t_r + L_0 + \max\left((r - q)^+ t_p + E(\min(r, q)),\ E(r)\right)\right)

At most ``q`` reads are in flight, one ending every ``t_p``; what is in flight at the end takes what the fullest plane,
bus or core has of it, ``E``. However many are in flight, the fullest has its share of all reads to do. ``t_r`` is lost
while the neighborhood grows, ``z`` snapshots lie on the device.

Worked number: 5,120 reads of 5.12 us on 16 channels, of which the fullest gets 352: 1.8 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._flash import beyond_first

(reads, depth, pace, latency, ramp, turns) = symbols(
    "flash_reads queue_depth flash_pace flash_latency ramp_time device_turns"
)
paced = sympy.Max(reads - depth, 0) * pace + beyond_first(sympy.Min(reads, depth))
streamed = ramp + latency + sympy.Max(paced, beyond_first(reads), evaluate=False)

PHASE = Phase(
    name="flash_stream",
    result="flash_time",
    unit="s",
    expression=turns * sympy.Piecewise((streamed, reads >= 1), (reads * latency, True)),
    meaning="read a frame's pages from flash, hops out of order",
    source="mdgnn2026",
    assumption="pages lie at random over planes and channels",
)
