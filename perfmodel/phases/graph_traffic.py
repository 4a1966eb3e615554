r"""Memory traffic of a snapshot's graph layers: rows are read for sums and products; what does not stay, three times more.

.. math:: M = f \left(n + 3 n_s (1 - \kappa)\right), \quad \kappa = \min\left(1, \frac{S}{2 f n_s}\right)

``n_s`` nodes sum up neighbors. Backward, rows and sums of such nodes are inputs of the weights' gradient: a sum that did
not stay in the scratchpad ``S`` was written, and both are read again. Rows reach the memory while they are fetched,
which takes no time of its own.

Worked number: 5,120 rows of 1,204 B, 1,664 of them with sums: 6.2 MB where a scratchpad of 6 MB keeps the 4.0 MB that
are needed again, 9.2 MB where one of 2 MB keeps half.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(nodes, summed, dimension, row_width, scratchpad) = symbols(
    "hop_nodes summed_nodes feature_dimension row_width scratchpad"
)
row = dimension * row_width
again = 2 * row * summed
lost = sympy.Max(1 - scratchpad / sympy.Max(again, row), 0)

PHASE = Phase(
    name="graph_traffic",
    result="graph_traffic",
    unit="B",
    expression=row * (nodes + 3 * summed * lost),
    meaning="bytes between the array and its memory for a snapshot",
    source="mdgnn2026",
    regimes=(Condition(again > scratchpad, "the scratchpad is too small for a mini-batch's inputs"),),
)
