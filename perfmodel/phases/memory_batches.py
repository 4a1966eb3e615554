r"""Host memory of a host that reads for its accelerators: pages and rows of the mini-batches that are under way.

.. math:: M = N (n (f + i) + r P)

Worked number: 4 devices with 5,120 pages of 4,096 B and as many rows of 404 B: 92 MB.
"""

from perfmodel.phases._base import Phase, symbols

(devices, nodes, reads, page, dimension, row_width, id_bytes) = symbols(
    "devices hop_nodes page_reads page feature_dimension row_width id_bytes"
)

PHASE = Phase(
    name="memory_batches",
    result="batch_memory",
    unit="B",
    expression=devices * (nodes * (dimension * row_width + id_bytes) + reads * page),
    meaning="pages and rows on their way to the accelerators",
    source="mdgnn2026",
)
