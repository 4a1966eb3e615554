"""Neighbor sampling by DGL's NeighborSampler."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._packages import load, missing, one_torch_thread
from calibration.kernels._power_law import power_law_graph
from calibration.kernels._sampling_points import fanout_of, sampling_points


class NeighborSamplingDgl(Kernel):
    """``NeighborSampler.sample_blocks``: the blocks of a batch, without features."""

    name = "neighbor_sampling_dgl"
    isolates = (
        "drawing neighbors and building the blocks of one mini-batch by NeighborSampler on one core, without prefetching "
        "features and without the loader's queue"
    )
    unit_of_work = "edge drawn, node found"

    def unavailable(self) -> str:
        """Return which package is missing."""
        return missing("torch", "dgl")

    def points(self, quick: bool) -> Sequence[Point]:
        """Return graphs, batches and fanouts from the seeds outward; DGL takes them in the other order."""
        return sampling_points(quick)

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Build the graph at its first point; the block draws one mini-batch of new seeds."""
        nodes, batch = int(point["nodes"]), int(point["batch"])
        random = np.random.default_rng()
        with one_torch_thread() as torch:
            (dgl,) = load("dgl")
            graph = power_law_graph(nodes, int(point["degree"]))
            parts = (graph.indptr, graph.indices.astype(np.int64), np.arange(graph.edges))
            adjacency = dgl.graph(("csc", tuple(map(torch.from_numpy, parts))), num_nodes=nodes)
            sampler = dgl.dataloading.NeighborSampler(fanout_of(point)[::-1])

            def block() -> Sample:
                seeds = torch.from_numpy(random.choice(nodes, batch, replace=False))
                began = time.perf_counter()
                found, _, blocks = sampler.sample_blocks(adjacency, seeds)
                taken = time.perf_counter() - began
                edges = sum(part.num_edges() for part in blocks)
                return {"time": taken, "edges": float(edges), "nodes": float(len(found))}

            yield block

    def release(self) -> None:
        """Forget the graphs."""
        power_law_graph.cache_clear()


KERNEL = NeighborSamplingDgl()
