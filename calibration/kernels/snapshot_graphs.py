"""The graph layer of one snapshot, forward and backward: averaging over neighbors whose rows were just read."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait
from calibration.pipeline.snapshot_model import add, graph_backward, graph_forward, new_model, no_gradient
from calibration.pipeline.snapshot_run import SnapshotRun, features_of, neighbors_of

_SETS = 8  # snapshots that take turns: each finds what it works on where a frame's others left it
_AWAY = 1e-3  # seconds
_TARGETS, _TARGETS_QUICK = (40, 160, 640), (64, 400)
_SHAPES = ((1000, 6, 24, 16), (1000, 24, 80, 48), (5000, 6, 80, 16), (5000, 24, 24, 48), (12000, 12, 160, 96))
_SHAPES_QUICK = ((1500, 6, 32, 16), (6000, 20, 96, 48))


class SnapshotGraphs(Kernel):
    """One snapshot's graph layer."""

    name = "snapshot_graphs"
    isolates = "averaging neighbors' rows, two products and a rectifier forward, or two products backward"
    unit_of_work = "graph of all targets of a snapshot"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return directions, targets and shapes: nodes, degree, width of features and of hidden states."""
        targets, shapes = (_TARGETS_QUICK, _SHAPES_QUICK) if quick else (_TARGETS, _SHAPES)
        return [
            {"direction": way, "targets": count, "nodes": n, "degree": d, "width": w, "hidden": h, "away": _AWAY}
            for way, count, (n, d, w, h) in itertools.product(("forward", "backward"), targets, shapes)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Make a snapshot; a block is its graph layer."""
        sizes: dict[str, Any] = {name: int(point[name]) for name in ("targets", "nodes", "degree", "width")}
        asked = SnapshotRun(processes=1, layers=1, cell="gru", hidden=1, **sizes)
        snapshots = [(features_of(asked, number), neighbors_of(asked, number)) for number in range(_SETS)]
        weights = new_model("gru", asked.width, int(point["hidden"]), 1, 0).graph
        kept = [graph_forward(weights, neighbors, features) for features, neighbors in snapshots]
        gradient = np.ones_like(kept[0].outputs)
        total = no_gradient(weights)
        results: list[Any] = [None] * _SETS  # held until their turn comes again, as a frame holds them
        turns = itertools.cycle(range(_SETS))
        wait, counted = Wait(point), counts_of(point)

        def block() -> Sample:
            number = next(turns)
            features, neighbors = snapshots[number]
            wait(*((features,) if point["direction"] == "forward" else (gradient,)))
            results[number] = None
            began = time.perf_counter()
            if point["direction"] == "forward":
                results[number] = graph_forward(weights, neighbors, features)
            else:
                add(total, graph_backward(kept[number], gradient))
            return {"time": time.perf_counter() - began, **counted}

        yield block


def counts_of(point: Point) -> dict[str, float]:
    """Return the work of a graph layer.

    Examples
    --------
    >>> counts_of({"direction": "forward", "targets": 5, "nodes": 9, "degree": 3, "width": 7, "hidden": 2})["passed"]
    105.0
    """
    targets, width, hidden = float(point["targets"]), float(point["width"]), float(point["hidden"])
    forward = point["direction"] == "forward"
    return {
        "passed": targets * float(point["degree"]) * width if forward else 0.0,
        "flop": 2.0 * 2.0 * targets * width * hidden,
        "elements": targets * (width + hidden),
    }


KERNEL = SnapshotGraphs()
