r"""Rows of other chunks through the host: each a message, up and down.

.. math:: t = s \left(\frac{2\,r\,t_p}{c} + \frac{2\,r (f + i)}{B_u}\right)

Worked number: 960 rows for each of 4 snapshots, two passes of 10 us, 3 at a time: 25.6 ms.
"""

from perfmodel.phases._base import Phase, symbols

(length, reads, pass_time, passes, dimension, row_width, id_bytes, uplink) = symbols(
    "frame_length remote_reads pass_time passes feature_dimension row_width id_bytes uplink_bandwidth"
)
row = dimension * row_width + id_bytes

PHASE = Phase(
    name="rows_bounced",
    result="rows_time",
    unit="s",
    expression=length * reads * (2 * pass_time / passes + 2 * row / uplink),
    meaning="rows of other chunks through the host",
    source="mdgnn2026",
)
