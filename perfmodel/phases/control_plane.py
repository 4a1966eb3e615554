r"""Control plane: after every handover on the chain the host takes a completion and rings a doorbell.

.. math:: t = 2 (s - 1)\,t_b

Worked number: 4 snapshots at 1 us each: 6 us for a frame, forward and backward.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import length, travels

(doorbell,) = symbols("doorbell_time")

PHASE = Phase(
    name="control_plane",
    result="control_time",
    unit="s",
    expression=2 * travels * sympy.Max(length - 1, 0) * doorbell,
    meaning="completions and doorbells between the frame's snapshots",
    source="mdgnn2026",
    assumption="payload goes around the host; what is left for it takes its turn on the chain",
)
