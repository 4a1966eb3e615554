"""Neighbor sampling by PyG's NeighborLoader."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._packages import load, missing, one_torch_thread
from calibration.kernels._power_law import power_law_graph
from calibration.kernels._sampling_points import fanout_of, sampling_points


class NeighborSamplingPyg(Kernel):
    """``NeighborLoader.collate_fn``: what the loader does for a batch before it gathers features."""

    name = "neighbor_sampling_pyg"
    isolates = (
        "drawing neighbors and renaming nodes of one mini-batch by NeighborLoader on one core, no workers; without "
        "filter_fn, which gathers features and joins the batch, and without the loader's queue"
    )
    unit_of_work = "edge drawn, node found"

    def unavailable(self) -> str:
        """Return which package is missing."""
        without = missing("torch", "torch_geometric.loader")
        if without or not missing("pyg_lib") or not missing("torch_sparse"):
            return without
        return "needs pyg-lib or torch-sparse, by one of which NeighborLoader draws, and neither can be loaded"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return graphs, batches and fanouts, which PyG lists from the seeds outward."""
        return sampling_points(quick)

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Build the graph at its first point; the block draws one mini-batch of new seeds."""
        nodes, batch = int(point["nodes"]), int(point["batch"])
        random = np.random.default_rng()
        with one_torch_thread() as torch:
            loader = _loader(torch, point)

            def block() -> Sample:
                seeds = torch.from_numpy(random.choice(nodes, batch, replace=False))
                began = time.perf_counter()
                drawn = loader.collate_fn(seeds)
                taken = time.perf_counter() - began
                return {"time": taken, "edges": float(drawn.row.numel()), "nodes": float(drawn.node.numel())}

            yield block

    def release(self) -> None:
        """Forget the graphs."""
        power_law_graph.cache_clear()


def _loader(torch: Any, point: Point) -> Any:
    """Return a loader over the graph's transposed adjacency, which needs no sorting anew."""
    data, loaders = load("torch_geometric.data", "torch_geometric.loader")
    graph = power_law_graph(int(point["nodes"]), int(point["degree"]))
    target = np.repeat(np.arange(graph.nodes), graph.in_degree)
    edges = torch.from_numpy(np.stack([graph.indices.astype(np.int64), target]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyG warns that torch-sparse is to be replaced by pyg-lib
        return loaders.NeighborLoader(
            data.Data(edge_index=edges, num_nodes=graph.nodes),
            num_neighbors=fanout_of(point),
            batch_size=int(point["batch"]),
            num_workers=0,
            filter_per_worker=False,  # else collate_fn would gather too
            is_sorted=True,
        )


KERNEL = NeighborSamplingPyg()
