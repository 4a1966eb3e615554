r"""Memory of a host that hands messages over: the processes' rings of buffers.

.. math:: M = R + P\,w\,c

Worked number: four processes with 8 buffers of 8 KiB hold 256 KiB.
"""

from perfmodel.phases._base import Phase, symbols

(runtime, processes, ring, size) = symbols("runtime_bytes processes ring_buffers buffer_size")

PHASE = Phase(
    name="memory_rings",
    result="ring_memory",
    unit="B",
    expression=runtime + processes * ring * size,
    meaning="buffers that are handed over",
    source="buddy2026",
)
