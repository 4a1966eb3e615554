r"""Out-of-order hops: flash waits while the first hops have too few reads to fill its queue.

.. math:: t = L_0 (1 - r/q)^+

The last hop has nothing to wait for it.

Worked number: a first hop of 128 reads with room for 256 leaves half of 17.12 us unused.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(reads, fanout, latency, depth) = symbols("flash_reads hop_fanout flash_latency queue_depth")

PHASE = Phase(
    name="hop_ramp",
    result="ramp_time",
    unit="s",
    expression=latency * sympy.Max(1 - reads / depth, 0) * sympy.Min(fanout, 1),
    meaning="flash waits for the sampled neighborhood to grow",
    source="mdgnn2026",
)
