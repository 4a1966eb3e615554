r"""A snapshot's reads as one stream: a node's neighbors are read as soon as it is, whatever hop others are at.

.. math:: t = z \left(t_r + (r - q)^+ t_p + L_0 + E(\min(r, q))\right)

At most ``q`` reads are in flight, one ending every ``t_p``; the last of them take what the fullest plane, bus or core
has left, ``E``, after which ``L_0`` of the last. ``t_r`` is lost while the neighborhood grows, ``z`` snapshots lie on
the device.

Worked number: 5,120 reads with 256 in flight, 0.33 us apart, are about 1.7 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._flash import beyond_first

(reads, depth, pace, latency, ramp, turns) = symbols(
    "flash_reads queue_depth flash_pace flash_latency ramp_time device_turns"
)
last = sympy.Min(reads, depth)
streamed = ramp + sympy.Max(reads - depth, 0) * pace + latency + beyond_first(last)

PHASE = Phase(
    name="flash_stream",
    result="flash_time",
    unit="s",
    expression=turns * sympy.Piecewise((streamed, reads >= 1), (reads * latency, True)),
    meaning="read a frame's pages from flash, hops out of order",
    source="mdgnn2026",
    assumption="pages lie at random over planes and channels",
)
