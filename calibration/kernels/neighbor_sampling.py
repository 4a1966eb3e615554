"""The plain neighbor sampler: what a call, an expanded node, an edge, a choice and a new node cost."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.batches import Loader, PlainDrawing
from calibration.pipeline.configuration import SyntheticGraph, csc_of
from perfmodel.graph.sampler import Csc, Drawn

_GRAPHS = ((4000, 12.0, 0.8), (20_000, 8.0, 1.2), (60_000, 25.0, 1.0), (250_000, 10.0, 1.0), (600_000, 6.0, 0.7))
_GRAPHS_QUICK = ((20_000, 10.0, 1.0), (200_000, 12.0, 1.0))
_FANOUTS = ("5", "10,5", "25,10", "15,10,5", "-1", "-1,-1")
_FANOUTS_QUICK = ("10", "15,10", "10,5,5", "-1,-1")


class NeighborSampling(Kernel):
    """One mini-batch after another from random graphs with heavy tails; every block has other seeds."""

    name = "neighbor_sampling"
    isolates = "drawing neighbors, renaming nodes and stacking the edges on one core, without gathering features"
    unit_of_work = "mini-batch"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return graphs, batches and fanouts."""
        graphs, batches = (_GRAPHS_QUICK, (64, 512)) if quick else (_GRAPHS, (48, 256, 1024))
        return with_waiting(
            [
                {"nodes": nodes, "mean_degree": degree, "spread": spread, "batch": batch, "fanout": fanout}
                for (nodes, degree, spread), batch, fanout in itertools.product(
                    graphs, batches, _FANOUTS_QUICK if quick else _FANOUTS
                )
                if not (fanout == "-1,-1" and batch > 300)
            ]
        )

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Keep one sampler for all blocks, as a loader does."""
        csc = csc_of(SyntheticGraph(int(point["nodes"]), float(point["mean_degree"]), float(point["spread"])))
        fanout = tuple(int(part) for part in str(point["fanout"]).split(","))
        rng = np.random.default_rng(0)
        draw = PlainDrawing(csc, fanout)
        loader = Loader(draw, np.zeros((csc.nodes, 0), np.float32), np.zeros(csc.nodes, np.int64))
        wait = Wait(point)

        def block() -> Sample:
            seeds = rng.choice(csc.nodes, int(point["batch"]), replace=False)
            wait(seeds)
            seed = int(rng.integers(2**31))
            began = time.perf_counter()
            loader.load(seeds, seed)
            taken = time.perf_counter() - began
            return {"time": taken, **counts(csc, draw.drawn, fanout)}

        yield block


def counts(csc: Csc, drawn: Drawn, fanout: Sequence[int]) -> dict[str, float]:
    """Return what a mini-batch took by the model's names: calls, expanded nodes, edges, chosen edges and nodes."""
    ends = np.concatenate([[0], np.cumsum(drawn.nodes_per_hop)])
    expanded = chosen = 0
    for hop, neighbors in enumerate(fanout):
        nodes = drawn.nodes[ends[hop] : ends[hop + 1]]
        expanded += nodes.size
        if neighbors > 0:
            degree = csc.indptr[nodes + 1] - csc.indptr[nodes]
            chosen += neighbors * int((degree > neighbors).sum())
    return {
        "choosing_hops": float(sum(neighbors > 0 for neighbors in fanout)),
        "relation_hops": float(len(fanout)),
        "expanded": float(expanded),
        "edges": float(drawn.source.size),
        "chosen": float(chosen),
        "sampled_nodes": float(drawn.nodes.size),
    }


KERNEL = NeighborSampling()
