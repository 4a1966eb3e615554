"""What the phases of snapshots on processes share: their cores, bytes of states and weights, messages."""

from __future__ import annotations

import sympy

from perfmodel.phases._base import symbols

(length, devices, cores, layers, dimension, hidden, targets) = symbols(
    "frame_length devices process_cores cell_layers feature_dimension hidden_width batch_targets"
)
(row_width, parts, gates, per_target, resident, piece) = symbols(
    "row_width state_parts cell_gates messages_per_target is_resident piece"
)

messages = targets * per_target
state = parts * targets * hidden * row_width
weights = row_width * (2 * dimension * hidden + hidden + layers * gates * hidden * (2 * hidden + 1))
pieces = sympy.ceiling(weights / piece)
rounds = sympy.ceiling(length / devices)
travels = 1 - resident * sympy.Piecewise((1, devices <= 1), (0, True))
