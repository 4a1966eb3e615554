"""The graph layer of one snapshot, forward and backward: averaging over neighbors whose rows were just read."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._beside import FRAME, Beside
from calibration.pipeline.snapshot_model import add, graph_backward, graph_forward, new_model, no_gradient
from calibration.pipeline.snapshot_pages import Staging
from calibration.pipeline.snapshot_run import SnapshotRun, features_of, neighbors_of, page_order

_SETS = 8  # snapshots that take turns: each finds what it works on where a frame's others left it
_TARGETS, _TARGETS_QUICK = (80, 600), (90, 560)
_SHAPES = (
    (1500, 6, 32, 14), (1500, 24, 160, 40), (5000, 6, 160, 14), (5000, 24, 40, 72), (10000, 12, 140, 28),
    (12000, 12, 40, 28), (3000, 12, 140, 72),
)  # fmt: skip
_SHAPES_QUICK = ((1500, 6, 40, 14), (6000, 20, 140, 48), (3000, 24, 24, 72), (12000, 12, 40, 28), (3000, 6, 140, 28))
_PAGE = 4096


class SnapshotGraphs(Kernel):
    """One snapshot's graph layer."""

    name = "snapshot_graphs"
    isolates = "averaging neighbors' rows, two products and a rectifier forward, or two products backward"
    unit_of_work = "graph of all targets of a snapshot"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return directions, targets and shapes: nodes, degree, width of features and of hidden states."""
        targets, shapes = (_TARGETS_QUICK, _SHAPES_QUICK) if quick else (_TARGETS, _SHAPES)
        return [
            {"direction": way, "targets": count, "nodes": n, "degree": d, "width": w, "hidden": h}
            for way, count, (n, d, w, h) in itertools.product(("forward", "backward"), targets, shapes)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Make a snapshot; a block is its graph layer."""
        sizes: dict[str, Any] = {name: int(point[name]) for name in ("targets", "nodes", "degree", "width")}
        asked = SnapshotRun(processes=1, layers=1, cell="gru", hidden=1, page=_PAGE, **sizes)
        snapshots = [_Snapshot(asked, number) for number in range(_SETS)]
        weights = new_model("gru", asked.width, int(point["hidden"]), 1, 0).graph
        kept = [graph_forward(weights, each.neighbors, each.features) for each in snapshots]
        gradient = np.ones_like(kept[0].outputs)
        total = no_gradient(weights)
        results: list[Any] = [None] * _SETS  # held until their turn comes again, as a frame holds them
        turns = itertools.cycle(range(_SETS))
        beside, counted = Beside(FRAME), counts_of(point)

        def block() -> Sample:
            number = next(turns)
            own = snapshots[number]
            results[number] = None
            if point["direction"] == "forward":
                beside()
                own.read()
            else:
                beside(gradient)
            began = time.perf_counter()
            if point["direction"] == "forward":
                results[number] = graph_forward(weights, own.neighbors, own.features)
            else:
                add(total, graph_backward(kept[number], gradient))
            return {"time": time.perf_counter() - began, **counted}

        yield block


class _Snapshot:
    """A snapshot whose features come page by page, as a process has read them when it goes on with the graph."""

    def __init__(self, asked: SnapshotRun, number: int) -> None:
        self.neighbors = neighbors_of(asked, number)
        self._staging = Staging(asked.pages, asked.page)
        self._order = page_order(asked, number)
        self.features = self._staging.rows(asked.nodes, asked.width)
        self.features[...] = features_of(asked, number)
        self._held = self._staging.pages.copy()

    def read(self) -> None:
        """Bring the pages together, each at its place."""
        for place in self._order:
            self._staging.pages[place] = self._held[place]


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
        "rows": targets * float(point["degree"]) if forward else 0.0,
        "passed": targets * float(point["degree"]) * width if forward else 0.0,
        "flop": 2.0 * 2.0 * targets * width * hidden,
        "elements": targets * (width + hidden),
    }


KERNEL = SnapshotGraphs()
