r"""Rows of other chunks through the host: each a message, up and down.

.. math:: t = s\,r \left(\frac{2\,t_p}{c} + \frac{2 (f + i)}{B_u}\right), \quad r = \kappa\,n\,(1 - 1/N)

Of a snapshot's ``n`` rows, those that other devices hold where nodes are spread at random, times the share ``kappa`` of
neighbors that chunks cut all the same.

Worked number: 5,120 rows on 4 devices, a quarter cut: 960 rows for each of 4 snapshots, two passes of 10 us, 3 at a
time: 25.6 ms.
"""

from perfmodel.phases._base import Phase, symbols

(length, cut, nodes, devices, pass_time, passes) = symbols("frame_length cut_share hop_nodes devices pass_time passes")
(dimension, row_width, id_bytes, uplink) = symbols("feature_dimension row_width id_bytes uplink_bandwidth")
remote = cut * nodes * (1 - 1 / devices)
row = dimension * row_width + id_bytes

PHASE = Phase(
    name="rows_bounced",
    result="rows_time",
    unit="s",
    expression=length * remote * (2 * pass_time / passes + 2 * row / uplink),
    meaning="rows of other chunks through the host",
    source="mdgnn2026",
    assumption="a chunking is known by the share of neighbors that it cuts, of those that a random one would",
)
