r"""Pinned pool under a scan: it keeps its share of what the window comes back to, however large the window is.

.. math:: h = \frac{\min(C, \sigma n)}{n} + \frac{\min((C - \sigma n)^+, (s - 1)(1 - \sigma) n)}{s\,n}

What the oldest snapshot leaves gives way to what comes next; the newest snapshot is new to any cache.

Worked number: 4 snapshots of 100 rows of their own, a pool of 200 rows: half of all accesses hit; 300 rows or more: 3
of 4.
"""

import sympy

from perfmodel.phases._base import Phase
from perfmodel.phases._reuse import capacity, rows, shared, window

common = shared * rows
own = sympy.Min(sympy.Max(capacity - common, 0), (window - 1) * (1 - shared) * rows)

PHASE = Phase(
    name="scan_pinned",
    result="hit_share",
    unit="",
    expression=sympy.Min(capacity, common) / rows + own / (window * rows),
    meaning="hits of a pinned pool when snapshots are scanned",
    source="mdgnn2026",
    assumption="every visit asks for every row once",
)
