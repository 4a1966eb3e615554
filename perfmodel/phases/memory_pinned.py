r"""Host memory that the pool pins.

.. math:: M = \min(S,\ \phi\,V (\sigma + (1 - \sigma) s)(f + i))

Worked number: two thirds of 37.3 million rows of 1,208 B: 30 GB.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(size, share, nodes, shared, length, dimension, row_width, id_bytes) = symbols(
    "pool_size pool_share snapshot_nodes shared_share frame_length feature_dimension row_width id_bytes"
)
entry = dimension * row_width + id_bytes

PHASE = Phase(
    name="memory_pinned",
    result="pinned_memory",
    unit="B",
    expression=sympy.Min(size, share * nodes * (shared + (1 - shared) * length) * entry),
    meaning="host memory that the pool pins",
    source="mdgnn2026",
)
