r"""DRAM loads of an agent without direct cache access: what arrives lies in memory and is loaded once each time it is routed.

.. math:: L = P\,V\,(g + f)

with ``g`` sortings of each byte and the share ``f`` delivered from another node.

Worked number: 1 GB from each of four processes over eight nodes is 7.5 GB of loads on every node.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import remote, sorted_times, volume

(processes,) = symbols("processes")

PHASE = Phase(
    name="agent_loads",
    result="agent_loads",
    unit="B",
    expression=processes * volume * (sorted_times + remote),
    meaning="load what arrives from memory",
    source="ddio",
    assumption="writing to memory from outside invalidates the caches' copies",
)
