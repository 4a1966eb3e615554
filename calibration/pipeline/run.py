"""Running a pipeline: two processes, one configuration after the other, and what their clocks say.

Nothing is left: the files that the processes share have no name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Semaphore
from typing import Any

import numpy as np

from calibration.disturbance import Pulse
from calibration.pipeline import tcp
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.clock import BatchTimes
from calibration.pipeline.compute_node import ComputeNode
from calibration.pipeline.configuration import Configuration, SyntheticGraph, room, store
from calibration.pipeline.memory_node import MemoryNode
from calibration.pipeline.nameless import nameless
from calibration.pipeline.pair import Pair, serve
from calibration.pipeline.process import cores, polling, settle
from calibration.pipeline.shared_memory import Area, Ring, Signals, area, wait
from perfmodel.graph.sampler import Csc

WARM_UP = 3  # mini-batches before the clocks count: buffers grow to their size, caches fill


@dataclasses.dataclass(frozen=True)
class _Shared:
    """What both processes are given as they start."""

    signals: Signals
    trained: Semaphore
    polling: float
    parent: int
    memory_cores: Sequence[int]


class Pipeline(Pair):
    """A memory node and a compute node, started once for any number of configurations.

    Parameters
    ----------
    port : int
        For TCP; 0 takes a free one.

    Raises
    ------
    SpecError
        The port is taken.
    """

    def __init__(self, port: int = 0) -> None:
        self._files = contextlib.ExitStack()
        self._graphs: dict[SyntheticGraph, str] = {}
        self._port = port
        memory_cores, compute_core = cores()
        memory_core = memory_cores[0] if memory_cores else None
        context = get_context("spawn")
        signals = Signals.of(context)
        patience = polling(memory_core, compute_core)
        shared = _Shared(signals, context.Semaphore(0), patience, os.getpid(), memory_cores)
        self._shared: _Shared | None = shared  # kept: the semaphores have names until the nodes have opened them
        roles = [("memory", memory_core, shared), ("compute", compute_core, shared)]
        super().__init__(context, ("memory node", "compute node"), _serve, roles)

    def run(self, asked: Configuration, batches: int, first: int = 0, verify: bool = True) -> list[BatchTimes]:
        """Run some mini-batches of a configuration.

        Parameters
        ----------
        asked : Configuration
        batches : int
            Mini-batches that are timed, after ``WARM_UP`` that are not.
        first : int
            Step of the first one: other steps have other seeds.
        verify : bool
            Compare what arrived with what was sent, tensor by tensor, on the first mini-batch that is not timed.

        Returns
        -------
        list of BatchTimes

        Raises
        ------
        PipelineError
            A process ended, something did not arrive whole, or nothing happened for too long.
        """
        total = WARM_UP + batches
        path = self._stored(asked.graph)
        if asked.mechanism == "tcp":
            return self._measured(asked, total, first, verify, path, None)
        with area(asked.window, asked.chunk) as slots:
            return self._measured(asked, total, first, verify, path, slots)

    def _stored(self, graph: SyntheticGraph) -> str:
        """Return a path of a graph's adjacency, written once."""
        if graph not in self._graphs:
            with room(), contextlib.ExitStack() as opened:
                file, path = opened.enter_context(nameless(tempfile.gettempdir()))
                store(graph, file)
                self._files.push(opened.pop_all())
            self._graphs[graph] = path
        return self._graphs[graph]

    def _measured(
        self, asked: Configuration, total: int, first: int, verify: bool, path: str, slots: Area | None
    ) -> list[BatchTimes]:
        settings = {"asked": asked, "steps": range(first, first + total), "verify": verify, "slots": slots}
        self._send(0, {**settings, "graph": path, "port": self._port})
        address = self._answer(0)
        self._send(1, {**settings, "address": address})
        return _joined(*self._answers())

    def close(self) -> None:
        """End both processes and remove what they shared."""
        super().close()
        self._shared = None
        self._files.close()
        self._graphs.clear()


def _joined(sent: Sequence[dict[str, Any]], trained: Sequence[dict[str, Any]]) -> list[BatchTimes]:
    """Bring both nodes' clocks together, and check that what arrived is what was sent."""
    for ours, theirs in zip(sent, trained, strict=True):
        if ours.get("digest") != theirs.get("digest"):
            raise PipelineError("what arrived is not what was sent")
    timed = list(zip(sent, trained, strict=True))[WARM_UP:]
    return [
        BatchTimes(
            phases={**ours["phases"], **theirs["phases"]},
            total=ours["total"] - theirs["pulse_time"],
            nodes=theirs["nodes"],
            edges=theirs["edges"],
            sent_bytes=ours["sent_bytes"],
            pulses=_pulses(ours, theirs),
        )
        for ours, theirs in timed
    ]


def _pulses(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """Return the longest pulse beside each phase: one on a single core, of that core; else of both."""
    memory, compute = max(ours["pulses"]), max(theirs["pulses"])
    found = dict.fromkeys(ours["phases"], memory) | dict.fromkeys(theirs["phases"], compute)
    return {**found, "transfer": max(memory, compute), "total": max(memory, compute)}


def _serve(role: str, core: int | None, shared: _Shared, pipe: Pipe) -> None:
    """Run one node: configurations come through the pipe, clocks go back."""
    settle(core, shared.parent)
    steps: Callable[[dict[str, Any], _Shared, Pipe], list[dict[str, Any]]]
    steps = _memory_steps if role == "memory" else _compute_steps
    serve(pipe, lambda settings: steps(settings, shared, pipe))


def _memory_steps(settings: dict[str, Any], shared: _Shared, pipe: Pipe) -> list[dict[str, Any]]:
    asked: Configuration = settings["asked"]
    with np.load(settings["graph"]) as arrays:
        csc = Csc(arrays["indptr"], arrays["indices"], asked.graph.nodes)
    node = MemoryNode(asked, csc, shared.memory_cores)
    try:
        if asked.mechanism == "shared-memory":
            pipe.send(("done", None))
            return _driven(node, Ring(settings["slots"], shared.signals, shared.polling), settings, shared)
        with tcp.listen(settings["port"]) as listening:
            pipe.send(("done", listening.getsockname()))
            connected, _ = listening.accept()
        with tcp.Connection(connected, asked.chunk, shared.polling) as channel:
            return _driven(node, channel, settings, shared)
    finally:
        node.close()


def _driven(node: MemoryNode, channel: Any, settings: dict[str, Any], shared: _Shared) -> list[dict[str, Any]]:
    """Send one mini-batch after the other, each once the compute node has trained on the last."""
    found = []
    pulse = Pulse()
    before = pulse()
    for number, step in enumerate(settings["steps"]):
        start = time.perf_counter()
        times = node.step(step, channel, settings["verify"] and number == 0)
        wait(shared.trained, shared.polling)
        total = time.perf_counter() - start + times["elsewhere"]
        after = pulse()
        found.append({**times, "total": total, "pulses": (before, after)})
        before = after
    return found


def _compute_steps(settings: dict[str, Any], shared: _Shared, pipe: Pipe) -> list[dict[str, Any]]:
    asked: Configuration = settings["asked"]
    node = ComputeNode(asked)
    if asked.mechanism == "shared-memory":
        return _trained(node, Ring(settings["slots"], shared.signals, shared.polling), settings, shared)
    with (
        tcp.connect(settings["address"]) as connected,
        tcp.Connection(connected, asked.chunk, shared.polling) as channel,
    ):
        return _trained(node, channel, settings, shared)


def _trained(node: ComputeNode, channel: Any, settings: dict[str, Any], shared: _Shared) -> list[dict[str, Any]]:
    found = []
    pulse = Pulse()
    before = pulse()
    for number, step in enumerate(settings["steps"]):
        times = node.step(step, channel, settings["verify"] and number == 0, pulse)
        shared.trained.release()
        after = pulse()
        found.append({**times, "pulses": (before, times["pulse_time"], after)})
        before = after
    return found
