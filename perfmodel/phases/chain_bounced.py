r"""Recurrent chain, states through the host: snapshots in turn on the devices, forward and backward.

.. math:: t = T(c_f) + T(c_b), \quad T(c) = (g - 1) \max(K c,\ N (c + e)) + (r - 1)(c + e) + c + (K - 1) \max(c, m w)

``g`` rounds of ``N`` snapshots (``r`` in the last) with ``K`` layers of cells; a state needs ``e`` to the next
snapshot, and ``m w`` on the sender's link. One layer is a chain of ``s`` cells and ``s - 1`` handovers, however many
devices there are: Amdahl's serial part. At least as long take all exchanges in the host's software, ``2 m t_p/c`` each,
which serves one exchange after another.

Worked number: 4 snapshots, states 0.87 ms apart, cells of 1 us: 3 handovers forward and 3 backward, 5.2 ms.
"""

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._chain import devices, layers, makespan, message, messages

(forward, backward, exchange, link, pass_time, passes) = symbols(
    "forward_cell_time backward_cell_time exchange_time link_bandwidth pass_time passes"
)
holds = exchange, messages * message / link, 2 * messages * pass_time / passes

PHASE = Phase(
    name="chain_bounced",
    result="chain_time",
    unit="s",
    expression=makespan(forward, *holds) + makespan(backward, *holds),
    meaning="the frame's recurrent cells and the handovers between them",
    source="mdgnn2026",
    assumption="no cell before the frame's graph work is done; one frame's chain at a time",
    regimes=(
        Condition(exchange > forward + backward, "handovers, not cells, are what the chain waits for"),
        Condition(layers * forward > devices * (forward + exchange), "devices are busy with cells all the time"),
    ),
)
