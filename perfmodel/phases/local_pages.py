r"""Pages of a snapshot, for the memory of the device that holds it.

.. math:: n = V \lceil (f + a) / P \rceil

Worked number: 37.3 million nodes with rows of 1,204 B and lists of 5,780 B take two pages of 4,096 B each, 74.6
million.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, edges, dimension, row_width, id_bytes, page) = symbols(
    "snapshot_nodes snapshot_edges feature_dimension row_width id_bytes page"
)

PHASE = Phase(
    name="local_pages",
    result="cache_rows",
    unit="",
    expression=nodes * sympy.ceiling((dimension * row_width + edges / nodes * id_bytes) / page),
    meaning="pages of a snapshot that a device's memory may keep",
    source="mdgnn2026",
    assumption="every node has the mean degree",
)
