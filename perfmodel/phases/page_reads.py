r"""Pages that one hop asks for: a node's row and neighbor list lie together, and go on in further pages where they are long.

.. math:: r = n \left(p + m \left(1 - (1 - q/m)^{\min(k, d)}\right)\right), \quad
          p = \lceil f/P \rceil^+,\ m = \left\lceil \frac{(f + a - pP)^+}{P} \right\rceil,\ q = \frac{(f + a - pP)^+}{a}

A row of ``f`` bytes takes ``p`` pages; of the neighbor list's ``a`` bytes a share ``q`` lies in ``m`` further pages, of
which ``k`` draws touch so many.

Worked number: 384 nodes that draw 3 of 1,445 neighbors of 4 B, rows of 1,204 B, pages of 4,096 B: 720 pages, 1 for the
row and 0.87 for the rest of the list.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, fanout, dimension, row_width, page, id_bytes) = symbols(
    "hop_nodes hop_fanout feature_dimension row_width page id_bytes"
)
(all_nodes, edges, bias) = symbols("snapshot_nodes snapshot_edges degree_bias")

degree = bias * edges / all_nodes
row = dimension * row_width
neighbors = degree * id_bytes
first = sympy.Max(sympy.ceiling(row / page), 1)
beyond = sympy.Max(row + neighbors - first * page, 0)
further = sympy.ceiling(beyond / page)
chance = sympy.Min(beyond / sympy.Max(neighbors, id_bytes), 1) / sympy.Max(further, 1)
touched = further * (1 - (1 - chance) ** sympy.Min(fanout, degree))

PHASE = Phase(
    name="page_reads",
    result="page_reads",
    unit="",
    expression=nodes * (first + touched),
    meaning="pages that a hop of the sampled neighborhood asks for",
    source="mdgnn2026",
    assumption="every node that is reached has as many neighbors; rows start at a page; a page is asked for once for each node",
)
