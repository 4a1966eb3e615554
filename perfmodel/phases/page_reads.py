r"""Pages that one hop asks for: a node's row and neighbor list lie together, and go on in further pages where they are long.

.. math:: r = b\,\min(w, d^h) \left(p + m \left(1 - (1 - q/m)^{\min(k, d)}\right)\right), \quad
          p = \lceil f/P \rceil^+,\ m = \left\lceil \frac{(f + a - pP)^+}{P} \right\rceil,\ q = \frac{(f + a - pP)^+}{a}

A row of ``f`` bytes takes ``p`` pages; of the neighbor list's ``a`` bytes a share ``q`` lies in ``m`` further pages, of
which ``k`` draws touch so many. ``w`` nodes of this hop for each of ``b`` targets, at most ``d^h`` where they have
few neighbors ``d``.

Worked number: 128 targets, a first hop of 3 each, 1,445 neighbors of 4 B and rows of 1,204 B in pages of 4,096 B: 384
nodes take 720 pages, 1 for the row and 0.87 for the rest of the list.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(targets, width, depth, fanout, dimension, row_width) = symbols(
    "batch_targets hop_width hop_depth hop_fanout feature_dimension row_width"
)
(page, id_bytes, nodes, edges, bias) = symbols("page id_bytes snapshot_nodes snapshot_edges degree_bias")

degree = bias * edges / nodes
row = dimension * row_width
neighbors = degree * id_bytes
first = sympy.Max(sympy.ceiling(row / page), 1)
beyond = sympy.Max(row + neighbors - first * page, 0)
further = sympy.ceiling(beyond / page)
chance = beyond / sympy.Max(neighbors, id_bytes) / sympy.Max(further, 1)
touched = further * (1 - (1 - chance) ** sympy.Min(fanout, degree))
reached = targets * sympy.Min(width, degree**depth)

PHASE = Phase(
    name="page_reads",
    result="page_reads",
    unit="",
    expression=reached * (first + touched),
    meaning="pages that a hop of the sampled neighborhood asks for",
    source="mdgnn2026",
    assumption="every node that is reached has as many neighbors; rows start at a page; a page is asked for once for each node",
)
