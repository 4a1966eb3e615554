r"""Energy of the memory that arrays work from.

.. math:: E = s (M + n f)\,e_m

Every row is written once before the array reads it.

Worked number: 6.2 MB of rows, written and read once, at 48 pJ/bit: 4.7 mJ for a snapshot.
"""

from perfmodel.phases._base import Phase, symbols

(length, traffic, nodes, dimension, row_width, energy) = symbols(
    "frame_length graph_traffic hop_nodes feature_dimension row_width device_memory_energy"
)

PHASE = Phase(
    name="energy_device_memory",
    result="device_memory_joules",
    unit="J",
    expression=length * (traffic + nodes * dimension * row_width) * energy,
    meaning="memory of the devices that train",
    source="mdgnn2026",
)
