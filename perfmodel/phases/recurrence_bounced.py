r"""Recurrent phase through the host: the chain, and the last state's way to the loss and back.

.. math:: t = t_c + t_d

Worked number: 5.2 ms of chain and 0.87 ms of delivery are 6.1 ms for a frame of 4 snapshots, 2 x 4 - 1 half ways each
direction.
"""

from perfmodel.phases._base import Phase, symbols

(chain, delivery) = symbols("chain_time delivery_time")

PHASE = Phase(
    name="recurrence_bounced",
    result="recurrence_time",
    unit="s",
    expression=chain + delivery,
    meaning="recurrent cells, handovers through the host, and the loss",
    source="mdgnn2026",
)
