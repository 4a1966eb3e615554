r"""Pinned pools of devices that hold snapshots in turn: each keeps its share of its own snapshots that come back.

.. math:: h = \frac{1}{s\,n} \sum_{i=1}^{N} \min(C,\ k_i n), \quad \sum_i k_i = s - 1

Worked number: 6 snapshots of 100 pages on 2 devices: 3 come back to one and 2 to the other; pools of 250 pages hold 450 of
the 600 that are asked for, three quarters.
"""

import sympy

from perfmodel.phases._apart import capacity, over_devices, pages
from perfmodel.phases._base import Phase

PHASE = Phase(
    name="scan_pinned_apart",
    result="hit_share",
    unit="",
    expression=over_devices(lambda back: sympy.Min(capacity / pages, back)),
    meaning="hits of pinned pools when snapshots are scanned by devices in turn",
    source="mdgnn2026",
    assumption="snapshots share no pages; every visit asks for every page once",
)
