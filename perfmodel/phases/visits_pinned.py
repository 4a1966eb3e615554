r"""A snapshot's visit to its pages past a pinned pool: held, read in the place of what is let go, or read past the pool.

.. math:: t = h\,t_h + k\,t_k + (1 - h - k)\,t_u, \quad k = \frac{h}{s - 1}

In every frame one of ``s`` snapshots leaves, and takes its share of the pool along; a pool that has room for the newest
snapshot too keeps all that it reads.

Worked number: windows of 5, half of the pages held: an eighth is read and kept, three eighths are read past the pool.
"""

import sympy

from perfmodel.phases._apart import capacity, fewer
from perfmodel.phases._base import Phase
from perfmodel.phases._visits import found, hits, length, pages, passed, read

replaced = hits / sympy.Max(length - 1, 1)
kept = sympy.Piecewise((1 - hits, capacity >= (fewer + 2) * pages), (sympy.Min(replaced, 1 - hits), True))

PHASE = Phase(
    name="visits_pinned",
    result="visit_time",
    unit="s",
    expression=hits * found + kept * read + (1 - hits - kept) * passed,
    meaning="bringing a snapshot's pages together past a pool that is full",
    source="mdgnn2026",
)
