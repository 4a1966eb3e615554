r"""Rows from the host's memory to the accelerators.

.. math:: t = \frac{z\,n\,(f + i)}{\min(B,\ B_u/N)} + 2 z\,l

Worked number: 5,120 rows of 1,208 B at 25.9 GB/s are 0.24 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(turns, nodes, dimension, row_width, id_bytes, link, uplink, devices, latency) = symbols(
    "device_turns hop_nodes feature_dimension row_width id_bytes link_bandwidth uplink_bandwidth devices uplink_latency"
)
size = nodes * (dimension * row_width + id_bytes)

PHASE = Phase(
    name="accelerator_copy",
    result="copy_time",
    unit="s",
    expression=turns * (size / sympy.Min(link, uplink / devices) + 2 * latency),
    meaning="rows from the host to the accelerators",
    source="mdgnn2026",
)
