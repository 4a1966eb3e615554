r"""Energy of rows from the host's pool: out of its memory, over the uplink and the device's link.

.. math:: E = s\,n_P\,(f + i)\,(e_h + 2 e_l)

Worked number: 3,430 rows of 404 B at 48 + 2 x 8.5 pJ/bit: 0.72 mJ for a snapshot.
"""

from perfmodel.phases._base import Phase, symbols

(length, rows, dimension, row_width, id_bytes, link, memory) = symbols(
    "frame_length pooled_rows feature_dimension row_width id_bytes link_energy host_memory_energy"
)

PHASE = Phase(
    name="energy_pool",
    result="pool_energy",
    unit="J",
    expression=length * rows * (dimension * row_width + id_bytes) * (memory + 2 * link),
    meaning="rows from the host's pool",
    source="mdgnn2026",
)
