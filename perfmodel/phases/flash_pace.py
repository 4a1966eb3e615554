r"""A closed loop of reads: with ``q`` in flight each takes ``L(q)``, and one ends every ``L(q)/q``.

.. math:: L(q) = \left(L_0^p + (q/X)^p\right)^{1/p}

Worked number: 17.12 us alone, 3.125 million reads a second at most, 64 in flight, p = 2.1: 26.3 us each, 2.44 million a
second.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(latency, throughput, sharpness, depth) = symbols("flash_latency flash_throughput flash_sharpness queue_depth")

load = depth / (throughput * latency)
larger, smaller = sympy.Max(load, 1), sympy.Min(load, 1 / load)  # so that no power overflows

PHASE = Phase(
    name="flash_pace",
    result="flash_pace",
    unit="s",
    expression=latency * larger * (1 + smaller**sharpness) ** (1 / sharpness) / depth,
    meaning="time from one flash read to the next",
    source="mdgnn2026",
    assumption="each read that ends is followed by the next at once",
    regimes=(Condition(load < 1, "more reads in flight would make flash faster"),),
)
