"""Mini-batches of the pipeline: drawn and gathered by the plain sampler, alone or by worker processes."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.process import settle
from perfmodel.graph.sampler import Csc, Drawn, NeighborSampler

Features = NDArray[np.float32]
Ids = NDArray[np.int64]


class Batch(NamedTuple):
    """A mini-batch: feature rows of its nodes, local ids of its edges, classes of its seeds."""

    features: Features
    edge_index: Ids
    labels: Ids


class Drawing(Protocol):
    """Draws the nodes and edges of a mini-batch: global ids of its nodes, local ids of its edges' ends."""

    def __call__(self, seeds: Ids, seed: int) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]:
        """Return nodes, sources and targets; targets ascend."""


def drawing(csc: Csc, fanout: Sequence[int], loader: str = "plain") -> Drawing:
    """Return the sampler of a loader: ``plain`` or ``pyg``."""
    if loader == "pyg":
        from calibration.pipeline.pyg import PygDrawing

        return PygDrawing(csc, fanout)
    return PlainDrawing(csc, fanout)


class PlainDrawing:
    """perfmodel's own sampler, with its renaming table kept; ``drawn`` is what it drew last."""

    drawn: Drawn

    def __init__(self, csc: Csc, fanout: Sequence[int]) -> None:
        self._sampler, self._fanout = NeighborSampler(csc), tuple(fanout)

    def __call__(self, seeds: Ids, seed: int) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]:
        """Draw one mini-batch."""
        self.drawn = self._sampler.sample(seeds, self._fanout, rng=np.random.default_rng(seed))
        return self.drawn.nodes, self.drawn.source, self.drawn.target


class Loader:
    """Draws mini-batches of one graph and gathers their rows, in buffers that are kept.

    Parameters
    ----------
    draw : Drawing
    features : array of shape (nodes, dimension)
    labels : array of shape (nodes,)
    """

    def __init__(self, draw: Drawing, features: Features, labels: Ids) -> None:
        self._draw, self._features, self._labels = draw, features, labels
        self._rows = np.zeros((0, features.shape[1]), np.float32)
        self._edges = np.zeros(0, np.int64)

    @property
    def dimension(self) -> int:
        """Return the width of a feature row."""
        return int(self._features.shape[1])

    def use(self, rows: Features, edges: Ids) -> None:
        """Draw into these buffers from now on."""
        self._rows, self._edges = rows, edges

    def load(self, seeds: Ids, seed: int) -> Batch:
        """Draw one mini-batch; its arrays stay valid until the next one is drawn."""
        nodes, source, target = self._draw(seeds, seed)
        count, edges = nodes.size, source.size
        if self._rows.shape[0] < count:
            self._rows = np.zeros((count * 5 // 4, self._features.shape[1]), np.float32)
        if self._edges.size < 2 * edges:
            self._edges = np.zeros(2 * edges * 5 // 4, np.int64)
        rows = gather(self._features, nodes, self._rows)
        index = self._edges[: 2 * edges].reshape(2, edges)
        index[0], index[1] = source, target
        return Batch(rows, index, self._labels[seeds])


def gather(features: Features, nodes: NDArray[np.integer], out: Features) -> Features:
    """Copy the rows of some nodes to the start of a buffer."""
    rows = out[: nodes.size]
    np.take(features, nodes, axis=0, out=rows, mode="clip")  # any other mode copies once more
    return rows


class Source(Protocol):
    """Gives mini-batches one after the other."""

    def next(self, step: int) -> tuple[Batch, float]:
        """Return the mini-batch of a step, and the time that it took [s]."""


def seeds_of(step: int, nodes: int, batch: int) -> Ids:
    """Return the seeds of a step: distinct nodes, the same on every process."""
    return np.random.default_rng([step, nodes]).choice(nodes, batch, replace=False)


class Alone:
    """The memory node samples itself."""

    def __init__(self, loader: Loader, nodes: int, batch: int) -> None:
        self._loader, self._nodes, self._batch = loader, nodes, batch

    def next(self, step: int) -> tuple[Batch, float]:
        """Draw the mini-batch of a step."""
        seeds = seeds_of(step, self._nodes, self._batch)
        start = time.perf_counter()
        batch = self._loader.load(seeds, step)
        return batch, time.perf_counter() - start


class Workers:
    """Processes that sample for the memory node, each a mini-batch at a time, handed over in shared memory.

    Parameters
    ----------
    loader : Loader
        Copied to every worker as it is forked.
    nodes, batch : int
    count : int
        Workers.
    most_nodes, most_edges : int
        Of a mini-batch: what the shared memory has room for.
    cores : sequence of int
        Cores that they are spread over; anywhere where empty.
    """

    def __init__(
        self,
        loader: Loader,
        nodes: int,
        batch: int,
        count: int,
        most_nodes: int,
        most_edges: int,
        cores: Sequence[int] = (),
    ) -> None:
        dimension = loader.dimension
        self._nodes, self._batch, self._dimension, self._count = nodes, batch, dimension, count
        sizes = (4 * most_nodes * dimension, 16 * most_edges, 8 * batch)
        self._memory = [[mmap.mmap(-1, size + mmap.PAGESIZE) for size in sizes] for _ in range(count)]
        context = get_context("fork")
        self._pipes: list[Connection] = []
        self._processes = []
        for number in range(count):
            ours, theirs = context.Pipe()
            core = cores[number % len(cores)] if cores else None
            arguments = (loader, theirs, self._memory[number], nodes, batch, core, os.getpid())
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._ready: list[Batch] = []
        self._share = 0.0

    def next(self, step: int) -> tuple[Batch, float]:
        """Return the mini-batch of a step; the workers draw as many at once as there are of them."""
        if not self._ready:
            start = time.perf_counter()
            for number, pipe in enumerate(self._pipes):
                with self._noticed():
                    pipe.send(step + number)
            self._ready = [self._answer(number) for number in range(self._count)]
            self._share = (time.perf_counter() - start) / self._count
        return self._ready.pop(0), self._share

    def _answer(self, number: int) -> Batch:
        with self._noticed():
            count, edges = self._pipes[number].recv()
        rows, index, labels = self._memory[number]
        return Batch(
            np.frombuffer(rows, np.float32, count * self._dimension).reshape(count, self._dimension),
            np.frombuffer(index, np.int64, 2 * edges).reshape(2, edges),
            np.frombuffer(labels, np.int64, self._batch),
        )

    @staticmethod
    @contextlib.contextmanager
    def _noticed() -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError):
            raise PipelineError("a worker of the memory node ended") from None

    def close(self) -> None:
        """End the workers."""
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.send(None)  # no end of file comes while other workers hold a copy of the pipe
        for process in self._processes:
            process.join(1.0)
            if process.is_alive():
                process.kill()
                process.join()


def _work(
    loader: Loader, pipe: Connection, memory: Sequence[mmap.mmap], nodes: int, batch: int, core: int | None, parent: int
) -> None:
    settle(core, parent)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    rows, index, labels = memory
    dimension = loader.dimension
    loader.use(
        np.frombuffer(rows, np.float32, len(rows) // (4 * dimension) * dimension).reshape(-1, dimension),
        np.frombuffer(index, np.int64, len(index) // 8),
    )
    kept = np.frombuffer(labels, np.int64, batch)
    while True:
        try:
            step = pipe.recv()
        except (EOFError, OSError):
            return
        if step is None:
            return
        drawn = loader.load(seeds_of(step, nodes, batch), step)
        kept[:] = drawn.labels
        pipe.send((drawn.features.shape[0], drawn.edge_index.shape[1]))
