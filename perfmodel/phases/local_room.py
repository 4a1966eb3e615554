r"""Nodes whose pages the devices' memories hold: one device's in each visit, all of theirs between two visits of a snapshot.

.. math:: C = \frac{M}{P \lceil (f + a)/P \rceil} \left(1 + (1 - \sigma)(\min(N, \max(s - 1, 1)) - 1)\right)

A node has its row and its list of neighbors. What all snapshots share (``sigma``) every device needs for itself, at each
of its visits.

Worked number: rows of 1,204 B and 1,445 neighbors of 4 B take 2 pages of 4,096 B: 4 devices of 4 GB, frames of 4
snapshots that share nothing, hold 1.46 million nodes between a snapshot's visits.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(memory, page, devices, length, shared) = symbols("device_memory page devices frame_length shared_share")
(nodes, edges, dimension, row_width, id_bytes) = symbols(
    "snapshot_nodes snapshot_edges feature_dimension row_width id_bytes"
)
apart = sympy.Min(devices, sympy.Max(length - 1, 1))
pages = sympy.ceiling((dimension * row_width + edges / nodes * id_bytes) / page)

PHASE = Phase(
    name="local_room",
    result="cache_capacity",
    unit="",
    expression=memory / (page * pages) * (1 + (1 - shared) * (apart - 1)),
    meaning="nodes that the devices' memories hold",
    source="mdgnn2026",
    assumption="every node has the mean degree; a frame's snapshots are spread over the devices; working buffers are small",
)
