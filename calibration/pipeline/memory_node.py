"""The memory node: holds the graph, draws mini-batches (or their whole neighborhoods), rounds them and sends them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.pipeline.batches import Alone, Batch, Loader, Workers, drawing
from calibration.pipeline.chunks import Sending, send
from calibration.pipeline.clock import Clock
from calibration.pipeline.configuration import Configuration
from calibration.pipeline.precision import Codec, encoded_bytes
from perfmodel.graph.sampler import Csc

Bytes = NDArray[np.uint8]

FEATURES, EDGE_INDEX, LABELS = 0, 1, 2


class MemoryNode:
    """One configuration, set up.

    Parameters
    ----------
    asked : Configuration
    csc : Csc
    cores : sequence of int
        Cores that workers are spread over.
    """

    def __init__(self, asked: Configuration, csc: Csc, cores: Sequence[int] = ()) -> None:
        self.asked = asked
        rng = np.random.default_rng(asked.graph.seed)
        features = rng.random((csc.nodes, asked.dimension), dtype=np.float32)
        labels = rng.integers(0, asked.classes, csc.nodes)
        loader = Loader(drawing(csc, asked.sent_fanout, asked.loader), features, labels)
        self._source: Alone | Workers
        if asked.workers:
            most_nodes, most_edges = _most(asked, csc)
            self._source = Workers(loader, csc.nodes, asked.batch, asked.workers, most_nodes, most_edges, cores)
        else:
            self._source = Alone(loader, csc.nodes, asked.batch)
        self._codec = Codec(asked.dimension, asked.precision)
        self._encoded = np.zeros(0, np.uint8)

    def close(self) -> None:
        """End the workers."""
        if isinstance(self._source, Workers):
            self._source.close()

    def step(self, step: int, channel: Sending, verify: bool) -> dict[str, Any]:
        """Draw, round and send one mini-batch.

        Returns
        -------
        dict
            ``phases`` [s], ``sent_bytes`` [B], time that workers spent on it during the steps of others, less what they
            spent on others during this one, as ``elsewhere`` [s], and, where asked to verify, each tensor's ``digest``.
        """
        clock = Clock()
        start = time.perf_counter()
        batch, sampling = self._source.next(step)
        elsewhere = sampling - (time.perf_counter() - start) if self.asked.workers else 0.0
        offloaded = self.asked.placement == "memory-node"
        clock.add("sampling" if offloaded else "neighborhood_lookup", sampling)
        features = _bytes(batch.features)
        if self.asked.precision != "fp32":
            with clock.phase("quantization"):
                features = self._encode(batch)
        tensors = {FEATURES: features, EDGE_INDEX: _bytes(batch.edge_index), LABELS: _bytes(batch.labels)}
        start = time.perf_counter()
        for number, data in tensors.items():
            send(channel, number, data, self.asked.chunk, self.asked.window)
        clock.add("transfer", time.perf_counter() - start)
        sent_bytes = sum(data.size for data in tensors.values())
        found: dict[str, Any] = {"phases": clock.phases, "sent_bytes": sent_bytes, "elsewhere": elsewhere}
        if verify:
            found["digest"] = digests(tensors)
        return found

    def _encode(self, batch: Batch) -> Bytes:
        size = encoded_bytes(batch.features.shape[0], self.asked.dimension, self.asked.precision)
        if self._encoded.size < size:
            self._encoded = np.zeros(size * 5 // 4, np.uint8)
        return self._codec.encode(batch.features, self._encoded[:size])


def _bytes(array: NDArray[Any]) -> Bytes:
    """Return an array's memory as bytes, without a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def digests(tensors: dict[int, Bytes]) -> dict[int, str]:
    """Return the sha256 of each tensor."""
    return {number: hashlib.sha256(data.tobytes()).hexdigest() for number, data in tensors.items()}


def _most(asked: Configuration, csc: Csc) -> tuple[int, int]:
    """Return the most nodes and edges that a mini-batch can have."""
    edges, frontier = 0, asked.batch
    for neighbors in asked.sent_fanout:
        drawn = csc.edges if neighbors < 0 else min(frontier * neighbors, csc.edges)
        edges, frontier = edges + drawn, min(drawn, csc.nodes)
    return min(csc.nodes, asked.batch + edges), min(edges, csc.edges)
