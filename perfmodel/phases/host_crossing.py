r"""Crossing between host and agent: every byte goes to the agent once, and what is delivered comes back the other way.

.. math:: t = \frac{P\,V}{B} + l

Worked number: four processes with 1 GB each over 50 GB/s take 80 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import volume

(processes, bandwidth, latency) = symbols("processes host_link_bandwidth host_link_latency")

PHASE = Phase(
    name="host_crossing",
    result="host_crossing_time",
    unit="s",
    expression=processes * volume / bandwidth + latency,
    meaning="move messages between host and agent",
    source="buddy2026",
    assumption="both directions at once",
)
