"""Layers of a graph neural network, forward and backward, in numpy and SciPy on one core."""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.configuration import SyntheticGraph, csc_of
from calibration.pipeline.training import Trainer
from perfmodel.graph.sampler import Drawn, sample
from perfmodel.model.gnn_work import Layer, work_on_core

#: Mini-batches of the first reach the same nodes by many edges, of the second nearly each node by one.
_GRAPHS = {"dense": SyntheticGraph(5000, 40.0, 1.0, seed=7), "sparse": SyntheticGraph(300_000, 9.0, 0.8, seed=7)}
_FANOUTS, _FANOUTS_QUICK = ("10", "10,6", "7,5,3"), ("10,5", "6,5,3")
_BATCHES, _BATCHES_QUICK = (48, 200, 800), (64, 400)
_WIDTHS = ("24,16,8", "64,32,16", "150,64,12", "300,32,24", "40,96,40")
_WIDTHS_QUICK = ("32,16,8", "160,64,16")


class GnnLayers(Kernel):
    """A training step of GraphSAGE on real mini-batches: as many layers as hops."""

    name = "gnn_layers"
    isolates = "forward pass, backward pass and update of the plain trainer on one core, with the adjacency made first"
    unit_of_work = "step"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return fanouts, batches and widths (features, hidden, classes)."""
        choices = (_FANOUTS_QUICK, _BATCHES_QUICK, _WIDTHS_QUICK) if quick else (_FANOUTS, _BATCHES, _WIDTHS)
        return with_waiting(
            [{"graph": g, "fanout": f, "batch": b, "widths": w} for g, f, b, w in itertools.product(_GRAPHS, *choices)]
        )

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Draw a mini-batch and make its features; a block is one step."""
        fanout = tuple(int(part) for part in str(point["fanout"]).split(","))
        inputs, hidden, classes = (int(part) for part in str(point["widths"]).split(","))
        widths = (inputs, *[hidden] * (len(fanout) - 1), classes)
        drawn = _drawn(str(point["graph"]), int(point["batch"]), fanout)
        rng = np.random.default_rng(0)
        features = rng.random((drawn.nodes.size, inputs), dtype=np.float32)
        labels = rng.integers(0, classes, int(point["batch"]))
        trainer = Trainer(widths)
        wait = Wait(point)
        counted = counts(drawn.nodes.size, drawn.source.size, widths)

        def block() -> Sample:
            wait(features)
            began = time.perf_counter()
            trainer.step(drawn.source, drawn.target, features, labels)
            return {"time": time.perf_counter() - began, **counted}

        yield block


@functools.lru_cache(maxsize=64)
def _drawn(graph: str, batch: int, fanout: tuple[int, ...]) -> Drawn:
    rng = np.random.default_rng(batch)
    csc = csc_of(_GRAPHS[graph])
    return sample(csc, rng.choice(csc.nodes, batch, replace=False), fanout, rng=rng)


def counts(nodes: int, edges: int, widths: Sequence[int]) -> dict[str, float]:
    """Return the work of a step by the model's names; SAGE has two products a layer."""
    stack = [Layer(float(nodes), float(edges), float(i), float(o)) for i, o in itertools.pairwise(widths)]
    done = work_on_core(stack, 2.0)
    return {
        "product_flop": done.product_flop,
        "passed_elements": done.passed_elements,
        "read_elements": done.read_elements,
        "written_elements": done.written_elements,
        "training_layers": done.layers,
    }


KERNEL = GnnLayers()
