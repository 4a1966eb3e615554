r"""Rows from the host's pool: over each device's link and the uplink that all share, behind other work if told so.

.. math:: t = \left(z\,t_f - d\,t_g\right)^+, \quad
          t_f = t_1(N) + \max\!\left((n_P - 1)^+ \max(w_N, t_r),\ (n_P/o - 1)^+ t_1(1)\right), \quad
          t_1(N) = t_r + 2 l + w_N, \quad w_N = \frac{f + i}{\min(B,\ B_u/N)}

A row needs a request (``t_r`` of the device's engine) and an answer; ``o`` requests are under way at a time. Where
devices share the uplink, the first answer waits for those of all others.

Worked number: 3,430 rows of 404 B at 25.9 GB/s are 54 us, hidden behind graph work of 0.6 ms.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(turns, rows, dimension, row_width, id_bytes, buffered, graph) = symbols(
    "device_turns pooled_rows feature_dimension row_width id_bytes is_double_buffered graph_work_time"
)
(link, uplink, devices, latency, request, at_once) = symbols(
    "link_bandwidth uplink_bandwidth devices uplink_latency pool_request_time pool_requests"
)
row = dimension * row_width + id_bytes
wire = row / sympy.Min(link, uplink / devices)
alone = request + 2 * latency + row / sympy.Min(link, uplink)
others = sympy.Max(sympy.Max(rows - 1, 0) * sympy.Max(wire, request), sympy.Max(rows / at_once - 1, 0) * alone)
fetch = turns * (request + 2 * latency + wire + others)

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
