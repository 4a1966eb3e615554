"""The other end of a channel for the chunk kernels: a process on another core that receives and acknowledges."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from typing import Any

import numpy as np

from calibration.cores import other_core
from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.pipeline import tcp
from calibration.pipeline.chunks import Sending, aggregation, receive, send
from calibration.pipeline.process import one_thread, polling, settle
from calibration.pipeline.shared_memory import Area, Ring, Signals, area

_LAST = 2**40  # number of the tensor that ends the peer
_KIB, _MIB = 1 << 10, 1 << 20
_CHUNKS = (16 * _KIB, 64 * _KIB, 256 * _KIB, 1024 * _KIB)
_PATIENCE = 5.0  # seconds that a peer may take to end


@dataclasses.dataclass(frozen=True)
class _Asked:
    policy: str
    core: int | None
    polling: float
    parent: int


class ChunkKernel(Kernel):
    """Tensors sent chunk by chunk to another core, which copies every chunk to its place and acknowledges it."""

    unit_of_work = "chunk"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return chunks, windows and tensor sizes: few chunks and many, with a shorter last one."""
        chunks, windows = ((64 * _KIB, 512 * _KIB), (1, 4)) if quick else (_CHUNKS, (1, 2, 8))
        sizes = (3 * _KIB, 700 * _KIB, 6 * _MIB) if quick else (8 * _KIB, 200 * _KIB, 1500 * _KIB, 5 * _MIB, 20 * _MIB)
        return [
            {"chunk": chunk, "window": window, "bytes": size, "aggregation": "preallocated"}
            for chunk, window, size in itertools.product(chunks, windows, sizes)
            if size <= 200 * chunk
        ]

    def _channel(self, point: Point) -> contextlib.AbstractContextManager[Sending]:
        raise NotImplementedError

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Start the peer; a block sends one tensor."""
        data = np.random.default_rng(0).integers(0, 255, int(point["bytes"]), dtype=np.uint8)
        with self._channel(point) as channel:

            def block() -> Sample:
                began = time.perf_counter()
                count = send(channel, 0, data, int(point["chunk"]), int(point["window"]))
                return {"time": time.perf_counter() - began, "chunks": float(count), "sent_bytes": float(data.size)}

            yield block
            send(channel, _LAST, np.zeros(1, np.uint8), int(point["chunk"]), 1)


@contextlib.contextmanager
def tcp_channel(point: Point) -> Iterator[Sending]:
    """Connect to a peer over loopback."""
    asked = _asked(point)
    with tcp.listen() as listening:
        with _peer(_receive_tcp, (asked, listening.getsockname(), int(point["chunk"]))):
            connected, _ = listening.accept()
            with tcp.Connection(connected, int(point["chunk"]), asked.polling) as channel:
                yield channel


@contextlib.contextmanager
def shared_memory_channel(point: Point) -> Iterator[Sending]:
    """Share a ring of slots with a peer."""
    asked = _asked(point)
    signals = Signals.of(get_context("spawn"))
    with area(int(point["window"]), int(point["chunk"])) as slots:
        with _peer(_receive_shared, (asked, slots, signals)):
            yield Ring(slots, signals, asked.polling)


def _asked(point: Point) -> _Asked:
    core = other_core()
    return _Asked(str(point["aggregation"]), core, polling(None, core), os.getpid())


@contextlib.contextmanager
def _peer(target: Any, arguments: tuple[Any, ...]) -> Iterator[None]:
    with one_thread():
        process = get_context("spawn").Process(target=target, args=arguments, daemon=True)
        process.start()
    try:
        yield
        process.join(_PATIENCE)
    finally:
        if process.is_alive():
            process.kill()
        process.join()


def _receive_tcp(asked: _Asked, address: tuple[str, int], most: int) -> None:
    settle(asked.core, asked.parent)
    with tcp.connect(address) as connected, tcp.Connection(connected, most, asked.polling) as channel:
        _receive(channel, asked)


def _receive_shared(asked: _Asked, slots: Area, signals: Signals) -> None:
    settle(asked.core, asked.parent)
    _receive(Ring(slots, signals, asked.polling), asked)


def _receive(channel: Any, asked: _Asked) -> None:
    aggregate = aggregation(asked.policy)
    while receive(channel, aggregate)[0] != _LAST:
        pass
