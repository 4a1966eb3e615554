"""PyG's sampler in the pipeline's memory node."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.sampler import Csc

Ids = NDArray[np.integer]


class PygDrawing:
    """``NeighborLoader.collate_fn`` over a graph: what the loader does for a mini-batch before it gathers features.

    Raises
    ------
    SpecError
        PyG or what it samples with is not installed.
    """

    def __init__(self, csc: Csc, fanout: Sequence[int]) -> None:
        try:
            import torch
            from torch_geometric.data import Data
            from torch_geometric.loader import NeighborLoader
        except ImportError as error:
            wanted = "pip install '.[pyg]', then torch-scatter and torch-sparse"
            raise SpecError("loader", "needs PyG for pyg", f"no {error.name}", wanted) from None
        torch.set_num_threads(1)
        self._torch = torch
        target = np.repeat(np.arange(csc.nodes), csc.in_degree)
        edges = torch.from_numpy(np.stack([csc.indices.astype(np.int64), target]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyG warns that torch-sparse is to be replaced by pyg-lib
            self._loader = NeighborLoader(
                Data(edge_index=edges, num_nodes=csc.nodes),
                num_neighbors=list(fanout),
                batch_size=1,
                filter_per_worker=False,  # else collate_fn would gather too
                is_sorted=True,
            )

    def __call__(self, seeds: Ids, seed: int) -> tuple[Ids, Ids, Ids]:
        """Draw one mini-batch; returns nodes, sources and targets."""
        self._torch.manual_seed(seed)
        drawn = self._loader.collate_fn(self._torch.from_numpy(np.asarray(seeds)))
        return drawn.node.numpy(), drawn.row.numpy(), drawn.col.numpy()
