r"""Nodes of one hop that sum up neighbors: all of them where neighbors were drawn.

.. math:: n_s = n\,[k > 0]

Worked number: 384 nodes of the first of three hops; 0 of the last.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(nodes, fanout) = symbols("hop_nodes hop_fanout")

PHASE = Phase(
    name="summed_nodes",
    result="summed_nodes",
    unit="",
    expression=nodes * sympy.Min(fanout, 1),
    meaning="nodes of a hop that sum up their neighbors",
    source="mdgnn2026",
)
