r"""Recurrent chain, states from peer to peer: snapshots in turn on the devices, forward and backward.

.. math:: t = T(c_f) + T(c_b), \quad T(c) = (g - 1) \max(K c,\ N (c + e)) + (r - 1)(c + e) + c + (K - 1) \max(c, l)

``g`` rounds of ``N`` snapshots (``r`` in the last) with ``K`` layers of cells; a state needs ``e`` to the next
snapshot, and ``l = m (t_m + w)`` of the sender's engine and link. One layer is a chain of ``s`` cells and ``s - 1``
handovers, however many devices there are: Amdahl's serial part. At least as long takes the host to ring all doorbells.

Worked number: 4 snapshots, states 0.23 ms apart, cells of 1 us: 1.4 ms, 3.7 times less than through the host.
"""

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._chain import devices, layers, makespan, message, messages

(forward, backward, exchange, link, engine, doorbell) = symbols(
    "forward_cell_time backward_cell_time exchange_time link_bandwidth peer_message_time doorbell_time"
)
holds = exchange, messages * (engine + message / link), doorbell

PHASE = Phase(
    name="chain_peer",
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
