r"""How many visits back an LRU reaches, to begin with: as if no two snapshots shared a row.

.. math:: v_0 = C / U(D)

Worked number: visits that touch 500 rows each, a cache of 1,500: 3 visits.
"""

from perfmodel.phases._base import Phase
from perfmodel.phases._reuse import capacity, one_visit

PHASE = Phase(
    name="visits_start",
    result="cache_visits",
    unit="",
    expression=capacity / one_visit,
    meaning="visits that a cache remembers, where none share rows",
    source="che2002",
)
