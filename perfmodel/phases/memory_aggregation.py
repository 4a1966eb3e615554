r"""Memory where messages are routed: handed-over buffers, those that are open, and those on the network.

.. math:: M = R + P\,c\,(w + b + o)

Worked number: four processes with 8, 8 and 128 buffers of 8 KiB hold 4.5 MiB.
"""

from perfmodel.phases._base import Phase, symbols

(runtime, processes, size, ring, open_buffers, outstanding) = symbols(
    "runtime_bytes processes buffer_size ring_buffers open_buffers outstanding"
)

PHASE = Phase(
    name="memory_aggregation",
    result="aggregation_memory",
    unit="B",
    expression=runtime + processes * size * (ring + open_buffers + outstanding),
    meaning="buffers of the messages that are routed",
    source="buddy2026",
)
