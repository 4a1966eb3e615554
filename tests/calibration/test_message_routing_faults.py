"""The message-routing engine where things go wrong for real: a sentence is left, and nothing else."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.message_routing.agent import RoutingAgent
from calibration.pipeline.message_routing.application import Emitter
from calibration.pipeline.message_routing.configuration import RoutingConfiguration
from calibration.pipeline.message_routing.engine import Engine, _checked
from perfmodel.errors import SpecError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs a spare core"),
]

SMALL = RoutingConfiguration(buffer=4096, aggregation=4096, working_set=1 << 16)
INLINE = dataclasses.replace(SMALL, placement="application-core")
LONG = 10_000_000  # buffers that nobody waits for
SHARED = pathlib.Path("/dev/shm")


def running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    return False


@contextlib.contextmanager
def nothing_is_left(engine: Engine) -> Iterator[None]:
    """Check that both processes end by themselves, soon, and that no shared memory stays."""
    pids, before, began = list(engine.processes.values()), set(SHARED.iterdir()), time.monotonic()
    yield
    assert time.monotonic() - began < 6.0
    while any(map(running, pids)):
        assert time.monotonic() - began < 9.0
        time.sleep(0.01)
    assert set(SHARED.iterdir()) <= before


@contextlib.contextmanager
def meanwhile(action: Callable[[], Any]) -> Iterator[None]:
    timer = threading.Timer(0.5, action)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize("name", ["agent", "application"])
def test_a_process_that_is_killed_is_named(name: str) -> None:
    with Engine() as engine:
        assert engine.run(SMALL, 8).buffers == 8
        victim = engine.processes[name]
        strike = meanwhile(lambda: os.kill(victim, signal.SIGKILL))
        with nothing_is_left(engine), strike, pytest.raises(PipelineError, match=f"^the {name} ended$"):
            engine.run(SMALL, LONG)


def test_an_agent_that_stops_is_given_up() -> None:
    with Engine() as engine:
        engine.run(SMALL, 8)
        engine.patience = 1.0
        strike = meanwhile(lambda: os.kill(engine.processes["agent"], signal.SIGSTOP))
        with nothing_is_left(engine), strike, pytest.raises(PipelineError, match="nothing happened for 1 s"):
            engine.run(SMALL, LONG)


def test_shared_memory_that_is_full_is_a_sentence_and_the_next_run_goes_on() -> None:
    system = os.statvfs(SHARED)
    everything = system.f_frsize * system.f_blocks
    with Engine() as engine:
        with pytest.raises(SpecError, match=r"/dev/shm: must have room for \d+ bytes, got No space left"):
            engine.run(dataclasses.replace(SMALL, buffers=everything // SMALL.buffer), 8)
        assert engine.run(SMALL, 8).buffers == 8
        assert engine.run(INLINE, 8).buffers == 8


def test_a_message_that_is_lost_is_told() -> None:
    """The comparison at the end of each run is of what was emitted with what arrived."""
    emitted, arrived = [{"phases": {}, "timed": 8, "pulse": 1.0, "preempted": 0, "seconds": 1.0} for _ in range(2)]
    emit = Emitter(64, 8, SMALL.partners * SMALL.bins)
    buffer = np.zeros((64, 8), np.uint64)
    agent = RoutingAgent(64, 8, SMALL.partners, SMALL.bins, 64)
    for number in range(8):
        emit(buffer)
        if number != 3:
            agent.route(buffer)
    agent.flush()
    with pytest.raises(PipelineError, match="of 512 messages 64 are missing and 0 too many"):
        _checked({**emitted, "expected": emit.expected()}, {**arrived, "arrived": agent.partners.ledger})


@pytest.mark.parametrize(("message", "buffer", "buffers"), [(8, 8, 7), (24, 4096, 1), (1000, 5000, 2)])
def test_what_takes_how_long_adds_up(message: int, buffer: int, buffers: int) -> None:
    """The phases of the process that routes fill the time of a buffer, by its own clock."""
    asked = dataclasses.replace(SMALL, message=message, buffer=buffer, buffers=buffers)
    application = {"memory_work", "emission", "waiting", "handover"}
    inline = dataclasses.replace(asked, placement="application-core")
    with Engine() as engine:
        for run, others in ((inline, set()), (asked, application)):
            found = engine.run(run, 200)
            taken = sum(seconds for name, seconds in found.phases.items() if name not in others)
            assert taken == pytest.approx(found.total, rel=0.3, abs=5e-6)  # between two phases a core may be lost
            theirs = sum(found.phases[name] for name in others)
            assert not others or theirs == pytest.approx(found.total, rel=0.5, abs=2e-5)  # the two begin and end apart
            assert found.pulse > 0
            assert found.preempted >= 0
