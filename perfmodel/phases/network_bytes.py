r"""Bytes on a node's link: what leaves the node, once for each hop, behind a header for each transfer.

.. math:: b = P\,f\,h\,(V + s\,H)

Worked number: four processes with 1 GB each, seven eighths of it for other nodes, are 3.5 GB.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import remote, volume

(processes, transfers, header, hops) = symbols("processes transfers header_bytes hops")

PHASE = Phase(
    name="network_bytes",
    result="sent_bytes",
    unit="B",
    expression=processes * remote * hops * (volume + transfers * header),
    meaning="what a node's link carries",
    source="buddy2026",
    assumption="all nodes are alike: each carries as much for others as they do for it",
)
