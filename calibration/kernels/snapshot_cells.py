"""Recurrent cells as processes that hold snapshots run them: forward, keeping what the way back needs, and backward."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._beside import AWAY, Beside
from calibration.pipeline.snapshot_model import (
    State,
    add,
    cell_backward,
    cell_forward,
    new_model,
    new_state,
    no_gradient,
)
from calibration.pipeline.snapshot_run import GATES, Cell, Matrix

_HIDDEN, _HIDDEN_QUICK = (10, 28, 72), (14, 72)
_TARGETS, _TARGETS_QUICK = (80, 600), (90, 560)
_SETS = 8  # snapshots that take turns: each finds what it works on where a frame's others left it


class SnapshotCells(Kernel):
    """One cell of one snapshot and layer, with caches as messages and other processes leave them."""

    name = "snapshot_cells"
    isolates = "two products and the gates of one cell forward, or four products and the gates' derivatives backward"
    unit_of_work = "cell of all targets of a snapshot"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return cells, directions, widths and targets."""
        hidden, targets = (_HIDDEN_QUICK, _TARGETS_QUICK) if quick else (_HIDDEN, _TARGETS)
        return [
            {"cell": cell, "direction": way, "hidden": width, "targets": count, "asleep": asleep}
            for cell, way, width, count, asleep in itertools.product(
                GATES, ("forward", "backward"), hidden, targets, AWAY
            )
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Draw weights and a state; a block is one cell."""
        cell: Cell = "lstm" if point["cell"] == "lstm" else "gru"
        targets, hidden = int(point["targets"]), int(point["hidden"])
        random = np.random.default_rng(0)
        weights = new_model(cell, hidden, hidden, 1, 0).layers[0]
        total = no_gradient(weights)
        sets = [_drawn(cell, targets, hidden, random) for _ in range(_SETS)]
        kept = [cell_forward(cell, weights, inputs, state)[1] for inputs, state in sets]
        results: list[Any] = [None] * _SETS  # held until their turn comes again, as a frame holds them
        turns = itertools.cycle(range(_SETS))
        beside, counted = Beside(asleep=float(point["asleep"])), counts_of(point)

        def block() -> Sample:
            number = next(turns)
            inputs, state = sets[number]
            beside(*state)
            results[number] = None
            began = time.perf_counter()
            if point["direction"] == "forward":
                results[number] = cell_forward(cell, weights, inputs, state)
            else:
                results[number] = cell_backward(cell, weights, kept[number], state)
                add(total, results[number].weights)
            return {"time": time.perf_counter() - began, **counted}

        yield block


def _drawn(cell: Cell, targets: int, hidden: int, random: np.random.Generator) -> tuple[Matrix, State]:
    state = [random.standard_normal(part.shape, dtype=np.float32) for part in new_state(cell, targets, hidden)]
    return random.standard_normal((targets, hidden), dtype=np.float32), state


def counts_of(point: Point) -> dict[str, float]:
    """Return the work of a cell.

    Examples
    --------
    >>> counts_of({"cell": "gru", "direction": "backward", "hidden": 10, "targets": 5})["flop"]
    12000.0
    """
    targets, hidden, gates = float(point["targets"]), float(point["hidden"]), GATES[str(point["cell"])]
    products = 2.0 if point["direction"] == "forward" else 4.0
    flop = products * 2.0 * targets * hidden * gates * hidden
    return {"flop": flop, "elements": targets * hidden, "weights": 2.0 * gates * hidden * hidden}


KERNEL = SnapshotCells()
