"""What one run over a dynamic graph's snapshots is asked to do, and the data that it works on."""

from __future__ import annotations

import dataclasses
from typing import IO, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perfmodel.errors import SpecError

Matrix = NDArray[np.float32]
Cell = Literal["lstm", "gru"]
#: Gates of each cell, and the matrices that make its state.
GATES: Final = {"lstm": 4, "gru": 3}
PARTS: Final = {"lstm": 2, "gru": 1}
MOST_PROCESSES: Final = 6
#: What may be on its way between two processes at most [B]: more than sockets hold would let both wait for each other.
MOST_ON_THE_WAY: Final = 96 << 10
_CHOICES: Final = {
    "cell": tuple(GATES),
    "exchange": ("host", "peer"),
    "policy": ("lru", "pinned"),
    "reading": ("buffered", "direct"),
}
_ALIGNMENT: Final = 4096  # bytes: what direct reads ask of places, sizes and memory


@dataclasses.dataclass(frozen=True)
class SnapshotRun:
    """One run: windows of snapshots, each trained on forward and backward, one after the other.

    Attributes
    ----------
    processes : int
        Each stands for a device and holds every so many-th of the snapshots.
    window : int
        Snapshots of a frame; the next frame starts one snapshot later.
    frames : int
        That are timed.
    layers : int
        Of recurrent cells.
    nodes, targets : int
        Nodes of a snapshot whose features are read, and the first of them, which have a hidden state [node].
    degree : int
        Nodes that each target averages over.
    width, hidden : int
        Of features and of hidden states.
    cell : str
        ``lstm`` or ``gru``.
    exchange : str
        ``host``: hidden states go through the parent; ``peer``: from process to process.
    fragments : int
        Messages that one hidden state is cut into.
    page : int
        [B].
    capacity : int
        Pages that each process' cache holds.
    policy : str
        ``lru`` or ``pinned``.
    reading : str
        ``buffered``: from the system's page cache; ``direct``: past it.
    seed : int
        Of data and weights.
    """

    processes: int = 2
    window: int = 4
    frames: int = 6
    layers: int = 1
    nodes: int = 512
    targets: int = 64
    degree: int = 8
    width: int = 64
    hidden: int = 32
    cell: Cell = "lstm"
    exchange: Literal["host", "peer"] = "host"
    fragments: int = 1
    page: int = 4096
    capacity: int = 64
    policy: Literal["lru", "pinned"] = "lru"
    reading: Literal["buffered", "direct"] = "buffered"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("window", "frames", "layers", "nodes", "targets", "degree", "width", "hidden", "fragments"):
            self._ask(getattr(self, name) >= 1, name, "must be at least 1", "1")
        self._ask(1 <= self.processes <= MOST_PROCESSES, "processes", f"must be from 1 to {MOST_PROCESSES}")
        self._ask(self.processes <= self.window, "processes", "must be at most the window", str(self.window))
        self._ask(self.targets <= self.nodes, "targets", "must be at most the nodes", str(self.nodes))
        self._ask(self.capacity >= 0, "capacity", "must be at least 0", "0")
        self._ask(
            self.page >= _ALIGNMENT and self.page % _ALIGNMENT == 0, "page", f"must be a multiple of {_ALIGNMENT}"
        )
        for name, choices in _CHOICES.items():
            self._ask(getattr(self, name) in choices, name, f"must be one of {', '.join(choices)}")
        self._ask(self.fragments <= self.state_bytes // 4, "fragments", "must leave each four bytes at least")
        rule = f"must be small enough for the states of all layers, {self.layers} x {self.state_bytes} bytes, to be "
        self._ask(self.layers * self.state_bytes <= MOST_ON_THE_WAY, "hidden", f"{rule}at most {MOST_ON_THE_WAY} bytes")

    def _ask(self, right: bool, name: str, rule: str, nearest: str | None = None) -> None:
        if not right:
            raise SpecError(f"SnapshotRun.{name}", rule, getattr(self, name), nearest)

    @property
    def state_bytes(self) -> int:
        """Return the bytes of one hidden state of one layer [B]."""
        return PARTS[self.cell] * self.targets * self.hidden * 4

    @property
    def snapshot_bytes(self) -> int:
        """Return the bytes of a snapshot's features [B]."""
        return 4 * self.nodes * self.width

    @property
    def pages(self) -> int:
        """Return the pages of a snapshot's features."""
        return -(-self.snapshot_bytes // self.page)

    @property
    def weight_bytes(self) -> int:
        """Return the bytes of all weights, and so of their gradients [B]."""
        graph = 2 * self.width * self.hidden + self.hidden
        cell = GATES[self.cell] * self.hidden * (2 * self.hidden + 1)
        return 4 * (graph + self.layers * cell)

    def owner(self, snapshot: int) -> int:
        """Return the process that holds a snapshot."""
        return snapshot % self.processes

    def inputs(self) -> dict[str, Any]:
        """Return the run as plain values, by the columns of a table."""
        return dataclasses.asdict(self)


def features_of(asked: SnapshotRun, snapshot: int) -> Matrix:
    """Return a snapshot's features, of shape (nodes, width)."""
    random = np.random.default_rng([asked.seed, snapshot, 0])
    return random.standard_normal((asked.nodes, asked.width), dtype=np.float32)


def neighbors_of(asked: SnapshotRun, snapshot: int) -> sparse.csr_array:
    """Return the matrix that averages over each target's neighbors, of shape (targets, nodes)."""
    random = np.random.default_rng([asked.seed, snapshot, 1])
    columns = random.integers(0, asked.nodes, asked.targets * asked.degree)
    weight = np.full(columns.size, 1.0 / asked.degree, np.float32)
    indptr = np.arange(0, columns.size + 1, asked.degree)
    return sparse.csr_array((weight, columns, indptr), shape=(asked.targets, asked.nodes))


def labels_of(asked: SnapshotRun, snapshot: int) -> Matrix:
    """Return what the last hidden state is trained towards, of shape (targets, hidden)."""
    random = np.random.default_rng([asked.seed, snapshot, 2])
    return random.uniform(-1, 1, (asked.targets, asked.hidden)).astype(np.float32)


def page_order(asked: SnapshotRun, snapshot: int) -> list[int]:
    """Return a snapshot's pages in the order in which every visit asks for them: scattered, as samples are."""
    return [int(page) for page in np.random.default_rng([asked.seed, snapshot, 3]).permutation(asked.pages)]


def store_features(asked: SnapshotRun, snapshots: int, file: IO[bytes]) -> None:
    """Write the features of the first snapshots, each from a page of its own on."""
    for snapshot in range(snapshots):
        file.write(features_of(asked, snapshot).tobytes())
        file.write(bytes(asked.pages * asked.page - asked.snapshot_bytes))
    file.flush()
