r"""Memory work: what an application process does between its messages, measured by its memory traffic.

With the memory-to-communication ratio ``m`` and ``V`` bytes of messages in ``V/c`` buffers,

.. math:: t = \frac{V}{c}\,t_s + m\,V\,\max\!\left(\frac1{B_w},\ \frac{P}{B_m}\right)

A process moves memory at its own rate ``B_w`` (dependent and scattered accesses keep it far below the memory's), until
the ``P`` processes of a node share what its memory gives.

Worked number: 1 GB of messages at a ratio of 2 and 4 GB/s take 0.5 s.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._messages import filled, volume

(ratio, rate, per_slice, processes, memory) = symbols(
    "memory_ratio work_bandwidth time_per_slice processes host_memory_bandwidth"
)

PHASE = Phase(
    name="memory_work",
    result="memory_work_time",
    unit="s",
    expression=filled * per_slice + ratio * volume * sympy.Max(1 / rate, processes / memory),
    meaning="the application's own work on memory",
    source="buddy2026",
    assumption="memory traffic grows with communication; all processes work at once",
    regimes=(Condition(processes / memory > 1 / rate, "the host's memory bandwidth limits the application's work"),),
)
