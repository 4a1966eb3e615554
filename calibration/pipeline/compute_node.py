"""The compute node: puts tensors together, widens features, samples where the plan says so, and trains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.disturbance import Pulse
from calibration.pipeline.batches import drawing, gather
from calibration.pipeline.chunks import PipelineError, Receiving, aggregation, receive
from calibration.pipeline.clock import Clock
from calibration.pipeline.configuration import Configuration
from calibration.pipeline.memory_node import EDGE_INDEX, FEATURES, LABELS, digests
from calibration.pipeline.precision import Codec, encoded_bytes
from calibration.pipeline.training import Trainer
from perfmodel.graph.sampler import Csc

Bytes = NDArray[np.uint8]
Features = NDArray[np.float32]
Ids = NDArray[np.integer]


class ComputeNode:
    """One configuration, set up."""

    def __init__(self, asked: Configuration) -> None:
        self.asked = asked
        self._aggregate = aggregation(asked.aggregation)
        self._codec = Codec(asked.dimension, asked.precision)
        self._trainer = Trainer(asked.widths)
        self._wide = np.zeros((0, asked.dimension), np.float32)
        self._rows = np.zeros((0, asked.dimension), np.float32)

    def step(self, step: int, channel: Receiving, verify: bool, pulse: Pulse) -> dict[str, Any]:
        """Receive one mini-batch and train on it, with a pulse between the two.

        Returns
        -------
        dict
            ``phases`` [s], ``pulse_time`` [s], ``nodes``, ``edges``, ``loss`` and, where asked to verify, the ``digest``
            of each tensor.
        """
        clock = Clock()
        tensors = dict(receive(channel, self._aggregate) for _ in (FEATURES, EDGE_INDEX, LABELS))
        if sorted(tensors) != [FEATURES, EDGE_INDEX, LABELS]:
            raise PipelineError(f"expected features, edge index and labels, got tensors {sorted(tensors)}")
        found: dict[str, Any] = {"pulse_time": pulse(), **({"digest": digests(tensors)} if verify else {})}
        features = self._decoded(tensors[FEATURES], clock)
        edges = tensors[EDGE_INDEX].view(np.int64)
        source: Ids = edges[: edges.size // 2]
        target: Ids = edges[edges.size // 2 :]
        labels = tensors[LABELS].view(np.int64)
        if self.asked.placement == "compute-node":
            features, source, target = self._sampled(step, features, source, target, clock)
        with clock.phase("training"):
            loss = self._trainer.step(source, target, features, labels)
        return {**found, "phases": clock.phases, "nodes": features.shape[0], "edges": source.size, "loss": loss}

    def _decoded(self, sent: Bytes, clock: Clock) -> Features:
        rows = sent.size // encoded_bytes(1, self.asked.dimension, self.asked.precision)
        if self.asked.precision == "fp32":
            return sent.view(np.float32).reshape(rows, self.asked.dimension)
        with clock.phase("dequantization"):
            if self._wide.shape[0] < rows:
                self._wide = np.zeros((rows * 5 // 4, self.asked.dimension), np.float32)
            return self._codec.decode(sent, rows, self._wide[:rows])

    def _sampled(
        self, step: int, features: Features, source: Ids, target: Ids, clock: Clock
    ) -> tuple[Features, Ids, Ids]:
        """Draw the mini-batch out of the neighborhood that arrived; its first nodes are the seeds."""
        with clock.phase("indexing"):
            lists = neighbor_lists(source, target, features.shape[0])
            draw = drawing(lists, self.asked.fanout, self.asked.loader)
        with clock.phase("sampling"):
            nodes, source, target = draw(np.arange(self.asked.batch), step)
            if self._rows.shape[0] < nodes.size:
                self._rows = np.zeros((nodes.size * 5 // 4, self.asked.dimension), np.float32)
            rows = gather(features, nodes, self._rows)
        return rows, source, target


def neighbor_lists(source: Ids, target: Ids, nodes: int) -> Csc:
    """Return the adjacency of edges that are grouped by target.

    Examples
    --------
    >>> neighbor_lists(np.array([1, 2]), np.array([0, 0]), 3).in_degree.tolist()
    [2, 0, 0]
    """
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(target, minlength=nodes), out=indptr[1:])
    return Csc(indptr, source, nodes)
