r"""Rows that the host's pool lacks.

.. math:: m = 1 - h

Worked number: a pool that has two thirds of the rows leaves one third to flash.
"""

from perfmodel.phases._base import Phase, symbols

(hits,) = symbols("cache_hits")

PHASE = Phase(
    name="pool_missing",
    result="pool_missing",
    unit="",
    expression=1 - hits,
    meaning="rows that the host's pool lacks",
    source="mdgnn2026",
)
