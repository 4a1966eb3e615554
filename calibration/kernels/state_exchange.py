"""Hidden states from process to process: what a message takes to wake its receiver, to be sent and to be taken."""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from calibration.cores import other_core
from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.pipeline.chunks import CutOff, PipelineError
from calibration.pipeline.process import one_thread, settle
from calibration.pipeline.snapshot_messages import Envelope, Kind, Mailbox, receive_state, send_state
from calibration.pipeline.snapshot_run import MOST_ON_THE_WAY

_BYTES, _BYTES_QUICK = (1024, 12 << 10, 64 << 10), (1024, 48 << 10)
_FRAGMENTS, _FRAGMENTS_QUICK = (1, 4, 16), (1, 8)
_WAYS = (
    ("way", "other core"),
    ("way", "same core"),
    ("way", "other core through the host"),
    ("sent", "other core"),
)
_PAUSE = 3e-4  # seconds that a process works before it answers: the other one sleeps meanwhile
_TURNS = 4  # there and back, in a block
_PATIENCE = 20.0  # seconds that a peer may take to start
_STATE = np.full(1 << 15, 0.5, np.float32)  # of the size of a cell's
_ENVELOPE = Envelope(Kind.STATE, 0, 0, 0, 0, 0, 0)


class _Peer:
    """A process that answers every state with one of the same size, after a while; another may stand between."""

    def __init__(self, core: int | None, host: int | None = None, bounced: bool = False) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        ours, there = context.Pipe()
        self._processes = [context.Process(target=_answer, args=(core, os.getpid(), theirs, there), daemon=True)]
        ends = [theirs, there]
        if bounced:
            nearer, farther = context.Pipe()
            between = context.Process(target=_pass_on, args=(host, os.getpid(), farther, ours), daemon=True)
            self._processes.append(between)
            ends += [farther, ours]
            ours = nearer
        with one_thread():
            for process in self._processes:
                process.start()
        for end in ends:
            end.close()
        self.box = Mailbox(ours, MOST_ON_THE_WAY)

    def answers(self, point: Point) -> None:
        """Tell the peer what comes."""
        self.pipe.send(dict(point))
        if not self.pipe.poll(_PATIENCE):
            raise PipelineError(f"the peer did not come within {_PATIENCE:g} s")
        self.pipe.recv()

    def end(self) -> None:
        """End the process."""
        self.box.connection.close()
        self.pipe.close()
        for process in self._processes:
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()


class StateExchange(Kernel):
    """A state there and back, between two processes that both sleep while they wait and work before they answer."""

    name = "state_exchange"
    isolates = (
        "messages over pipes to a process that sleeps, on another core or on the same one, or through a third process on the "
        "sender's core that passes each on: the whole way of a state, or what its sender alone spends (sent)"
    )
    unit_of_work = "state sent"

    def __init__(self) -> None:
        self._peers: dict[str, _Peer] = {}

    def points(self, quick: bool) -> Sequence[Point]:
        """Return where the receiver runs, bytes of a state and messages that it's cut into."""
        sizes, fragments = (_BYTES_QUICK, _FRAGMENTS_QUICK) if quick else (_BYTES, _FRAGMENTS)
        return [
            {"measured": measured, "receiver": where, "bytes": size, "fragments": count, "pause": _PAUSE}
            for (measured, where), size, count in itertools.product(_WAYS, sizes, fragments)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Start the peer, kept from point to point; a block sends some states and waits for as many."""
        where = str(point["receiver"])
        own = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        if where not in self._peers:
            bounced = where == "other core through the host"
            self._peers[where] = _Peer(own if where == "same core" else other_core(), own, bounced)
        peer = self._peers[where]
        state = [np.ones((1, int(point["bytes"]) // 4), np.float32)]
        fragments, pause = int(point["fragments"]), float(point["pause"])

        def block() -> Sample:
            taken = 0.0
            for _ in range(_TURNS):
                _work(pause)
                began = time.perf_counter()
                send_state(peer.box, _ENVELOPE, state, fragments)
                sent = time.perf_counter()
                receive_state(peer.box, _ENVELOPE, 1, state[0].shape, fragments)
                there_and_back = time.perf_counter() - began - pause
                taken += (sent - began) if point["measured"] == "sent" else max(there_and_back, 1e-7) / 2
            return {"time": taken, "states": float(_TURNS), "messages": float(_TURNS * fragments)}

        try:
            peer.answers(point)
            yield block
            send_state(peer.box, _ENVELOPE._replace(kind=Kind.START), state, 1)
        except BaseException:
            self.release()  # who knows where it waits
            raise

    def release(self) -> None:
        """End the peers."""
        while self._peers:
            self._peers.popitem()[1].end()


def _work(seconds: float) -> None:
    """Compute as cells do, so that messages find their code and data as displaced as between cells."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        np.tanh(_STATE, out=_STATE)


def _answer(core: int | None, parent: int, pipe: Connection, connection: Connection) -> None:
    settle(core, parent)
    box = Mailbox(connection, MOST_ON_THE_WAY)
    with contextlib.suppress(EOFError, OSError, CutOff):
        while True:
            point: dict[str, Any] = pipe.recv()
            pipe.send("there")
            _answer_point(box, point)


def _pass_on(core: int | None, parent: int, one: Connection, other: Connection) -> None:
    """Stand between two processes, as the host does."""
    settle(core, parent)
    boxes = {number: Mailbox(end, MOST_ON_THE_WAY) for number, end in enumerate((one, other))}
    with contextlib.suppress(EOFError, OSError, CutOff), selectors.DefaultSelector() as selector:
        for number, box in boxes.items():
            selector.register(box.connection, selectors.EVENT_READ, number)
        while True:
            for key, _ in selector.select():
                boxes[1 - key.data].send(*boxes[key.data].receive())


def _answer_point(box: Mailbox, point: dict[str, Any]) -> None:
    shape, fragments = (1, int(point["bytes"]) // 4), int(point["fragments"])
    while True:
        envelope, content = box.receive()
        if envelope.kind == Kind.START:
            return
        state = np.empty(shape, np.float32)
        out = state.reshape(-1).view(np.uint8).data
        out[: content.nbytes] = content
        place = content.nbytes
        for number in range(1, fragments):
            part = box.expect(_ENVELOPE._replace(fragment=number))
            out[place : place + part.nbytes] = part
            place += part.nbytes
        _work(float(point["pause"]))
        send_state(box, _ENVELOPE, [state], fragments)


KERNEL = StateExchange()
