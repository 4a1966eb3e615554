"""The same training in one process, without pages, caches or messages: what a run must come to, to the last bit."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence

import numpy as np
import threadpoolctl

from calibration.pipeline.snapshot_device import digest_of
from calibration.pipeline.snapshot_model import (
    KeptCell,
    KeptGraph,
    Model,
    Weights,
    add,
    cell_backward,
    cell_forward,
    flattened,
    graph_backward,
    graph_forward,
    new_model,
    new_state,
    no_gradient,
)
from calibration.pipeline.snapshot_run import Matrix, SnapshotRun, features_of, labels_of, neighbors_of


@dataclasses.dataclass(frozen=True)
class Reference:
    """What every run of a configuration comes to.

    Attributes
    ----------
    states : set of str
        Digests of all states of the first frame.
    last : list of str
        Digest of each frame's last state.
    weights : str
        Digest of the weights after the last frame.
    losses : list of float
    """

    states: frozenset[str]
    last: list[str]
    weights: str
    losses: list[float]


def reference(asked: SnapshotRun, frames: Sequence[int]) -> Reference:
    """Train on the frames, one snapshot after the other.

    Gradients are added up by the process that would hold the snapshot, then over processes: sums of rounded numbers depend
    on their order.
    """
    model = new_model(asked.cell, asked.width, asked.hidden, asked.layers, asked.seed)
    states: list[str] = []
    last: list[str] = []
    losses: list[float] = []
    with threadpoolctl.threadpool_limits(1):
        for number, frame in enumerate(frames):
            graphs, kept, top = _forward(asked, model, frame, states if number == 0 else [])
            off = top - labels_of(asked, frame + asked.window - 1)
            losses.append(float((off * off).mean()) / 2)
            last.append(hashlib.sha256(top.tobytes()).hexdigest())
            model.update(_backward(asked, model, frame, graphs, kept, off / np.float32(top.size)))
    return Reference(frozenset(states), last, hashlib.sha256(model.flat().tobytes()).hexdigest(), losses)


def _forward(
    asked: SnapshotRun, model: Model, frame: int, digests: list[str]
) -> tuple[dict[int, KeptGraph], dict[tuple[int, int], KeptCell], Matrix]:
    graphs: dict[int, KeptGraph] = {}
    kept: dict[tuple[int, int], KeptCell] = {}
    states = [new_state(asked.cell, asked.targets, asked.hidden) for _ in range(asked.layers)]
    for snapshot in range(frame, frame + asked.window):
        graphs[snapshot] = graph_forward(model.graph, neighbors_of(asked, snapshot), features_of(asked, snapshot))
        below = graphs[snapshot].outputs
        for layer in range(asked.layers):
            states[layer], kept[snapshot, layer] = cell_forward(asked.cell, model.layers[layer], below, states[layer])
            below = states[layer][0]
            digests.append(digest_of(snapshot, layer, states[layer]))
    return graphs, kept, below


def _backward(
    asked: SnapshotRun,
    model: Model,
    frame: int,
    graphs: dict[int, KeptGraph],
    kept: dict[tuple[int, int], KeptCell],
    of_top: Matrix,
) -> Matrix:
    shares: list[list[Weights]] = [
        [no_gradient(weights) for weights in [model.graph, *model.layers]] for _ in range(asked.processes)
    ]
    later = [new_state(asked.cell, asked.targets, asked.hidden) for _ in range(asked.layers)]
    for snapshot in range(frame + asked.window - 1, frame - 1, -1):
        own = shares[asked.owner(snapshot)]
        above = of_top if snapshot == frame + asked.window - 1 else None
        for layer in range(asked.layers - 1, -1, -1):
            gradient = [part.copy() for part in later[layer]]
            if above is not None:
                gradient[0] += above
            found = cell_backward(asked.cell, model.layers[layer], kept[snapshot, layer], gradient)
            add(own[1 + layer], found.weights)
            later[layer], above = found.state, found.inputs
        if above is not None:
            add(own[0], graph_backward(graphs[snapshot], above))
    total = flattened(shares[0])
    for share in shares[1:]:
        total = total + flattened(share)
    return total
