r"""DRAM traffic of an agent: each byte that is loaded was written before, is written into an aggregation buffer and read again.

.. math:: t = \frac{4 L}{\eta\,B_m}

Worked number: 7.5 GB of loads at 60 GB/s take 0.5 s.
"""

from perfmodel.phases._base import Phase, symbols

(loads, bandwidth, efficiency) = symbols("agent_loads memory_bandwidth memory_efficiency")

PHASE = Phase(
    name="agent_memory",
    result="agent_memory_time",
    unit="s",
    expression=4 * loads / (efficiency * bandwidth),
    meaning="move messages through the agent's memory",
    source="ddio",
    assumption="what is pushed out of the cache on its way in is also on its way out",
)
