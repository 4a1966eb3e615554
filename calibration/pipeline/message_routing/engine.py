"""Running the engine: an application and an agent, one configuration after the other, and what their clocks say.

With the agent on the application's core the other process sleeps. Otherwise the application blocks only where no buffer is
free, and the agent where none is full. In every run all that the partners hold is compared with what was emitted.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from time import perf_counter as now
from typing import Any

import numpy as np

from calibration.disturbance import Pulse
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.message_routing.agent import RoutingAgent
from calibration.pipeline.message_routing.application import Emitter, MemoryWork, Words
from calibration.pipeline.message_routing.configuration import WORD, RoutingConfiguration
from calibration.pipeline.message_routing.ring import BufferRing
from calibration.pipeline.pair import Pair, serve
from calibration.pipeline.process import cores, polling, preempted, settle
from calibration.pipeline.shared_memory import Area, Signals, area
from perfmodel.errors import SpecError

WARM_UP = 24  # buffers before the clocks count, and every buffer of the ring three times


@dataclasses.dataclass(frozen=True)
class RoutingTimes:
    """One run, per buffer of messages.

    Attributes
    ----------
    total : float
        From one buffer's last message routed to the next one's, on average [s].
    phases : mapping of str to float
        ``memory_work``, ``emission``, ``waiting`` (for a free buffer) and ``handover`` of the application;
        ``idle`` (waiting for a full buffer), ``routing``, ``delivery`` and ``return`` of the agent [s].
    buffers : int
        That were timed.
    pulse : float
        Longest of the pulses before and after, on each core that took part: whether one was disturbed [s].
    preempted : int
        How often the system gave a core to somebody else meanwhile.
    """

    total: float
    phases: Mapping[str, float]
    buffers: int
    pulse: float
    preempted: int


@dataclasses.dataclass(frozen=True)
class _Shared:
    """What both processes are given as they start."""

    signals: Signals
    polling: float
    parent: int


class Engine(Pair):
    """An application process and an agent process, each on its own core, started once for any number of runs."""

    def __init__(self) -> None:
        spare, own = cores()
        agent_core = spare[-1] if spare else None
        self._has_spare_core = agent_core is not None and agent_core != own
        context = get_context("spawn")
        # kept: the semaphores have names until both processes have opened them
        self._shared: _Shared | None = _Shared(Signals.of(context), polling(agent_core, own), os.getpid())
        roles = [("application", own, self._shared), ("agent", agent_core, self._shared)]
        super().__init__(context, ("application", "agent"), _serve, roles)

    def run(self, asked: RoutingConfiguration, buffers: int) -> RoutingTimes:
        """Run a configuration.

        Parameters
        ----------
        asked : RoutingConfiguration
        buffers : int
            That are timed, after some that are not.

        Returns
        -------
        RoutingTimes

        Raises
        ------
        SpecError
            There is no spare core.
        PipelineError
            A process ended, nothing happened for too long, or not every message arrived exactly once.
        """
        settings = {"asked": asked, "timed": buffers, "all": buffers + max(WARM_UP, 3 * asked.buffers)}
        if asked.placement == "application-core":
            self._send(0, {**settings, "slots": None})
            ours = self._answer(0)
            return _checked(ours, ours)
        if not self._has_spare_core:
            raise SpecError("placement", "spare-core needs a second core", "one core", "application-core")
        with area(asked.buffers, asked.messages * asked.message) as slots:
            for number in (1, 0):
                self._send(number, {**settings, "slots": slots})
            ours, theirs = self._answers()
        return _checked(ours, theirs)

    def close(self) -> None:
        """End both processes."""
        super().close()
        self._shared = None


def _checked(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> RoutingTimes:
    """Bring the clocks together once every message is accounted for."""
    wrong = theirs["arrived"].differs(ours["expected"])
    if wrong:
        raise PipelineError(wrong)
    count = ours["timed"]
    phases = {name: seconds / count for name, seconds in {**ours["phases"], **theirs["phases"]}.items()}
    lost = theirs["preempted"] + (ours["preempted"] if ours is not theirs else 0)
    pulse = max(ours["pulse"], theirs["pulse"])
    return RoutingTimes(theirs["seconds"] / count, phases, count, pulse, lost)


def _serve(role: str, core: int | None, shared: _Shared, pipe: Pipe) -> None:
    settle(core, shared.parent)
    steps = {"application": _application, "agent": _agent}[role]
    serve(pipe, lambda settings: steps(settings, shared))


def _application(settings: Mapping[str, Any], shared: _Shared) -> dict[str, Any]:
    """Emit all buffers; with the agent on this core, route them too."""
    asked: RoutingConfiguration = settings["asked"]
    words = asked.message // WORD
    work = functools.partial(_memory_work(asked.working_set), asked.memory_bytes)
    emit = Emitter(asked.messages, words, asked.partners * asked.bins, asked.seed)
    if settings["slots"] is None:
        agent, buffer = _routing_agent(asked), np.zeros((asked.messages, words), np.uint64)
        step = functools.partial(_inline, work, emit, agent, buffer)
        return {**_timed(step, _INLINE, settings, agent), "expected": emit.expected()}
    ring = _ring(settings["slots"], asked, shared)
    try:
        found = _timed(functools.partial(_offloaded, work, emit, ring), _OFFLOADED, settings)
        ring.all_back()
    finally:
        ring.close()
    return {**found, "expected": emit.expected()}


@functools.lru_cache(maxsize=1)
def _memory_work(working_set: int) -> MemoryWork:
    return MemoryWork(working_set)


def _agent(settings: Mapping[str, Any], shared: _Shared) -> dict[str, Any]:
    """Route all buffers that come through the ring."""
    asked: RoutingConfiguration = settings["asked"]
    agent = _routing_agent(asked)
    ring = _ring(settings["slots"], asked, shared)
    try:
        return _timed(functools.partial(_emptied, ring, agent), _EMPTIED, settings, agent)
    finally:
        ring.close()


def _routing_agent(asked: RoutingConfiguration) -> RoutingAgent:
    size = asked.message
    return RoutingAgent(asked.messages, size // WORD, asked.partners, asked.bins, asked.aggregation // size)


def _ring(slots: Area, asked: RoutingConfiguration, shared: _Shared) -> BufferRing:
    return BufferRing(slots, shared.signals, asked.messages, asked.message // WORD, shared.polling)


def _timed(
    step: Step, names: tuple[str, ...], settings: Mapping[str, Any], agent: RoutingAgent | None = None
) -> dict[str, Any]:
    """Do all buffers, the last of them by the clock; then deliver the rest, if this is the agent's process."""
    pulse = Pulse()
    pulses = [pulse() for _ in range(2)][1:]
    for _ in range(settings["all"] - settings["timed"]):
        step()
    delivered = agent.delivering if agent else 0.0
    before = preempted()
    began = now()
    marks = np.array([step() for _ in range(settings["timed"])])
    seconds = now() - began
    lost = preempted() - before
    pulses.append(pulse())
    phases = dict(zip(names, np.diff(marks, axis=1).sum(axis=0).tolist(), strict=True))
    found: dict[str, Any] = {
        "seconds": seconds, "timed": settings["timed"], "phases": phases, "pulse": max(pulses), "preempted": lost,
    }  # fmt: skip
    if agent:
        phases["delivery"] = agent.delivering - delivered
        phases["routing"] -= phases["delivery"]
        agent.flush()
        found["arrived"] = agent.partners.ledger
    return found


#: Does one buffer and returns when its phases began and when the last one ended [s].
Step = Callable[[], tuple[float, ...]]
_INLINE = ("memory_work", "emission", "routing")
_OFFLOADED = ("memory_work", "waiting", "emission", "handover")
_EMPTIED = ("idle", "routing", "return")


def _inline(work: Callable[[], None], emit: Emitter, agent: RoutingAgent, buffer: Words) -> tuple[float, ...]:
    began = now()
    work()
    worked = now()
    emit(buffer)
    emitted = now()
    agent.route(buffer)
    return began, worked, emitted, now()


def _offloaded(work: Callable[[], None], emit: Emitter, ring: BufferRing) -> tuple[float, ...]:
    began = now()
    work()
    worked = now()
    buffer = ring.free()
    free = now()
    emit(buffer)
    emitted = now()
    ring.hand_over()
    return began, worked, free, emitted, now()


def _emptied(ring: BufferRing, agent: RoutingAgent) -> tuple[float, ...]:
    began = now()
    buffer = ring.full()
    full = now()
    agent.route(buffer)
    routed = now()
    ring.give_back()
    return began, full, routed, now()
