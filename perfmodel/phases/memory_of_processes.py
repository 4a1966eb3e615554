r"""Memory of all processes: their caches, and a place for the pages of each snapshot of the window.

.. math:: M = N\,M_c + s\,n\,P

Worked number: 3 caches of 1 MiB and 8 snapshots of 440 pages of 4,096 B: 17.6 MB.
"""

from perfmodel.phases._base import Phase, symbols

(devices, cache, length, pages, page) = symbols("devices page_cache frame_length file_pages file_page")

PHASE = Phase(
    name="memory_of_processes",
    result="memory_of_processes",
    unit="B",
    expression=devices * cache + length * pages * page,
    meaning="pages that processes hold",
    source="mdgnn2026",
    assumption="weights, states and the processes themselves take little beside them",
)
