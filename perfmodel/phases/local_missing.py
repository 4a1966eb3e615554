r"""Pages that must come from flash.

.. math:: m = 1 - h

Worked number: with a quarter of the pages in the device's memory, three quarters come from flash.
"""

from perfmodel.phases._base import Phase, symbols

(hits,) = symbols("cache_hits")

PHASE = Phase(
    name="local_missing",
    result="local_missing",
    unit="",
    expression=1 - hits,
    meaning="pages that the device's own memory lacks",
    source="mdgnn2026",
)
