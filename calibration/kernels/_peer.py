"""The other end of a channel for the chunk kernels: a process on another core that receives and acknowledges."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from calibration.kernels._base import Block, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.kernels._other_core import OtherCore, TwoCoreKernel
from calibration.pipeline import tcp
from calibration.pipeline.chunks import Receiving, Sending, aggregation, receive, send
from calibration.pipeline.process import settle
from calibration.pipeline.shared_memory import Area, Ring, Signals, area

_TENSORS = 3
_PAUSE = 2.5e-3  # seconds within which the peer has gone through its other phases and listens again
_LAST = 2**40  # number of the tensor that ends the peer
_KIB, _MIB = 1 << 10, 1 << 20
_CHUNKS = (16 * _KIB, 64 * _KIB, 256 * _KIB, 1024 * _KIB)


class Peer(OtherCore):
    """A process on another core that receives over one channel after the other."""

    def __init__(self) -> None:
        super().__init__(_serve)

    def listens(self, message: tuple[Any, ...]) -> None:
        """Tell the peer of a channel and wait until it is there."""
        self.tell(message)
        self.answer()


def tensor_sizes(point: Point) -> tuple[int, int, int]:
    """Return the bytes of features, edge index and labels of a point: most in the first, as in a mini-batch.

    Examples
    --------
    >>> tensor_sizes({"bytes": 80_000})
    (80000, 20000, 2048)
    """
    size = int(point["bytes"])
    return size, max(size // 4, 1), min(size, 2048)


class ChunkKernel(TwoCoreKernel[Peer]):
    """A mini-batch's tensors sent chunk by chunk to another core, which puts every chunk in its place and acknowledges it."""

    unit_of_work = "chunk"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return chunks, windows and tensor sizes: few chunks and many, with a shorter last one."""
        chunks, windows = ((64 * _KIB, 512 * _KIB), (1, 4)) if quick else (_CHUNKS, (1, 2, 8))
        sizes = (3 * _KIB, 700 * _KIB, 6 * _MIB) if quick else (8 * _KIB, 200 * _KIB, 1500 * _KIB, 5 * _MIB, 20 * _MIB)
        return with_waiting(
            [
                {"chunk": chunk, "window": window, "bytes": size, "aggregation": "preallocated"}
                for chunk, window, size in itertools.product(chunks, windows, sizes)
                if size <= 200 * chunk and window * chunk <= 4 * _MIB
            ]
        )

    def _channel(self, point: Point, peer: Peer) -> contextlib.AbstractContextManager[Sending]:
        raise NotImplementedError

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Open a channel to the peer; a block sends one tensor."""
        wait = Wait(point)
        data = np.random.default_rng(0).integers(0, 255, int(point["bytes"]), dtype=np.uint8)
        chunk, window = int(point["chunk"]), int(point["window"])
        tensors = [data[:size] for size in tensor_sizes(point)]
        peer = self.other(Peer)
        try:
            with self._channel(point, peer) as channel:

                def block() -> Sample:
                    settled = time.perf_counter() + _PAUSE
                    wait(data)
                    while time.perf_counter() < settled:
                        pass
                    began = time.perf_counter()
                    count = sum(send(channel, n, part, chunk, window) for n, part in enumerate(tensors))
                    return {"time": time.perf_counter() - began, "chunks": float(count)}

                yield block
                send(channel, _LAST, np.zeros(1, np.uint8), chunk, 1)
        except BaseException:
            self.release()  # who knows where it waits
            raise


@contextlib.contextmanager
def tcp_channel(point: Point, peer: Peer) -> Iterator[Sending]:
    """Connect to a peer over loopback."""
    most = int(point["chunk"])
    with tcp.listen() as listening:
        peer.listens((point, listening.getsockname(), most))
        connected, _ = listening.accept()
    with tcp.Connection(connected, most, peer.polling) as channel:
        yield channel


@contextlib.contextmanager
def shared_memory_channel(point: Point, peer: Peer) -> Iterator[Sending]:
    """Share a ring of slots with a peer."""
    with area(int(point["window"]), int(point["chunk"])) as slots:
        peer.listens((point, slots))
        yield Ring(slots, peer.signals, peer.polling)


def _serve(core: int | None, patience: float, parent: int, signals: Signals, pipe: Connection) -> None:
    settle(core, parent)
    while True:
        try:
            point, where, *most = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send("there")
        if isinstance(where, Area):
            _receive(Ring(where, signals, patience), point)
        else:
            with tcp.connect(where) as connected, tcp.Connection(connected, int(most[0]), patience) as channel:
                _receive(channel, point)


def _receive(channel: Receiving, point: Point) -> None:
    aggregate = aggregation(str(point["aggregation"]))
    wait = Wait({"away": 0.0})
    while True:
        number, _ = receive(channel, aggregate)
        if number == _LAST:
            return
        if number == _TENSORS - 1:
            wait()
