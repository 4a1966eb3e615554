r"""Sampling cost: drawing a mini-batch and gathering its features on the device that holds the graph.

.. math:: t = \frac1D \max\!\left(\frac{t_b + d\,t_0 + c\,t_c + c_c\,t_{cc} + x\,t_x + t_{draw} + t_{rename} + t_{gather}}{S(w)}
          + t_h \min(w, 1),\ \frac{2G}{B_m}\right)

with the Universal Scalability Law (Gunther 2007) for ``w`` workers on the device's cores,
``S = w / (1 + serial_share (w - 1) + contention w (w - 1))``, and the memory bandwidth as a floor that no worker passes:
a gathered row is read once and written once.

The terms follow what a neighbor sampler does (PyG ``NeighborLoader``): look up the neighbor list of each expanded node,
draw each edge (``drawing``), rename each new node (``renaming``), copy its feature row (``gathering``). A call
that chooses among neighbors has a fixed cost of its own, and a mini-batch drawn by a worker is handed over. ``d`` is the
share of the caches that was displaced since the last mini-batch.

Worked number: 0.2 s of renaming and 0.0625 s of drawing on one core take 0.2625 s, and half of that on two nodes.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbol, symbols
from perfmodel.phases._displaced import displaced

(expanded, gathered, calls, choosing, drawing, renaming, gathering) = symbols(
    "expanded_nodes gathered_bytes relation_hops choosing_hops drawing_time renaming_time gather_time"
)
(per_batch, per_call, per_choosing, per_expanded, handover) = symbols(
    "time_per_batch time_per_call time_per_choosing_call time_per_expanded_node handover_time"
)
(workers, cores, serial, contention, memory_bandwidth, devices) = symbols(
    "workers cores serial_share contention memory_bandwidth devices"
)

running = sympy.Max(1, sympy.Min(workers, cores))
speedup = running / (1 + serial * (running - 1) + contention * running * (running - 1))
displaced_share = displaced()
calling = per_batch + displaced_share * symbol("sampling_restart_time") + calls * per_call + choosing * per_choosing
one_core = calling + expanded * per_expanded + drawing + renaming + gathering
by_workers = one_core / speedup + handover * sympy.Min(workers, 1)
memory_floor = 2 * gathered / memory_bandwidth

PHASE = Phase(
    name="sampling",
    result="sampling_time",
    unit="s",
    expression=sympy.Max(by_workers, memory_floor) / devices,
    meaning="draw the mini-batch's neighbors and gather its feature rows",
    source="lgnnic2026",
    assumption="cost is linear in what is drawn; workers follow the Universal Scalability Law; memory nodes share evenly",
    valid_when=(Condition(workers <= cores, "more workers than cores: the rest wait"),),
    regimes=(Condition(memory_floor > by_workers, "memory bandwidth limits sampling, more workers don't help"),),
)
