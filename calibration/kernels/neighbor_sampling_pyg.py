"""Neighbor sampling by PyG's NeighborLoader."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
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
        return with_waiting(sampling_points(quick))

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Build the graph at its first point; the block draws one mini-batch of new seeds."""
        nodes, batch = int(point["nodes"]), int(point["batch"])
        degree = power_law_graph(nodes, int(point["degree"])).in_degree
        random = np.random.default_rng()
        wait = Wait(point)
        with one_torch_thread() as torch:
            loader = _loader(torch, point)

            def block() -> Sample:
                seeds = torch.from_numpy(random.choice(nodes, batch, replace=False))
                wait()
                began = time.perf_counter()
                drawn = loader.collate_fn(seeds)
                taken = time.perf_counter() - began
                counted = counts(drawn.node.numpy(), drawn.col.numpy(), degree, fanout_of(point))
                return {"time": taken, **counted}

            yield block

    def release(self) -> None:
        """Forget the graphs."""
        power_law_graph.cache_clear()


def counts(
    nodes: NDArray[np.int64], target: NDArray[np.int64], degree: NDArray[np.int64], fanout: Sequence[int]
) -> dict[str, float]:
    """Return what a mini-batch took by the model's names; where fewer edges than neighbors were drawn, they were chosen.

    Parameters
    ----------
    nodes : array of shape (nodes,)
        Global ids.
    target : array of shape (edges,)
        Local ids.
    degree : array of shape (all nodes,)
        Neighbors of every node of the graph.
    fanout : sequence of int
    """
    drawn = np.bincount(target, minlength=nodes.size)
    return {
        "choosing_hops": float(sum(neighbors > 0 for neighbors in fanout)),
        "relation_hops": float(len(fanout)),
        "expanded": float((drawn > 0).sum()),
        "edges": float(target.size),
        "chosen": float(drawn[drawn < degree[nodes]].sum()),
        "sampled_nodes": float(nodes.size),
        "nodes": float(nodes.size),
    }


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
