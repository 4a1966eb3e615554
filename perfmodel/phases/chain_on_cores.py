r"""Recurrent chain of one direction over processes that share cores: the makespan of as many devices as there are cores.

.. math:: t = T(c + w), \quad T(c) = (g - 1) \max(L c,\ N (c + e)) + (r - 1)(c + e) + c + (L - 1) c

``T`` as of devices (``chain_peer``) with ``N = min(P, K)`` of them in ``g`` rounds; messages hold a core for ``w`` of the time
``e + w`` that a state takes. The parent passes one message on after the other, ``m t_m + b t_b`` for each state: so long it
takes at least for all of them.

Worked number: 8 snapshots of one layer, cells of 0.2 ms, states 0.1 ms apart: 2.3 ms on any number of cores from 2 on.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import makespan
from perfmodel.phases._processes import cores, devices, messages, state

(cell, exchange, handling) = symbols("cell_time exchange_time handling_time")
(relayed, each, byte) = symbols("is_relayed relayed_message_time relayed_byte_time")
shared = relayed * (messages * each + state * byte)
waiting = sympy.Max(exchange - handling, 0)

PHASE = Phase(
    name="chain_on_cores",
    result="chain_time",
    unit="s",
    expression=makespan(cell + handling, waiting, sympy.S.Zero, shared, sympy.Min(devices, cores)),
    meaning="a frame's recurrent cells in one direction and the handovers between them",
    source="mdgnn2026",
    assumption="whichever process has work finds a core that is free",
)
