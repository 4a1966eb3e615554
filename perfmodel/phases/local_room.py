r"""Pages that the devices' memories hold: one device's in each visit, all of theirs between two visits of a snapshot.

.. math:: C = \frac{M}{P} \min(N, \max(s - 1, 1))

Worked number: 4 devices of 4 GB and frames of 4 snapshots: a snapshot has 2.9 million pages of 4,096 B between its
visits.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(memory, page, devices, length) = symbols("device_memory page devices frame_length")

PHASE = Phase(
    name="local_room",
    result="cache_capacity",
    unit="",
    expression=memory / page * sympy.Min(devices, sympy.Max(length - 1, 1)),
    meaning="pages that the devices' memories hold",
    source="mdgnn2026",
    assumption="the snapshots of a frame are spread over the devices; working buffers are small",
)
