"""What the kernels of message routing share: an application and an agent on one core, or each on a core of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, ClassVar, Final

import numpy as np

from calibration.disturbance import Pulse
from calibration.kernels._base import Block, Point, Sample
from calibration.kernels._other_core import OtherCore, TwoCoreKernel
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.message_routing.agent import RoutingAgent
from calibration.pipeline.message_routing.application import Emitter, Words
from calibration.pipeline.message_routing.configuration import WORD, RoutingConfiguration
from calibration.pipeline.message_routing.ring import BufferRing
from calibration.pipeline.process import preempted, settle
from calibration.pipeline.shared_memory import Area, Signals, area

OWN, OTHER = "this core", "the other core"
_BLOCK: Final = 5e-4  # seconds that a block works, about: shorter than the disturbances of a shared machine
_LOST: Final = 1e6  # seconds: no pulse is so long

now = time.perf_counter


def configuration(point: Point) -> RoutingConfiguration:
    """Return the engine's configuration of a point; partners gather as much as a buffer holds."""
    size = int(point["buffer"])
    return RoutingConfiguration(
        message=int(point["message"]), buffer=size, aggregation=size, buffers=int(point.get("window", 1)),
        partners=int(point.get("partners", 8)),
    )  # fmt: skip


def emitter(asked: RoutingConfiguration) -> Emitter:
    """Return the application's side."""
    return Emitter(asked.messages, asked.message // WORD, asked.partners * asked.bins, asked.seed)


def routing_agent(asked: RoutingConfiguration) -> RoutingAgent:
    """Return the agent."""
    most = asked.aggregation // asked.message
    return RoutingAgent(asked.messages, asked.message // WORD, asked.partners, asked.bins, most)


def own_buffer(asked: RoutingConfiguration) -> Words:
    """Return a buffer that no other process sees."""
    return np.zeros((asked.messages, asked.message // WORD), np.uint64)


def turns_of(once: Callable[[], object]) -> int:
    """Return how many turns make a block, after some that warm up."""
    for _ in range(4):
        once()
    began = now()
    for _ in range(4):
        once()
    return max(4, min(1000, round(_BLOCK * 4 / (now() - began))))


class RingPeer(OtherCore):
    """A process on another core that takes buffers from a ring, does its part with each, and gives it back."""

    def __init__(self) -> None:
        super().__init__(_serve)

    @contextlib.contextmanager
    def ring(self, asked: RoutingConfiguration, part: str) -> Iterator[BufferRing]:
        """Share a ring with the process, which is to ``emit`` into, ``route`` or ``return`` what comes through it."""
        with area(asked.buffers, asked.messages * asked.message) as slots:
            self.tell((slots, asked, part))
            self.answer()
            ring = BufferRing(slots, self.signals, asked.messages, asked.message // WORD, self.polling)
            try:
                yield ring
                ring.all_back()
                self.tell(0)
                self.answer()
            finally:
                ring.close()

    def takes(self, buffers: int) -> None:
        """Let the process take so many buffers."""
        self.tell(buffers)

    def pulse(self) -> float:
        """Return the longer of the pulses around the buffers that the process took, without end where it lost its core."""
        return float(self.answer())


class RingKernel(TwoCoreKernel[RingPeer]):
    """A kernel that may need the other core."""

    unit_of_work: ClassVar[str] = "buffer"

    @contextlib.contextmanager
    def shared(self, asked: RoutingConfiguration, part: str) -> Iterator[tuple[BufferRing, RingPeer]]:
        """Share a ring with the other core, where a process does its part; it stays for the next point."""
        peer = self.other(RingPeer)
        try:
            with peer.ring(asked, part) as ring:
                yield ring, peer
        except BaseException:
            self.release()  # who knows where it waits
            raise


def alone(point: Point, part: str) -> Block:
    """Return a block that emits and routes on this core, of which one part is timed."""
    asked = configuration(point)
    emit, agent, buffer = emitter(asked), routing_agent(asked), own_buffer(asked)

    def turn() -> tuple[float, float, float]:
        began = now()
        emit(buffer)
        emitted = now()
        agent.route(buffer)
        return began, emitted, now()

    turns = turns_of(turn)
    first = 0 if part == "emission" else 1

    def block() -> Sample:
        delivering, deliveries = agent.delivering, agent.deliveries
        marks = [turn() for _ in range(turns)]
        taken = sum(mark[first + 1] - mark[first] for mark in marks)
        return _sample(taken, turns, agent, delivering, deliveries)

    return block


def beside(point: Point, ring: BufferRing, other: RingPeer, part: str) -> Block:
    """Return a block that does one part on this core, and the other core the other one."""
    asked = configuration(point)
    emit, agent = emitter(asked), routing_agent(asked)
    work = emit if part == "emission" else agent.route
    turns = turns_of(lambda: work(own_buffer(asked)))

    def block() -> Sample:
        delivering, deliveries = agent.delivering, agent.deliveries
        other.takes(turns + 1)
        ring.free()
        ring.hand_over()  # to come back as the other core leaves it
        taken = 0.0
        for _ in range(turns):
            buffer = ring.free()
            began = now()
            work(buffer)
            taken += now() - began
            ring.hand_over()
        return {**_sample(taken, turns, agent, delivering, deliveries), "other_pulse": other.pulse()}

    return block


def _sample(taken: float, turns: int, agent: RoutingAgent, delivering: float, deliveries: int) -> Sample:
    return {
        "time": taken / turns, "delivering": (agent.delivering - delivering) / turns,
        "deliveries": (agent.deliveries - deliveries) / turns, "turns": float(turns),
    }  # fmt: skip


def _serve(core: int | None, patience: float, parent: int, signals: Signals, pipe: Connection) -> None:
    settle(core, parent)
    with contextlib.suppress(EOFError, OSError, PipelineError):
        while True:
            slots, asked, part = pipe.recv()
            _take(slots, asked, _part(asked, part), BufferRing(
                slots, signals, asked.messages, asked.message // WORD, patience
            ), pipe)  # fmt: skip


def _part(asked: RoutingConfiguration, part: str) -> Callable[[Words], Any]:
    if part == "emit":
        return emitter(asked)
    return routing_agent(asked).route if part == "route" else lambda buffer: None


def _take(
    slots: Area, asked: RoutingConfiguration, part: Callable[[Words], Any], ring: BufferRing, pipe: Connection
) -> None:
    pulse = Pulse()
    try:
        pipe.send("there")
        while count := pipe.recv():
            before, lost = pulse(), preempted()
            for _ in range(count):
                part(ring.full())
                ring.give_back()
            pipe.send(_LOST if preempted() > lost else max(before, pulse()))
        pipe.send("done")
    finally:
        ring.close()
