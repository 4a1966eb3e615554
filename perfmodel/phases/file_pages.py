r"""Pages of the file that hold a snapshot's rows.

.. math:: n = \left\lceil \frac{V d w}{P} \right\rceil

Worked number: 4,500 rows of 100 elements of 4 B are 440 pages of 4,096 B.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, dimension, row_width, page) = symbols("snapshot_nodes feature_dimension row_width file_page")

PHASE = Phase(
    name="file_pages",
    result="file_pages",
    unit="",
    expression=sympy.ceiling(nodes * dimension * row_width / page),
    meaning="pages of the file that a snapshot's rows take",
    source="mdgnn2026",
    assumption="rows lie side by side, and every snapshot starts at a page",
)
