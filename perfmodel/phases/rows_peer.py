r"""Rows of other chunks from peer to peer, all devices at once.

.. math:: t = \frac{s\,r}{N} \left(t_m + \frac{f + i}{B}\right)

Worked number: 960 rows for each of 4 snapshots on 4 devices at 1.8 us: 1.7 ms.
"""

from perfmodel.phases._base import Phase, symbols

(length, reads, devices, engine, dimension, row_width, id_bytes, link) = symbols(
    "frame_length remote_reads devices peer_message_time feature_dimension row_width id_bytes link_bandwidth"
)
row = dimension * row_width + id_bytes

PHASE = Phase(
    name="rows_peer",
    result="rows_time",
    unit="s",
    expression=length * reads / devices * (engine + row / link),
    meaning="rows of other chunks from peer to peer",
    source="mdgnn2026",
)
