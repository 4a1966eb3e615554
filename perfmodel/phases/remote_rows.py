r"""Rows of a snapshot's mini-batch that lie in another device's chunk.

.. math:: r = \kappa\,n\,(1 - 1/N)

Worked number: 5,120 rows on 4 devices at random: 3,840; chunks that cut a quarter of that: 960.
"""

from perfmodel.phases._base import Phase, symbols

(cut, nodes, devices) = symbols("cut_share hop_nodes devices")

PHASE = Phase(
    name="remote_rows",
    result="remote_reads",
    unit="",
    expression=cut * nodes * (1 - 1 / devices),
    meaning="rows that lie in another chunk",
    source="mdgnn2026",
    assumption="a chunking is known by the share of neighbors that it cuts, of those that a random one would",
)
