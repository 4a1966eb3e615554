"""What goes wrong for real: processes are killed, stopped and starved, and a sentence and nothing else is left."""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from calibration.machine import _write_profile
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.configuration import Configuration, SyntheticGraph
from calibration.pipeline.run import Pipeline
from perfmodel.errors import SpecError
from perfmodel.spec.catalog import own_profiles

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

GRAPH = SyntheticGraph(2000, 8.0, 0.8)
LONG = 100_000  # mini-batches that nobody waits for
SOON = 12.0  # seconds: two starts of interpreters on a busy host, and far below the pipeline's own patience of 120
SHARED = pathlib.Path("/dev/shm")


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for listing in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, listing.read_text().split()):
                found |= {child} | descendants(child)
    return found


def alive(pid: int) -> bool:
    """Return whether a process runs; one that ended and waits to be asked for its status doesn't."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def until(condition: Callable[[], Any], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def asked(mechanism: Any = "tcp", **changes: Any) -> Configuration:
    return Configuration(GRAPH, batch=32, dimension=16, mechanism=mechanism, **changes)


@pytest.fixture(autouse=True)
def files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """Give temporary files a folder of their own, in which there must be none at the end, nor new ones in shared memory."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    before = shared_files()
    yield folder
    assert list(folder.iterdir()) == []
    until(lambda: shared_files() <= before)


def shared_files() -> set[str]:
    return {entry.name for entry in SHARED.iterdir()}


@contextlib.contextmanager
def nothing_is_left(pipeline: Pipeline) -> Iterator[set[int]]:
    """Check that the processes end by themselves once the block is left, and soon."""
    pids: set[int] = set(pipeline.processes.values())
    began = time.monotonic()
    yield pids
    assert time.monotonic() - began < SOON
    until(lambda: not any(map(alive, pids)), 3.0)


@contextlib.contextmanager
def meanwhile(action: Callable[[], Any], after: float = 0.4) -> Iterator[None]:
    """Do something from a thread a moment after the block has begun."""
    timer = threading.Timer(after, action)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


# --- processes that end


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
@pytest.mark.parametrize("name", ["memory node", "compute node"])
def test_a_node_that_is_killed_is_named(mechanism: str, name: str) -> None:
    with Pipeline() as pipeline:
        assert len(pipeline.run(asked(mechanism), 1)) == 1
        victim = pipeline.processes[name]
        with (
            nothing_is_left(pipeline),
            meanwhile(lambda: os.kill(victim, signal.SIGKILL)),
            pytest.raises(PipelineError, match=f"the {name} ended"),
        ):
            pipeline.run(asked(mechanism), LONG)
        with pytest.raises(PipelineError, match="ended"):
            pipeline.run(asked(mechanism), 1)


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
@pytest.mark.parametrize("which", [0, -1])
def test_a_worker_that_is_killed_is_named(mechanism: str, which: int) -> None:
    with Pipeline() as pipeline, nothing_is_left(pipeline) as pids:

        def strike() -> None:
            until(lambda: len(descendants(pipeline.processes["memory node"])) >= 2)
            time.sleep(1.5)  # past their start, into the mini-batches
            workers = sorted(descendants(pipeline.processes["memory node"]))
            pids.update(workers)
            os.kill(workers[which], signal.SIGKILL)

        with meanwhile(strike, 1.5), pytest.raises(PipelineError, match="a worker of the memory node ended"):
            pipeline.run(asked(mechanism, workers=2), LONG)
        assert len(pids) == 4


@pytest.mark.parametrize("name", ["memory node", "compute node"])
def test_a_node_that_is_killed_between_runs_is_named(name: str) -> None:
    with Pipeline() as pipeline, nothing_is_left(pipeline):
        pipeline.run(asked(), 1)
        os.kill(pipeline.processes[name], signal.SIGKILL)
        until(lambda: not alive(pipeline.processes[name]))
        with pytest.raises(PipelineError, match=f"the {name} ended"):
            pipeline.run(asked(), 1)


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
def test_a_node_that_stops_is_given_up(mechanism: str) -> None:
    with Pipeline() as pipeline:
        pipeline.run(asked(mechanism), 1)
        pipeline.patience = 1.0
        stop = meanwhile(lambda: os.kill(pipeline.processes["compute node"], signal.SIGSTOP), 0.2)
        with nothing_is_left(pipeline), stop, pytest.raises(PipelineError, match="nothing happened for 1 s"):
            pipeline.run(asked(mechanism), LONG)


def interrupted(pids: set[int]) -> None:
    with Pipeline() as pipeline:
        pids.update(pipeline.processes.values())
        pipeline.run(asked("shared-memory"), 1)
        with meanwhile(lambda: os.kill(os.getpid(), signal.SIGINT), 0.2):
            pipeline.run(asked("shared-memory", workers=1), LONG)


def test_an_interrupted_run_leaves_no_process_and_no_open_file() -> None:
    pids: set[int] = set()
    opened = []
    for _ in range(2):  # libraries keep some from the first time on
        with pytest.raises(KeyboardInterrupt):
            interrupted(pids)
        opened.append(len(os.listdir("/proc/self/fd")))
    assert len(pids) == 4
    until(lambda: not any(map(alive, pids)), 3.0)
    assert opened[1] <= opened[0]


PARENT = """
import sys
from calibration.pipeline.configuration import Configuration, SyntheticGraph
from calibration.pipeline.run import Pipeline

if __name__ == "__main__":
    with Pipeline() as pipeline:
        asked = Configuration(SyntheticGraph(2000, 8.0, 0.8), batch=32, mechanism=sys.argv[1], workers=2)
        pipeline.run(asked, 1)
        print(*pipeline.processes.values(), flush=True)
        pipeline.run(asked, 100000)
"""


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_all_processes_end_with_their_parent(tmp_path: pathlib.Path, mechanism: str, how: signal.Signals) -> None:
    """Also the workers, which are not its own children; what was shared goes with the last of them."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    arguments = [sys.executable, str(script), mechanism]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        nodes = set(map(int, parent.stdout.readline().split()))
        assert len(nodes) == 2
        until(lambda: len(descendants(min(nodes)) | descendants(max(nodes))) == 2)
        everyone = descendants(parent.pid)
        assert len(everyone) >= 4
        time.sleep(0.2)
        parent.send_signal(how)
        assert parent.wait(10) == -how
        until(lambda: not any(map(alive, everyone)), 5.0)
        assert "Traceback" not in parent.communicate()[1]


# --- the command


@contextlib.contextmanager
def validating(files: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a session of its own, as a terminal does, until both nodes are there."""
    with subprocess.Popen(
        [sys.executable, "-m", "perfmodel", "validate", "machine", "--quick"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=files,
    ) as running:  # fmt: skip
        try:
            until(lambda: len(nodes_of(running.pid)) == 2 or running.poll() is not None, 40.0)
            yield running
        finally:
            running.kill()


def nodes_of(pid: int) -> list[int]:
    """Return the processes that run a node, in the order they were started."""
    found = []
    for child in sorted(descendants(pid)):
        with contextlib.suppress(OSError):
            if b"spawn_main" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


@pytest.mark.parametrize("moment", [0.0, 1.5])
def test_ctrl_c_of_a_validation(files: pathlib.Path, moment: float) -> None:
    """The terminal sends it to all processes at once: while the nodes start too, they leave the word to their parent."""
    with validating(files) as running:
        time.sleep(moment)
        everyone = descendants(running.pid)
        os.killpg(running.pid, signal.SIGINT)
        out, complaint = running.communicate(timeout=20)
        assert (running.returncode, out, complaint.strip()) == (130, "", "perfmodel: interrupted")
        until(lambda: not any(map(alive, everyone)), 3.0)


def test_a_node_that_is_killed_within_a_validation_is_a_sentence(files: pathlib.Path) -> None:
    """As the kernel does when memory runs out: nothing that the program did wrong."""
    with validating(files) as running:
        time.sleep(1.0)
        everyone = descendants(running.pid)
        os.kill(nodes_of(running.pid)[1], signal.SIGKILL)
        out, complaint = running.communicate(timeout=20)
        assert (running.returncode, out, complaint) == (2, "", "perfmodel: the compute node ended\n")
        until(lambda: not any(map(alive, everyone)), 3.0)


# --- no port, no room, no memory


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Pipeline(port) as pipeline, pytest.raises(SpecError, match=f"free on this machine, got {port}") as found:
            pipeline.run(asked(), 1)
    assert found.value.where == "port"


def test_one_port_serves_run_after_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Pipeline(port) as pipeline:
        assert [len(pipeline.run(asked(), 2)) for _ in range(3)] == [2, 2, 2]


def test_more_shared_memory_than_there_is() -> None:
    """Nothing was begun: the next run is as good as any."""
    system = os.statvfs(SHARED)
    everything = system.f_frsize * system.f_blocks
    with Pipeline() as pipeline:
        with pytest.raises(SpecError, match=r"/dev/shm: must have room for \d+ bytes, got No space left"):
            pipeline.run(asked("shared-memory", window=2, chunk=everything), 1)
        assert len(pipeline.run(asked("shared-memory"), 1)) == 1


@contextlib.contextmanager
def limited_files(size: int) -> Iterator[None]:
    """Let this process write no file beyond a size, as a full disk or a quota would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_files_that_may_not_grow() -> None:
    with Pipeline() as pipeline:
        with limited_files(1 << 12), pytest.raises(SpecError, match="must have room for a graph, got File too large"):
            pipeline.run(asked(), 1)
        with (
            limited_files(1 << 20),
            pytest.raises(SpecError, match=r"must have room for \d+ bytes, got File too large"),
        ):
            pipeline.run(asked("shared-memory", chunk=1 << 20), 1)
        assert len(pipeline.run(asked("shared-memory"), 1)) == 1


def test_the_scenario_of_a_run_needs_room_for_its_graph() -> None:
    graph = SyntheticGraph(2100, 8.0, 0.8)  # measured here for the first time
    with limited_files(1 << 12), pytest.raises(SpecError, match="must have room for a graph"):
        Configuration(graph).scenario()


@pytest.mark.parametrize("name", ["memory node", "compute node"])
def test_a_node_without_memory_says_so(name: str) -> None:
    """Mini-batches of 100 MB where 16 MiB more are allowed."""
    with Pipeline() as pipeline, nothing_is_left(pipeline):
        pipeline.run(asked(), 1)
        pid = pipeline.processes[name]
        (size, *_) = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        most = int(size) * resource.getpagesize() + (1 << 24)
        resource.prlimit(pid, resource.RLIMIT_AS, (most, most))
        with pytest.raises(PipelineError, match=f"the {name}: Unable to allocate .* MiB"):
            pipeline.run(Configuration(GRAPH, batch=1000, dimension=16_384, mechanism="tcp"), 1)


def test_a_profile_that_does_not_fit_leaves_the_old_one(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "this-machine.toml"
    table = tomllib.loads((own_profiles() / path.name).read_text(encoding="utf-8"))
    _write_profile(path, table)
    before = path.read_bytes()
    assert tomllib.loads(before.decode()) == table
    with limited_files(10_000), pytest.raises(SpecError, match="must have room for the profile, got File too large"):
        _write_profile(path, {**table, "title": "another"})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == [path.name]
