r"""Rows from the host's pool: over each device's link and the uplink that all share, behind other work if told so.

.. math:: t = z \left(t_f - d\,t_g\right)^+, \quad t_f = \frac{v (1 - m)\,n\,(f + i)}{\min(B,\ B_u/N)} + 2 l

Of the share ``v`` of rows that the device's own memory lacks, the pool has ``1 - m``.

Worked number: 3,430 rows of 404 B at 25.9 GB/s are 54 us, hidden behind graph work of 0.6 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(turns, local, missing, nodes, dimension, row_width, id_bytes, buffered, snapshot) = symbols(
    "device_turns local_missing pool_missing hop_nodes feature_dimension row_width id_bytes is_double_buffered snapshot_time"
)
(link, uplink, devices, latency) = symbols("link_bandwidth uplink_bandwidth devices uplink_latency")
size = local * (1 - missing) * nodes * (dimension * row_width + id_bytes)
fetch = size / sympy.Min(link, uplink / devices) + 2 * latency

PHASE = Phase(
    name="pool_fetch",
    result="pool_time",
    unit="s",
    expression=turns * sympy.Piecewise((sympy.Max(fetch - buffered * snapshot, 0), missing < 1), (0, True)),
    meaning="rows from the host's pool that are waited for",
    source="mdgnn2026",
    assumption="all devices fetch at once and share the uplink evenly",
    regimes=(
        Condition(fetch > snapshot, "fetching from the pool takes longer than the work it hides behind"),
        Condition(uplink / devices < link, "the uplink that all devices share is narrower than their own"),
    ),
)
