r"""Rows of other chunks from peer to peer, all devices at once.

.. math:: t = \frac{s\,r}{N} \left(t_m + \frac{f + i}{B}\right) + s\,l, \quad r = \kappa\,n\,(1 - 1/N)

Of a snapshot's ``n`` rows, those that other devices hold where nodes are spread at random, times the share ``kappa`` of
neighbors that chunks cut all the same. The last of each snapshot's is ``l`` on its way.

Worked number: 5,120 rows on 4 devices, a quarter cut: 960 rows for each of 4 snapshots, 1.8 us each: 1.7 ms.
"""

from perfmodel.phases._base import Phase, symbols

(length, cut, nodes, devices, engine) = symbols("frame_length cut_share hop_nodes devices peer_message_time")
(dimension, row_width, id_bytes, link, latency) = symbols(
    "feature_dimension row_width id_bytes link_bandwidth link_latency"
)
remote = cut * nodes * (1 - 1 / devices)
row = dimension * row_width + id_bytes

PHASE = Phase(
    name="rows_peer",
    result="rows_time",
    unit="s",
    expression=length * (remote / devices * (engine + row / link) + latency),
    meaning="rows of other chunks from peer to peer",
    source="mdgnn2026",
    assumption="a chunking is known by the share of neighbors that it cuts, of those that a random one would",
)
