"""Starting a process and handing it a message: what it costs to let another process do the work."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from calibration.cores import other_core
from calibration.kernels._base import Block, Kernel, Point, Sample
from perfmodel.errors import SpecError

_METHODS = ("subprocess", "spawn", "fork")
_BYTES = (64, 2**12, 2**16, 2**20)
_BYTES_QUICK = (64, 2**16)
_BLOCK = 2**21  # bytes handed over in one block at least
_MOST_MESSAGES = 200
_PATIENCE = 60.0  # how long a child may take to answer [s]


class ProcessHandover(Kernel):
    """A child that says it's there, and one that sends back what it's sent."""

    name = "process_handover"
    isolates = (
        "starting: from the call until the child's first byte arrives, parent and child on one core; the child of "
        "subprocess is a plain Python, that of spawn imports the main module again, that of fork shares this process's "
        "memory. Messages: there and back over a multiprocessing Pipe, to a child on another core where there's one"
    )
    unit_of_work = "process started, or message there and back"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return the ways to start a process and the sizes of messages."""
        methods = [m for m in _METHODS if m == "subprocess" or m in multiprocessing.get_all_start_methods()]
        starts: list[Point] = [{"action": "start", "method": method} for method in methods]
        return starts + [{"action": "message", "bytes": size} for size in (_BYTES_QUICK if quick else _BYTES)]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Start the child that answers; where starting is measured, the block starts one."""
        if point["action"] == "message":
            with _answering(int(point["bytes"])) as block:
                yield block
        else:
            method = str(point["method"])
            started = _subprocess_started if method == "subprocess" else lambda: _multiprocessing_started(method)
            yield lambda: {"time": started(), "processes": 1.0}


def _subprocess_started() -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", "import os; os.write(1, b'!')"]
    with _undisturbed():
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    with child:
        try:
            answer = child.stdout.read(1) if child.stdout else b""
            taken = time.perf_counter() - began
        except BaseException:
            child.kill()
            raise
    return _answered(answer, taken)


def _multiprocessing_started(method: str) -> float:
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe(duplex=False)
    with here:
        with _undisturbed():
            began = time.perf_counter()
            child = context.Process(target=_tell, args=(there,), daemon=True)
            child.start()
        with _ended(child):
            there.close()
            answer = here.recv_bytes() if here.poll(_PATIENCE) else b""
            taken = time.perf_counter() - began
    return _answered(answer, taken)


@contextlib.contextmanager
def _answering(size: int) -> Iterator[Block]:
    # a child that is forked would hold a copy of every thread's locks
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    core = other_core()
    message = bytes(size)
    messages = min(_MOST_MESSAGES, max(1, _BLOCK // size))
    cores = 1.0 if core is None else 2.0
    with here:
        child = context.Process(target=_send_back, args=(there, core), daemon=True)
        with _undisturbed():
            child.start()
        with _ended(child, here.close):
            there.close()

            def block() -> Sample:
                began = time.perf_counter()
                for _ in range(messages):
                    here.send_bytes(message)
                    here.recv_bytes()
                taken = time.perf_counter() - began
                return {"time": taken, "messages": float(messages), "bytes": float(messages * size), "cores": cores}

            here.send_bytes(message)
            if not here.poll(_PATIENCE):
                raise SpecError("process_handover", f"a child must answer within {_PATIENCE:.0f} s", "silence")
            here.recv_bytes()
            yield block


@contextlib.contextmanager
def _ended(child: multiprocessing.process.BaseProcess, ask: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Wait for a child to end as it's asked to; end it by force where something went wrong."""
    try:
        yield
        ask()
        child.join(_PATIENCE)
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        child.close()


def _answered(answer: bytes, taken: float) -> float:
    if answer != b"!":
        raise SpecError("process_handover", "a child must say that it's there", "silence")
    return taken


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Start a child so that Ctrl-C reaches this process alone, which then ends the child."""
    masked = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
    try:
        with warnings.catch_warnings():
            # fork warns beside other threads, but its child does nothing that they may have locked
            warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
            yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tell(pipe: Connection) -> None:
    pipe.send_bytes(b"!")


def _send_back(pipe: Connection, core: int | None) -> None:
    if core is not None:
        with contextlib.suppress(OSError):  # then both share a core
            os.sched_setaffinity(0, {core})
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):  # the other side has closed the pipe or is gone
        while True:
            pipe.send_bytes(pipe.recv_bytes())


KERNEL = ProcessHandover()
