r"""LRU caches of devices that hold snapshots in turn: each finds those of its own that come back, or nothing.

.. math:: h = \frac{1}{s} \sum_{i=1}^{N} k_i\,[C \ge k_i n], \quad \sum_i k_i = s - 1

Between two visits of a page lie all pages of the ``k`` snapshots that come back to the same device.

Worked number: 6 snapshots of 100 pages on 2 devices: 3 come back to one and 2 to the other; caches of 250 pages find 2 of
6, of 300 pages 5 of 6.
"""

import sympy

from perfmodel.phases._apart import capacity, over_devices, pages
from perfmodel.phases._base import Phase

PHASE = Phase(
    name="scan_lru_apart",
    result="hit_share",
    unit="",
    expression=over_devices(lambda back: sympy.Piecewise((back, capacity >= back * pages), (0, True))),
    meaning="hits of LRU caches when snapshots are scanned by devices in turn",
    source="mattson1970",
    assumption="snapshots share no pages; every visit asks for every page once and in the same order",
)
