r"""Reads and graph layers of a frame on the core that has most of them, from its start until all have reported.

.. math:: t = z (t_v + t_g) + \left\lceil \frac{N}{K} \right\rceil (t_r + t_s) + (N - 1)\,t_s + 2\,t_w, \quad
          z = \max\!\left(\frac{s}{N} \left\lceil \frac{N}{K} \right\rceil,\ \lceil s / \min(N, K) \rceil\right)

Every process on the core has slept since the last frame, takes ``t_r`` longer for its first visit, and reports in the end.

Worked number: 8 snapshots of 3 ms on 3 processes and 2 cores: one core has two processes with 5.3 snapshots, 16 ms.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import cores, devices, length

(visit, layer, restart, wake, each, send_wake, send_each) = symbols(
    "visit_time layer_time page_restart_time wake_time way_message_time send_wake_time send_message_time"
)
beside = sympy.ceiling(devices / cores)
turns = sympy.Max(length / devices * beside, sympy.ceiling(length / sympy.Min(devices, cores)))
told, sent = wake + each, send_wake + send_each

PHASE = Phase(
    name="graphs_on_cores",
    result="graph_work_time",
    unit="s",
    expression=turns * (visit + layer) + beside * (restart + sent) + (devices - 1) * sent + 2 * told,
    meaning="reads and graph layers of a frame on the busiest core",
    source="mdgnn2026",
    assumption="processes are bound to cores in turn; all snapshots take as long",
)
