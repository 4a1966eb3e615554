"""Making neighbor lists of edges that arrived, for a sampler on the compute node."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.batches import drawing
from calibration.pipeline.compute_node import neighbor_lists

_WIDENED: Final = 1 << 19  # elements: 2 MiB


class EdgeIndexing(Kernel):
    """Edges grouped by target, of sizes that neighborhoods have."""

    name = "edge_indexing"
    isolates = "counting the edges of each node, adding up, and setting up a sampler on them, on one core"
    unit_of_work = "edge"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return numbers of edges, and edges of a node."""
        sizes = (20_000, 400_000) if quick else (5000, 20_000, 100_000, 400_000)
        return with_waiting([{"edges": size, "per_node": share} for size in sizes for share in (1, 4, 20)])

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Make the edges."""
        edges = int(point["edges"])
        nodes = edges // int(point["per_node"])
        rng = np.random.default_rng(0)
        source, target = rng.integers(0, nodes, edges), np.sort(rng.integers(0, nodes, edges))
        wait = Wait(point)
        features = np.zeros(_WIDENED, np.float32)

        def block() -> Sample:
            wait(source, target)  # they have just arrived
            np.add(features, 1.0, out=features)  # widening leaves none of them in the core's own cache
            began = time.perf_counter()
            drawing(neighbor_lists(source, target, nodes), (1,))
            return {"time": time.perf_counter() - began, "edges": float(edges), "nodes": float(nodes)}

        yield block


KERNEL = EdgeIndexing()
