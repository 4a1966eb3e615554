r"""Rows from the host's pool: over each device's link and the uplink that all share, behind other work if told so.

.. math:: t = \left(z\,t_f - d\,t_g\right)^+, \quad t_f = \frac{n_P\,(f + i)}{\min(B,\ B_u/N)} + 2 l

Worked number: 3,430 rows of 404 B at 25.9 GB/s are 54 us, hidden behind graph work of 0.6 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(turns, rows, dimension, row_width, id_bytes, buffered, graph) = symbols(
    "device_turns pooled_rows feature_dimension row_width id_bytes is_double_buffered graph_work_time"
)
(link, uplink, devices, latency) = symbols("link_bandwidth uplink_bandwidth devices uplink_latency")
size = rows * (dimension * row_width + id_bytes)
fetch = turns * (size / sympy.Min(link, uplink / devices) + 2 * latency)

PHASE = Phase(
    name="pool_fetch",
    result="pool_time",
    unit="s",
    expression=sympy.Piecewise((sympy.Max(fetch - buffered * graph, 0), rows > 0), (0, True)),
    meaning="rows from the host's pool that are waited for",
    source="mdgnn2026",
    assumption="all devices fetch at once and share the uplink evenly",
    regimes=(
        Condition(fetch > graph, "fetching from the pool takes longer than the work it hides behind"),
        Condition(uplink / devices < link, "the uplink that all devices share is narrower than their own"),
    ),
)
