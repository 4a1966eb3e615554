"""A process that stands for a device: reads its snapshots, works on their graphs, and runs their cells in turn."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibration.pipeline.clock import Clock
from calibration.pipeline.snapshot_messages import (
    HOST,
    Envelope,
    Kind,
    Mailbox,
    receive_long,
    receive_state,
    send_long,
    send_state,
)
from calibration.pipeline.snapshot_model import (
    KeptCell,
    KeptGraph,
    Model,
    State,
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
from calibration.pipeline.snapshot_pages import PageCache, Staging, open_pages
from calibration.pipeline.snapshot_run import (
    PARTS,
    Matrix,
    SnapshotRun,
    labels_of,
    neighbors_of,
    page_order,
)


class Device:
    """One process' share of a run.

    Parameters
    ----------
    asked : SnapshotRun
    number : int
        Of the process.
    path : str
        File of all features.
    boxes : mapping of str to Mailbox
        ``host``, and with peers ``next`` and ``previous``.
    """

    def __init__(self, asked: SnapshotRun, number: int, path: str, boxes: Mapping[str, Mailbox]) -> None:
        self._asked, self._number, self._boxes = asked, number, boxes
        self._file = open_pages(path, asked.reading)
        self._cache = PageCache(self._file, asked.page, asked.capacity, asked.policy)
        self._staging: dict[int, Staging] = {}
        self._model: Model = new_model(asked.cell, asked.width, asked.hidden, asked.layers, asked.seed)
        self._fixed: dict[int, tuple[Any, list[int], Matrix]] = {}
        self._clock = Clock()
        self._received = 0
        self._digests: list[str] = []
        self._last: list[bytes] = []

    def run(self, frames: Sequence[int]) -> dict[str, Any]:
        """Work on one frame after the other, as the parent says.

        Returns
        -------
        dict
            ``frames`` (clocks and counts of each), ``states`` (digest of every state of the first frame that this process
            made), ``last`` (of the frames' last states), ``weights`` (digest of the weights at the end).
        """
        for snapshot in range(frames[0], frames[-1] + self._asked.window):
            if self._asked.owner(snapshot) == self._number:
                self._fixed[snapshot] = self._data(snapshot)
        found = [self._frame(frame, number == 0) for number, frame in enumerate(frames)]
        return {
            "frames": found,
            "states": self._digests,
            "last": [hashlib.sha256(state).hexdigest() for state in self._last],
            "weights": hashlib.sha256(self._model.flat().tobytes()).hexdigest(),
        }

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _data(self, snapshot: int) -> tuple[Any, list[int], Matrix]:
        asked = self._asked
        return neighbors_of(asked, snapshot), page_order(asked, snapshot), labels_of(asked, snapshot)

    def _frame(self, frame: int, digest: bool) -> dict[str, Any]:
        asked, host = self._asked, self._boxes["host"]
        self._clock.phases, self._received = {}, 0
        hits, misses = self._cache.hits, self._cache.misses
        host.expect(Envelope(Kind.START, frame, 0, 0, 0, HOST, self._number))
        owned = [t for t in range(frame, frame + asked.window) if asked.owner(t) == self._number]
        graphs = self._graphs(owned, frame)
        host.send(Envelope(Kind.READY, frame, 0, 0, 0, self._number, HOST))
        host.expect(Envelope(Kind.GO, frame, 0, 0, 0, HOST, self._number))
        kept, tops = self._forward(owned, graphs, frame, digest)
        gradient = self._backward(owned, graphs, kept, tops, frame)
        with self._clock.phase("weights_sent"):
            send_long(host, Envelope(Kind.WEIGHTS, frame, 0, 0, 0, self._number, HOST), gradient)
        total = receive_long(host, Envelope(Kind.WEIGHTS, frame, 0, 0, 0, HOST, self._number), asked.weight_bytes)
        with self._clock.phase("update"):
            self._model.update(total)
        counts = {"hits": self._cache.hits - hits, "misses": self._cache.misses - misses, "received": self._received}
        return {"phases": dict(self._clock.phases), **counts}

    def _graphs(self, owned: Sequence[int], frame: int) -> dict[int, KeptGraph]:
        asked, found = self._asked, {}
        for place, snapshot in enumerate(owned):
            neighbors, order, _ = self._fixed[snapshot]
            if place not in self._staging:
                self._staging[place] = Staging(asked.pages, asked.page)
            with self._clock.phase("read"):
                self._cache.visit(snapshot * asked.pages, order, self._staging[place])
                if snapshot == frame:
                    self._cache.retire(snapshot * asked.pages, asked.pages)
            with self._clock.phase("graph"):
                features = self._staging[place].rows(asked.nodes, asked.width)
                found[snapshot] = graph_forward(self._model.graph, neighbors, features)
        return found

    def _forward(
        self, owned: Sequence[int], graphs: Mapping[int, KeptGraph], frame: int, digest: bool
    ) -> tuple[dict[tuple[int, int], KeptCell], Matrix | None]:
        asked = self._asked
        states = {layer: new_state(asked.cell, asked.targets, asked.hidden) for layer in range(asked.layers)}
        kept, top, last = {}, None, frame + asked.window - 1
        for snapshot in owned:
            below = graphs[snapshot].outputs
            for layer in range(asked.layers):
                if snapshot > frame and asked.processes > 1:
                    states[layer] = self._receive(Kind.STATE, frame, snapshot, layer, "previous")
                with self._clock.phase("cell"):
                    weights = self._model.layers[layer]
                    state, kept[snapshot, layer] = cell_forward(asked.cell, weights, below, states[layer])
                states[layer], below = state, state[0]
                if digest:
                    self._digests.append(digest_of(snapshot, layer, state))
                if snapshot < last and asked.processes > 1:
                    self._send(Kind.STATE, frame, snapshot + 1, layer, "next", state)
            if snapshot == last:
                top = below
                self._last.append(below.tobytes())
                self._boxes["host"].send(Envelope(Kind.TURNED, frame, 0, 0, 0, self._number, HOST))
        return kept, top

    def _backward(
        self,
        owned: Sequence[int],
        graphs: Mapping[int, KeptGraph],
        kept: Mapping[tuple[int, int], KeptCell],
        top: Matrix | None,
        frame: int,
    ) -> Matrix:
        asked, last = self._asked, frame + self._asked.window - 1
        sums = [no_gradient(weights) for weights in [self._model.graph, *self._model.layers]]
        ours: dict[int, State] = {}
        spatial: dict[int, Matrix] = {}
        for snapshot in reversed(owned):
            from_above: Matrix | None = None
            for layer in reversed(range(asked.layers)):
                if snapshot < last and asked.processes > 1:
                    ours[layer] = self._receive(Kind.GRADIENT, frame, snapshot, layer, "next")
                with self._clock.phase("cell_backward"):
                    gradient = ours.get(layer) or new_state(asked.cell, asked.targets, asked.hidden)
                    if top is not None and snapshot == last and layer == asked.layers - 1:
                        gradient[0] = gradient[0] + (top - self._fixed[last][2]) / np.float32(top.size)
                    if from_above is not None:
                        gradient[0] = gradient[0] + from_above
                    weights = self._model.layers[layer]
                    found = cell_backward(asked.cell, weights, kept[snapshot, layer], gradient)
                    add(sums[1 + layer], found.weights)
                ours[layer], from_above = found.state, found.inputs
                if snapshot > frame and asked.processes > 1:
                    self._send(Kind.GRADIENT, frame, snapshot - 1, layer, "previous", found.state)
            spatial[snapshot] = found.inputs
        with self._clock.phase("graph_backward"):
            for snapshot, through in spatial.items():
                add(sums[0], graph_backward(graphs[snapshot], through))
        return flattened(sums)

    def _send(self, kind: Kind, frame: int, snapshot: int, layer: int, peer: str, state: State) -> None:
        """Send a state to who holds a snapshot: the next process, or the previous one on the way back."""
        asked = self._asked
        envelope = Envelope(kind, frame, snapshot, layer, 0, self._number, asked.owner(snapshot))
        with self._clock.phase("send"):
            send_state(self._boxes[peer if asked.exchange == "peer" else "host"], envelope, state, asked.fragments)

    def _receive(self, kind: Kind, frame: int, snapshot: int, layer: int, peer: str) -> State:
        asked = self._asked
        source = asked.owner(snapshot + (1 if kind == Kind.GRADIENT else -1))
        envelope = Envelope(kind, frame, snapshot, layer, 0, source, self._number)
        box = self._boxes[peer if asked.exchange == "peer" else "host"]
        self._received += 1
        with self._clock.phase("wait"):
            return receive_state(box, envelope, PARTS[asked.cell], (asked.targets, asked.hidden), asked.fragments)


def digest_of(snapshot: int, layer: int, state: State) -> str:
    """Return what tells a hidden state from any other."""
    content = b"".join(part.tobytes() for part in state)
    return f"{snapshot} {layer} {hashlib.sha256(content).hexdigest()}"
