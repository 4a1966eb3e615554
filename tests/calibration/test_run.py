"""Measuring: what is kept when it's interrupted, in which order, on which core, and within which time."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import pathlib
import pty
import random
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from calibration import run
from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.measurements import Measurements, relative_spread
from calibration.run import measure, read_journal
from perfmodel.errors import SpecError

POINTS = 3
VISIT = b'"line": "visit"'
SHORT = run.Pace(rounds=3, budget=20.0, visit=0.004)  # tests have no time for more


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", SHORT)
    monkeypatch.setattr(run, "Pulse", lambda: lambda: 1e-4)  # what else runs here must not decide which blocks count


class Toy(Kernel):
    """Sleeps as long as a point says."""

    isolates = "sleep"
    unit_of_work = "nap"

    def __init__(self, name: str, naps: Sequence[float] = (0.001, 0.0011, 0.0012), **methods: Any) -> None:
        self.name = name  # type: ignore[misc]
        self.naps = naps
        self.seen: list[Any] = []
        for method, does in methods.items():
            setattr(self, method, does)

    def points(self, quick: bool) -> Sequence[Point]:
        return [{"nap": nap} for nap in self.naps]

    def work(self, point: Point) -> Sample:
        began = time.perf_counter()
        time.sleep(float(point["nap"]))
        return {"time": time.perf_counter() - began, "naps": 1.0, "turn": float(len(self.seen))}

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        def block() -> Sample:
            self.seen.append(point["nap"])
            return self.work(point)

        yield block


def toys() -> list[Toy]:
    return [Toy(name) for name in ("first", "second")]


def ran(kernels: Sequence[Kernel], journal: pathlib.Path, budget: float | None = None, **more: Any) -> Measurements:
    return measure(kernels, journal, quick=True, budget=budget, **more)


def lines_of(journal: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]


def visits_of(journal: pathlib.Path) -> list[tuple[str, float, int]]:
    return [
        (line["kernel"], line["point"]["nap"], line["round"]) for line in lines_of(journal) if line["line"] == "visit"
    ]


@pytest.fixture
def journal(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "journal.jsonl"


# --- a run that nothing disturbs


def test_every_point_is_measured_in_every_round(journal: pathlib.Path) -> None:
    found = ran(toys(), journal)
    assert found.complete
    assert found == read_journal(journal)
    assert [(record.kernel, record.point["nap"]) for record in found.samples] == [
        (kernel.name, nap) for kernel in toys() for nap in kernel.naps
    ]
    for record in found.samples:
        assert set(record.rounds) == set(range(SHORT.rounds))
        assert record.time == statistics.median(sample["time"] for sample in record.samples)
        assert record.time >= float(record.point["nap"])
        assert record.counts["naps"] == 1.0
        assert 0 <= record.spread < 1
    assert 0 < found.noise_floor < 1
    assert 0 < found.seconds < 5
    assert not found.skipped
    assert not found.failed


def test_the_first_block_of_a_visit_warms_up_and_is_not_kept(journal: pathlib.Path) -> None:
    (kernel,) = kernels = [Toy("first", [0.001])]
    found = ran(kernels, journal)
    kept = {sample["turn"] for sample in found.samples[0].samples}
    assert len(kernel.seen) == len(kept) + SHORT.rounds
    assert 1.0 not in kept  # turns count from one


def test_kernels_and_points_come_in_another_order_each_round(journal: pathlib.Path) -> None:
    ran(toys(), journal)
    rounds = [[visit[:2] for visit in visits_of(journal) if visit[2] == number] for number in range(SHORT.rounds)]
    assert all(sorted(one) == sorted(rounds[0]) for one in rounds)
    kernels = [tuple(dict.fromkeys(name for name, _ in one)) for one in rounds]
    points = [tuple(nap for name, nap in one if name == "first") for one in rounds]
    assert len(set(kernels)) > 1
    assert len(set(points)) > 1
    numbers = [visit[2] for visit in visits_of(journal)]
    assert numbers == sorted(numbers)


def test_the_order_is_that_of_the_seed(tmp_path: pathlib.Path) -> None:
    orders = []
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        ran(toys(), tmp_path / name, seed=seed)
        orders.append(visits_of(tmp_path / name))
    assert orders[0] == orders[1] != orders[2]


def test_raw_data_has_a_hash(journal: pathlib.Path) -> None:
    import hashlib

    found = ran(toys()[:1], journal)
    assert found.sha256 == hashlib.sha256(journal.read_bytes()).hexdigest()


# --- interrupted runs

CHILD = """
import pathlib, sys
sys.path.insert(0, {tests!r})
from test_run import SHORT, interrupted_kernels, measure, run
from perfmodel.cli.output import progress_bar, warn
run.QUICK = SHORT
with progress_bar("measuring") as progress:
    measure(interrupted_kernels(), pathlib.Path({journal!r}), quick=True, progress=progress, tell=warn)
"""


def interrupted_kernels() -> list[Toy]:
    return [Toy("first", [0.03, 0.031]), Toy("second", [0.032, 0.033])]


def started(journal: pathlib.Path, **more: Any) -> subprocess.Popen[str]:
    tests = str(pathlib.Path(__file__).parent)
    code = CHILD.format(tests=tests, journal=str(journal))
    return subprocess.Popen([sys.executable, "-W", "error", "-c", code], text=True, **more)


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_measured_survives_and_the_next_run_takes_it_up(journal: pathlib.Path, how: signal.Signals) -> None:
    with started(journal, stderr=subprocess.PIPE) as child:
        try:
            until(lambda: journal.exists() and journal.read_bytes().count(VISIT) >= 5)
            child.send_signal(how)
            _, complaint = child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == -how
    for said in ("KeyboardInterrupt", "the next run of the same settings takes it up"):
        assert (said in complaint) == (how is signal.SIGINT)
    before, earlier = journal.read_bytes(), visits_of(journal)
    partly = read_journal(journal)
    assert not partly.complete
    assert 5 <= len(earlier) < 12
    told: list[str] = []
    kernels = interrupted_kernels()
    found = measure(kernels, journal, quick=True, tell=told.append)
    assert found.complete
    assert journal.read_bytes().startswith(before)
    assert len(told) == 1
    assert "taken up" in told[0]
    visits = visits_of(journal)
    assert visits[: len(earlier)] == earlier
    assert len(visits) == len(set(visits)) == 12
    fresh = journal.with_name("fresh")
    measure(kernels, fresh, quick=True)
    assert visits == visits_of(fresh)  # the order is the same as without the interruption
    assert found.seconds > partly.seconds > 0


@pytest.mark.parametrize("torn", [1, 30, 200])
def test_a_torn_last_line_is_dropped(journal: pathlib.Path, torn: int) -> None:
    ran(toys(), journal)
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    kept = b"".join(lines[:6])
    journal.write_bytes(kept + lines[6][: -min(torn, len(lines[6]) - 1)])
    assert len(read_journal(journal).samples) == len(visits_of_bytes(kept))
    found = ran(toys(), journal, tell=lambda _: None)
    assert found.complete
    assert journal.read_bytes().startswith(kept + lines_of_bytes(journal.read_bytes())[6])
    assert len(set(visits_of(journal))) == len(visits_of(journal)) == SHORT.rounds * 2 * POINTS


def lines_of_bytes(raw: bytes) -> list[bytes]:
    return raw.splitlines(keepends=True)


def visits_of_bytes(raw: bytes) -> list[Any]:
    return [line for line in map(json.loads, raw.splitlines()) if line["line"] == "visit"]


def unfinished(journal: pathlib.Path) -> bytes:
    """Measure, cut the end off, and return what's left."""
    ran(toys(), journal)
    left = b"".join(journal.read_bytes().splitlines(keepends=True)[:8])
    journal.write_bytes(left)
    return left


FOREIGN = [
    ("fingerprint", "0" * 16, "another machine"),
    ("versions", {"python": "2.7"}, "other versions"),
    ("schema", "x/9", "another format"),
]


@pytest.mark.parametrize(("part", "value", "says"), FOREIGN)
def test_a_journal_of_another_machine_is_put_aside(journal: pathlib.Path, part: str, value: Any, says: str) -> None:
    first, rest = unfinished(journal).split(b"\n", 1)
    foreign = json.dumps(json.loads(first) | {part: value}).encode() + b"\n" + rest
    journal.write_bytes(foreign)
    told: list[str] = []
    found = ran(toys(), journal, tell=told.append)
    assert len(visits_of(journal)) == SHORT.rounds * 2 * POINTS
    assert found.complete
    assert journal.with_name(f"{journal.name}.1").read_bytes() == foreign
    assert len(told) == 1
    assert says in told[0]
    assert f"{journal.name}.1" in told[0]


def test_other_settings_a_complete_journal_and_other_files_are_put_aside(journal: pathlib.Path) -> None:
    told: list[str] = []
    kept = [unfinished(journal)]
    ran(toys(), journal, seed=5, tell=told.append)  # another order
    kept.append(journal.read_bytes())
    ran(toys(), journal, seed=5, tell=told.append)  # the last one was complete
    kept.append(b"milk\neggs")
    journal.write_bytes(kept[-1])
    ran(toys(), journal, tell=told.append)
    kept.append(b"one line and not a whole one")
    journal.write_bytes(kept[-1])
    ran(toys(), journal, tell=told.append)
    aside = [journal.with_name(f"{journal.name}.{number}").read_bytes() for number in range(1, 5)]
    assert aside == kept
    assert ["settings" in told[0], "complete" in told[1], *("no journal" in text for text in told[2:])] == [True] * 4


def test_a_journal_in_use_is_left_alone(journal: pathlib.Path) -> None:
    with started(journal) as child:
        try:
            until(lambda: journal.exists() and VISIT in journal.read_bytes())
            with pytest.raises(SpecError, match="must not be in use"):
                ran(toys(), journal)
        finally:
            child.kill()
    assert {line["kernel"] for line in lines_of(journal) if line["line"] == "visit"} <= {"first", "second"}


@pytest.mark.parametrize("where", ["folder", "folder/file/journal"])
def test_a_journal_that_can_not_be_written_is_a_sentence(tmp_path: pathlib.Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("")
    with pytest.raises(SpecError, match="must be a file that can be written"):
        ran(toys(), tmp_path / where)


@pytest.mark.parametrize("text", ["", "milk", "{}\n", '{"line": "header", "schema": "x"}\n', "milk\neggs\n", "[]\n"])
def test_what_is_no_journal_is_a_sentence(journal: pathlib.Path, text: str) -> None:
    journal.write_text(text)
    with pytest.raises(SpecError, match="must be a journal of schema"):
        read_journal(journal)
    with pytest.raises(SpecError, match="can be read"):
        read_journal(journal.with_name("none"))


# --- a full disk

FULL = """
import pathlib, resource, sys
sys.path.insert(0, {tests!r})
from test_run import SHORT, measure, read_journal, run, toys
from perfmodel.errors import SpecError
run.QUICK = SHORT
if {limit}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
journal = pathlib.Path({journal!r})
filler = journal.with_name("filler")
try:
    filler.write_bytes(bytes({filler}))
    measure(toys(), journal, quick=True)
except SpecError as error:
    print(error)
    raw = journal.read_bytes() if journal.exists() else b""
    print(not raw or raw[-1:] == bytes([10]))
    print(len(read_journal(journal).samples) if raw else None)
    filler.unlink()
    if {limit}:
        sys.exit()
    print(measure(toys(), journal, quick=True, tell=lambda _: None).complete)
"""


def full_disk(journal: pathlib.Path, limit: int, filler: int, *prefix: str) -> list[str]:
    tests = str(pathlib.Path(__file__).parent)
    code = FULL.format(tests=tests, journal=str(journal), limit=limit, filler=filler)
    command = [*prefix, sys.executable, "-W", "error", "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return process.stdout.splitlines()


@pytest.mark.parametrize("limit", [100, 6000])
def test_a_file_that_may_not_grow_is_a_sentence(journal: pathlib.Path, limit: int) -> None:
    """A limit on file sizes fails the write as a full disk does, in the header or among the visits."""
    sentence, whole, measured = full_disk(journal, limit, 0)
    assert "needs room to write what is measured" in sentence
    assert whole == "True"
    assert journal.exists() == (limit > 1000) == (measured != "None")
    if journal.exists():
        assert ran(toys(), journal, tell=lambda _: None).complete


def test_a_full_disk_is_a_sentence(tmp_path: pathlib.Path) -> None:
    """A tiny file system of its own, gone with the child's mounts."""
    own = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mounted = f'mount -t tmpfs -o size=64k none {tmp_path} && exec "$@"'
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*own, mounted, "sh", "true"], capture_output=True, check=False).returncode == 0:
            sentence, whole, measured, complete = full_disk(tmp_path / "journal", 0, 60_000, *own, mounted, "sh")
            assert "No space left on device" in sentence
            assert (whole, complete) == ("True", "True")
            assert measured.isdigit()
            return
    pytest.skip("no file system may be mounted here")


# --- one kernel that goes wrong


def broken(how: str) -> Toy:
    def work(point: Point) -> Sample:
        if how == "raises":
            raise RuntimeError("the disk\nis on fire")
        return {"time": 0.0 if how == "no time" else 1.0, "naps": math.nan if how == "nan" else 1.0}

    return Toy("broken", [0.001], work=work)


@pytest.mark.parametrize(
    ("how", "says"), [("raises", "RuntimeError: the disk is on fire"), ("no time", "above 0"), ("nan", "finite")]
)
def test_a_kernel_that_fails_is_reported_and_the_others_go_on(journal: pathlib.Path, how: str, says: str) -> None:
    found = ran([broken(how), *toys()], journal)
    ((kernel, point, reason),) = found.failed
    assert (kernel, point) == ("broken", {"nap": 0.001})
    assert says in reason
    assert len(found.samples) == 2 * POINTS
    assert found.complete
    assert [line["reason"] for line in lines_of(journal) if line["line"] == "failure"] == [reason]


def test_a_point_that_failed_is_tried_again_when_the_run_is_taken_up(journal: pathlib.Path) -> None:
    ran([broken("raises")], journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    found = ran([Toy("broken", [0.001])], journal, tell=lambda _: None)
    assert not found.failed
    assert set(found.samples[0].rounds) == set(range(SHORT.rounds))


def test_a_kernel_that_can_not_run_is_passed_over_with_its_reason(journal: pathlib.Path) -> None:
    def crash() -> str:
        raise OSError("libmagic.so: no such file")

    kernels = [
        Toy("absent", unavailable=lambda: "needs a device that isn't there"),
        Toy("crashing", unavailable=crash),
        Toy("partly", [0.001], left_out=lambda: "no room for large sizes"),
    ]
    found = ran(kernels, journal)
    assert found.skipped == (
        ("absent", "needs a device that isn't there"),
        ("crashing", "OSError: libmagic.so: no such file"),
        ("partly", "no room for large sizes"),
    )
    assert [record.kernel for record in found.samples] == ["partly"]


def test_kernels_let_go_of_what_they_keep(journal: pathlib.Path) -> None:
    released: list[str] = []
    kernels = [broken("raises"), Toy("first", [0.001])]
    for kernel in kernels:
        kernel.release = lambda name=kernel.name: released.append(name)  # type: ignore[method-assign, misc]
    ran(kernels, journal)
    assert released == ["broken", "first"]


# --- time


def test_the_budget_holds_beside_a_slow_kernel(journal: pathlib.Path) -> None:
    kernels = [Toy("slow", [0.4, 0.41]), *toys()]
    began = time.perf_counter()
    found = ran(kernels, journal, budget=2.0)
    assert time.perf_counter() - began < 2.0 + 0.9  # two blocks of a visit may still be running at the end
    rounds = {(record.kernel, record.point["nap"]): len(set(record.rounds)) for record in found.samples}
    assert len(rounds) == 2 + 2 * POINTS
    assert all(rounds[("slow", nap)] in (1, 2) for nap in (0.4, 0.41))
    assert all(number == SHORT.rounds for (name, _), number in rounds.items() if name != "slow")


def test_a_budget_that_is_too_small_still_leaves_a_sample_of_each_point(journal: pathlib.Path) -> None:
    found = ran([Toy("slow", [0.1, 0.11]), Toy("fast", [0.001])], journal, budget=1e-3)
    assert [len(record.samples) for record in found.samples] == [1, 1, 1]
    assert found.seconds < 1.0


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_is_a_time(journal: pathlib.Path, budget: float) -> None:
    with pytest.raises(SpecError, match="budget: must be a time above 0 s"):
        ran(toys(), journal, budget=budget)
    assert not journal.exists()


# --- the machine


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no call that pins a process")
def test_one_core_and_one_thread_while_measuring(journal: pathlib.Path) -> None:
    import numpy as np
    import threadpoolctl

    np.ones((2, 2)) @ np.ones((2, 2))
    seen: list[tuple[set[int], set[int]]] = []

    def work(point: Point) -> Sample:
        threads = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
        seen.append((os.sched_getaffinity(0), threads))
        return {"time": 1e-3}

    before = os.sched_getaffinity(0)
    threads = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    ran([Toy("looking", [0.001], work=work), broken("raises")], journal)
    assert seen
    assert all(len(cores) == 1 and cores < before | {-1} and pools == {1} for cores, pools in seen)
    assert os.sched_getaffinity(0) == before
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == threads


FORKING = """
import os, pathlib, signal, sys
sys.path.insert(0, {tests!r})
from test_run import Toy, measure

def work(point):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return {{"time": 0.001, "naps": 1.0}}

os.register_at_fork(after_in_parent=lambda: signal.raise_signal(signal.SIGINT))
measure([Toy("forks", [0.001, 0.002], work=work)], pathlib.Path({journal!r}), quick=True, tell=print)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no call that forks")
def test_an_interrupt_while_a_process_forks_ends_the_run_all_the_same(journal: pathlib.Path) -> None:
    code = FORKING.format(tests=str(pathlib.Path(__file__).parent), journal=str(journal))
    child = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60, check=False)
    assert "Exception ignored in" in child.stderr  # or this tests nothing
    assert child.returncode == -signal.SIGINT
    assert "the next run of the same settings takes it up" in child.stdout
    assert len(visits_of(journal)) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no call that pins a process")
def test_an_interrupted_run_gives_its_cores_back(journal: pathlib.Path) -> None:
    def work(point: Point) -> Sample:
        raise KeyboardInterrupt

    before = os.sched_getaffinity(0)
    with pytest.raises(KeyboardInterrupt):
        ran([Toy("interrupted", [0.001], work=work)], journal, tell=lambda _: None)
    assert os.sched_getaffinity(0) == before
    assert not read_journal(journal).complete


def test_the_bar_is_drawn_on_a_terminal_only(journal: pathlib.Path) -> None:
    ours, theirs = pty.openpty()
    with started(journal, stdout=subprocess.PIPE, stderr=theirs) as child:
        os.close(theirs)
        drawn = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while piece := os.read(ours, 4096):
                drawn += piece
        assert child.communicate(timeout=60)[0] == ""
    os.close(ours)
    assert child.returncode == 0
    assert b"measuring" in drawn
    assert b"left" in drawn
    journal.unlink()
    with started(journal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.communicate(timeout=60) == ("", "")
    assert child.returncode == 0


# --- statistics


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 9, 10, 20])
def test_the_robust_spread_is_the_deviation_on_average(size: int) -> None:
    """Of normal values; the mean of 4,000 estimates has a standard error of 1.2 % at most."""
    drawn = random.Random(size)
    spreads = [relative_spread([drawn.gauss(1e6, 1.0) for _ in range(size)]) * 1e6 for _ in range(4000)]
    assert statistics.fmean(spreads) == pytest.approx(1.0, abs=0.05)


def test_the_spread_of_one_value_is_unknown() -> None:
    assert math.isnan(relative_spread([3.0]))


def test_a_record_by_hand(journal: pathlib.Path) -> None:
    """Round medians 2, 4 and 3: median absolute deviation 1 of 3, times 1.4826 and 1.495 for three values."""
    ran([Toy("first", [0.001])], journal)
    header, start, *_, end = lines_of(journal)
    where = {
        "line": "visit",
        "kernel": "first",
        "point": {"nap": 0.001},
        "seconds": 1.0,
        "reference": [1.0],
        "reference_pulses": [1e-4],
    }
    times = ([2.0, 1.0, 9.0], [4.0], [3.0])
    visits = [
        where
        | {
            "round": number,
            "warm": True,
            "samples": {"time": list(column), "rows": 8.0},
            "pulses": [1e-4] * len(column),
        }
        for number, column in enumerate(times)
    ]
    cold = where | {"round": 3, "warm": False, "samples": {"time": [100.0], "rows": 8.0}, "pulses": [1e-4]}
    journal.write_text("".join(json.dumps(line) + "\n" for line in [header, start, *visits, cold, end]))
    (record,) = read_journal(journal).samples
    assert record.time == 3.0
    assert record.spread == pytest.approx(1.4826 * 1.495 / 3.0)
    assert record.counts == {"rows": 8.0}
    assert record.rounds == (0, 0, 0, 1, 2)
    assert record.samples[0] == {"time": 2.0, "rows": 8.0}


def test_blocks_beside_slow_pulses_do_not_count(journal: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pulse is beside two blocks; of the slow ones' blocks none counts, though they are most."""
    turn = itertools.count()
    monkeypatch.setattr(run, "Pulse", lambda: lambda: 1e-4 if next(turn) % 12 < 5 else 1.7e-4)
    kernel = Toy("first", [0.0002])
    found = ran([kernel], journal)
    (record,) = found.samples
    every = [pulse for line in lines_of(journal) if line["line"] == "visit" for pulse in line["pulses"]]
    assert len(record.samples) == sum(pulse < 1.5e-4 for pulse in every)
    assert 3 <= len(record.samples) < 0.5 * len(every)
    assert found.disturbed > 0.5


def test_where_all_is_disturbed_the_faster_half_counts(journal: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet_until_the_first_visit = [1e-4] * 45
    pulses = itertools.chain(quiet_until_the_first_visit, itertools.repeat(2e-4))
    monkeypatch.setattr(run, "Pulse", lambda: lambda: next(pulses))
    (record,) = ran([Toy("first", [0.0002])], journal).samples
    visits = [line for line in lines_of(journal) if line["line"] == "visit"]
    every = sorted(time for line in visits for time in line["samples"]["time"])
    assert sorted(sample["time"] for sample in record.samples) == every[: (len(every) + 1) // 2]


def test_limits_are_untouched() -> None:
    """The tests of full disks limit their children, never this process."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
