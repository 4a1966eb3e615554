r"""Snapshots that a device works on for each frame, with ``B`` frames in flight over ``N`` devices.

.. math:: z = \left\lceil \frac{g B}{N} \right\rceil \frac{s}{g B}

A frame of ``s`` snapshots is shared out in ``g`` parts: its snapshots, itself, or as many chunks of nodes as there are
devices.

Worked number: 16 frames of 4 snapshots on 16 devices: 4 each, 0.25 for each frame; one frame in flight leaves 12
devices idle.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(length, frames, devices, by_frame, by_chunk) = symbols("frame_length frames_in_flight devices by_frame by_chunk")

parts = frames * (by_frame + (1 - by_frame) * (by_chunk * devices + (1 - by_chunk) * length))

PHASE = Phase(
    name="device_turns",
    result="device_turns",
    unit="",
    expression=sympy.ceiling(parts / devices) * length / parts,
    meaning="snapshots on the busiest device for each frame",
    source="mdgnn2026",
    assumption="all snapshots take as long",
)
