r"""Routing on an agent: threads of a DPU, or of spare cores, route the messages of all processes of a node.

.. math:: t = \frac{P}{S(T)}\left(t_{routing} + \frac{V}{c}\,t_a + V\,t_r\right), \quad
          S = \frac{T}{1 + \sigma (T - 1) + \kappa\,T (T - 1)}

by the Universal Scalability Law (Gunther 2007), with no more threads running than there are cores. Each buffer also costs
its acknowledgement, each byte what reading it from the application's side takes more.

Worked number: four processes of 1 s each on five threads with a serial share of 5 % take 0.96 s.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._messages import filled, volume

(work, processes, threads, cores, serial, contention) = symbols(
    "routing_work processes routing_threads cores routing_serial_share routing_contention"
)
(acknowledgement, per_byte) = symbols("handover_acknowledgement read_byte_time")

running = sympy.Min(threads, cores)
speedup = running / (1 + serial * (running - 1) + contention * running * (running - 1))

PHASE = Phase(
    name="routing_offloaded",
    result="offloaded_routing_time",
    unit="s",
    expression=processes * (work + filled * acknowledgement + volume * per_byte) / speedup,
    meaning="route the messages of all processes of a node",
    source="buddy2026",
    assumption="threads follow the Universal Scalability Law; processes share them evenly",
    valid_when=(Condition(threads <= cores, "more routing threads than cores: the rest wait"),),
)
