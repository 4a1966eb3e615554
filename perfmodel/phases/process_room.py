r"""Pages that a process' cache has room for.

.. math:: C = \left\lfloor M / P \right\rfloor

Worked number: 1 MiB holds 256 pages of 4,096 B.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(memory, page) = symbols("page_cache file_page")

PHASE = Phase(
    name="process_room",
    result="process_pages",
    unit="",
    expression=sympy.floor(memory / page),
    meaning="pages that a process' cache holds",
    source="mdgnn2026",
)
