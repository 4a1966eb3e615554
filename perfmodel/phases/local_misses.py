r"""Pages that the device's own memory lacks.

.. math:: m = 1 - h

Worked number: with 25 % of all accesses hit, 75 % go on to the pool or to flash.
"""

from perfmodel.phases._base import Phase, symbols

(hits,) = symbols("hit_share")

PHASE = Phase(
    name="local_misses",
    result="local_miss_share",
    unit="",
    expression=1 - hits,
    meaning="accesses that the device's own memory does not serve",
    source="mdgnn2026",
)
