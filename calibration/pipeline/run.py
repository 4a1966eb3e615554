"""Running a pipeline: two processes, one configuration after the other, and what their clocks say.

Nothing hangs and nothing is left: a process that ends takes the other with it and is reported, both end with their
parent, every wait has a limit, and the files that they share have no name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Semaphore
from types import TracebackType
from typing import Any

import numpy as np

from calibration.pipeline import tcp
from calibration.pipeline.chunks import CutOff, PipelineError
from calibration.pipeline.clock import BatchTimes
from calibration.pipeline.compute_node import ComputeNode
from calibration.pipeline.configuration import Configuration, SyntheticGraph, room, store
from calibration.pipeline.memory_node import MemoryNode
from calibration.pipeline.nameless import nameless
from calibration.pipeline.process import cores, one_thread, polling, settle
from calibration.pipeline.shared_memory import Area, Ring, Signals, area, wait
from perfmodel.errors import SpecError
from perfmodel.graph.sampler import Csc

PATIENCE = 120.0  # seconds that a configuration may take without an answer
LAST_WORDS = 2.0  # seconds that a node has for saying what went wrong, once the other has lost it
WARM_UP = 3  # mini-batches before the clocks count: buffers grow to their size, caches fill


@dataclasses.dataclass(frozen=True)
class _Shared:
    """What both processes are given as they start."""

    signals: Signals
    trained: Semaphore
    polling: float
    parent: int
    memory_cores: Sequence[int]


class Pipeline:
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
        self._pipes: list[Pipe] = []
        self._processes = []
        self._names = ("memory node", "compute node")
        try:
            with one_thread():
                for role, core in (("memory", memory_core), ("compute", compute_core)):
                    ours, theirs = context.Pipe()
                    process = context.Process(target=_serve, args=(role, core, shared, theirs), daemon=False)
                    process.start()
                    theirs.close()
                    self._pipes.append(ours)
                    self._processes.append(process)
        except BaseException:  # Ctrl-C, or no process to be had: nobody else can end the one that is there
            self.close()
            raise

    @property
    def processes(self) -> dict[str, int]:
        """Return the process ids of the two nodes."""
        return {name: process.pid or 0 for name, process in zip(self._names, self._processes, strict=True)}

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
        answers: dict[int, Any] = {}
        while len(answers) < 2:
            for number in self._ready([n for n in (0, 1) if n not in answers]):
                answers[number] = self._answer(number)
        return _joined(answers[0], answers[1])

    def _send(self, number: int, message: dict[str, Any]) -> None:
        try:
            self._pipes[number].send(message)
        except OSError:
            self._give_up(f"the {self._names[number]} ended")

    def _ready(self, numbers: Sequence[int]) -> list[int]:
        """Wait until one of the nodes has something to say; a node that ended is found here."""
        waiting = [self._pipes[number] for number in numbers]
        sentinels = {process.sentinel: name for process, name in zip(self._processes, self._names, strict=True)}
        ready = connection.wait([*waiting, *sentinels], PATIENCE)
        spoken = [number for number in numbers if self._pipes[number] in ready]
        if spoken:
            return spoken
        ended = [sentinels[found] for found in ready if isinstance(found, int)]
        self._give_up(f"the {ended[0]} ended" if ended else f"nothing happened for {PATIENCE:g} s")
        return []

    def _answer(self, number: int) -> Any:
        self._ready([number])
        try:
            kind, content = self._pipes[number].recv()
        except (EOFError, OSError):
            self._give_up(f"the {self._names[number]} ended")
        if kind == "bad input":
            self.close()
            raise SpecError(*content)
        if kind == "cut off":
            self._blame(1 - number)
        if kind != "done":
            self._give_up(f"the {self._names[number]}: {content}")
        return content

    def _blame(self, number: int) -> None:
        """Let a node say why the other lost it, where it has something to say."""
        found = connection.wait([self._pipes[number], self._processes[number].sentinel], LAST_WORDS)
        if found:
            self._answer(number)

    def _give_up(self, why: str) -> None:
        self.close()
        raise PipelineError(why)

    def close(self) -> None:
        """End both processes and remove what they shared."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()
        self._shared = None
        self._files.close()
        self._graphs.clear()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _joined(sent: Sequence[dict[str, Any]], trained: Sequence[dict[str, Any]]) -> list[BatchTimes]:
    """Bring both nodes' clocks together, and check that what arrived is what was sent."""
    for ours, theirs in zip(sent, trained, strict=True):
        if ours.get("digest") != theirs.get("digest"):
            raise PipelineError("what arrived is not what was sent")
    return [
        BatchTimes(
            {**ours["phases"], **theirs["phases"]}, ours["total"], theirs["nodes"], theirs["edges"], ours["sent_bytes"]
        )
        for ours, theirs in zip(sent[WARM_UP:], trained[WARM_UP:], strict=True)
    ]


def _serve(role: str, core: int | None, shared: _Shared, pipe: Pipe) -> None:
    """Run one node: configurations come through the pipe, clocks go back."""
    settle(core, shared.parent)
    steps: Callable[[dict[str, Any], _Shared, Pipe], list[dict[str, Any]]]
    steps = _memory_steps if role == "memory" else _compute_steps
    while True:
        try:
            settings = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("done", steps(settings, shared, pipe))
        except SpecError as error:
            answer = ("bad input", (error.where, error.rule, error.got, error.nearest))  # type: ignore[assignment]
        except CutOff as error:
            answer = ("cut off", str(error))  # type: ignore[assignment]
        except (PipelineError, MemoryError, OSError) as error:
            answer = ("failed", str(error) or type(error).__name__)  # type: ignore[assignment]
        try:
            pipe.send(answer)
        except OSError:
            return


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
    for number, step in enumerate(settings["steps"]):
        start = time.perf_counter()
        times = node.step(step, channel, settings["verify"] and number == 0)
        wait(shared.trained, shared.polling)
        found.append({**times, "total": time.perf_counter() - start + times["elsewhere"]})
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
    for number, step in enumerate(settings["steps"]):
        found.append(node.step(step, channel, settings["verify"] and number == 0))
        shared.trained.release()
    return found
