r"""Energy of the memory that arrays work from.

.. math:: E = s\,M\,e_m

Worked number: 24.5 MB at 48 pJ/bit: 9.4 mJ for a snapshot.
"""

from perfmodel.phases._base import Phase, symbols

(length, traffic, energy) = symbols("frame_length graph_traffic device_memory_energy")

PHASE = Phase(
    name="energy_device_memory",
    result="device_memory_joules",
    unit="J",
    expression=length * traffic * energy,
    meaning="memory of the devices that train",
    source="mdgnn2026",
)
