r"""Pages that the devices' memories hold: one device's in each visit, all of theirs between two visits of a snapshot.

.. math:: C = \frac{M}{P} \left(1 + (1 - \sigma)(\min(N, \max(s - 1, 1)) - 1)\right)

What all snapshots share (``sigma``) every device needs for itself, at each of its visits.

Worked number: 4 devices of 4 GB, frames of 4 snapshots that share nothing: a snapshot has 2.9 million pages of 4,096 B
between its visits.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(memory, page, devices, length, shared) = symbols("device_memory page devices frame_length shared_share")
apart = sympy.Min(devices, sympy.Max(length - 1, 1))

PHASE = Phase(
    name="local_room",
    result="cache_capacity",
    unit="",
    expression=memory / page * (1 + (1 - shared) * (apart - 1)),
    meaning="pages that the devices' memories hold",
    source="mdgnn2026",
    assumption="the snapshots of a frame are spread over the devices; working buffers are small",
)
