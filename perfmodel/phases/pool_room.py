r"""Rows that the host's pool holds: its share of the distinct rows of a window, within the most that may be pinned.

.. math:: C = \min\left(\frac{S}{f + i},\ \phi\,V\,(\sigma + (1 - \sigma) s)\right)

Worked number: rows that never change, 2 of 3 provisioned for: of 37.3 million nodes' rows 24.9 million, 30 GB at 1,208
B each.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(size, share, nodes, shared, length, dimension, row_width, id_bytes) = symbols(
    "pool_size pool_share snapshot_nodes shared_share frame_length feature_dimension row_width id_bytes"
)
entry = dimension * row_width + id_bytes
provisioned = share * nodes * (shared + (1 - shared) * length)

PHASE = Phase(
    name="pool_room",
    result="cache_capacity",
    unit="",
    expression=sympy.Min(size / entry, provisioned),
    meaning="rows that the host's pool holds",
    source="mdgnn2026",
)
