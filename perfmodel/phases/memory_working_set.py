r"""Memory that a training device works in: a mini-batch's rows, twice where fetched ahead, and pages in flight.

.. math:: M = n (f + i)(1 + d) + q P

Worked number: 5,120 rows of 1,208 B twice and 256 pages of 4,096 B: 13.4 MB.
"""

from perfmodel.phases._base import Phase, symbols

(nodes, dimension, row_width, id_bytes, buffered, depth, page) = symbols(
    "hop_nodes feature_dimension row_width id_bytes is_double_buffered queue_depth page"
)

PHASE = Phase(
    name="memory_working_set",
    result="working_set",
    unit="B",
    expression=nodes * (dimension * row_width + id_bytes) * (1 + buffered) + depth * page,
    meaning="rows and pages that a device works on",
    source="mdgnn2026",
)
