r"""Rows that the host's pool lacks.

.. math:: m = 1 - h

Worked number: a pool that has 64 % of the rows leaves 36 % to flash.
"""

from perfmodel.phases._base import Phase, symbols

(hits,) = symbols("hit_share")

PHASE = Phase(
    name="pool_misses",
    result="pool_miss_share",
    unit="",
    expression=1 - hits,
    meaning="rows that the host's pool lacks",
    source="mdgnn2026",
)
