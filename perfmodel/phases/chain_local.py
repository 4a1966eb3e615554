r"""Recurrent cells where every device has all snapshots of its targets: nothing is handed over.

.. math:: t = a\,s K (c_f + c_b), \quad a = \begin{cases} \lceil B/N \rceil / B & \text{frames} \\ 1 & \text{chunks} \end{cases}

Worked number: 4 snapshots of one layer, 1 us forward and backward, 16 frames on 4 devices: 1 us for each frame.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import devices, layers, length

(forward, backward, frames, by_frame) = symbols("forward_cell_time backward_cell_time frames_in_flight by_frame")
share = by_frame * sympy.ceiling(frames / devices) / frames + 1 - by_frame

PHASE = Phase(
    name="chain_local",
    result="chain_time",
    unit="s",
    expression=share * length * layers * (forward + backward),
    meaning="the frame's recurrent cells, none waiting for another device",
    source="mdgnn2026",
)
