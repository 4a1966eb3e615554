"""What the phases of recurrent chains share: the makespan of cells over snapshots and layers, one direction."""

from __future__ import annotations

import sympy

from perfmodel.phases._base import symbols

(length, devices, layers, resident, targets, per_target, hidden, row_width, id_bytes) = symbols(
    "frame_length devices cell_layers is_resident batch_targets messages_per_target hidden_width row_width id_bytes"
)
messages = targets * per_target
message = hidden * row_width + id_bytes
travels = 1 - resident * sympy.Piecewise((1, devices <= 1), (0, True))


def makespan(
    cell: sympy.Expr, exchange: sympy.Expr, link: sympy.Expr, shared: sympy.Expr, places: sympy.Expr = devices
) -> sympy.Expr:
    """Return how long snapshots on devices in turn take, each with its layers of cells.

    Parameters
    ----------
    cell, exchange : sympy.Expr
        One snapshot's cells of one layer, and until its state is at the next snapshot's device [s].
    link, shared : sympy.Expr
        What an exchange holds of one device's link, and of what serves all devices [s].
    places : sympy.Expr
        Where cells can run at a time.
    """
    step = cell + travels * exchange
    column = cell + (layers - 1) * sympy.Max(cell, travels * link)
    rounds = sympy.ceiling(length / places)
    last = length - (rounds - 1) * places
    pace = sympy.Max(layers * cell, places * step)
    longest = sympy.Max(
        (rounds - 1) * pace + (last - 1) * step + column,
        sympy.Piecewise(((rounds - 2) * pace + (places - 1) * step + column, rounds > 1), (0, True)),
    )
    crowded = travels * ((length - 1) * layers * shared + exchange - shared) + 2 * cell
    return sympy.Max(longest, sympy.Piecewise((crowded, length > 1), (0, True)))
