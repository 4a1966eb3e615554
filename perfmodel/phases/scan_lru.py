r"""LRU under a scan: a window of ``s`` snapshots moves on by one, and every visit asks for every row once.

.. math:: h = \sigma\,[C \ge n] + (1 - \sigma) \frac{s - 1}{s}\,[C \ge \sigma n + (s - 1)(1 - \sigma) n]

All or nothing: between two accesses of a row lie all others of its snapshot, and those of the ``s - 2`` snapshots
between. What all snapshots share (``sigma``) comes back with the next one.

Worked number: 4 snapshots of 100 rows of their own, a cache of 299 rows: no hit; of 300 rows: 3 of 4.
"""

import sympy

from perfmodel.phases._base import Phase
from perfmodel.phases._reuse import capacity, rows, shared, window

between = shared * rows + (window - 1) * (1 - shared) * rows
common = sympy.Piecewise((1, capacity >= rows), (0, True))
own = sympy.Piecewise(((window - 1) / window, capacity >= between), (0, True))

PHASE = Phase(
    name="scan_lru",
    result="hit_share",
    unit="",
    expression=shared * common + (1 - shared) * own,
    meaning="hits of an LRU cache when snapshots are scanned",
    source="mattson1970",
    assumption="every visit asks for every row once and in the same order",
)
