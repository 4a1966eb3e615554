"""Processes that hold snapshots: right to the last bit, page by page, and gone when something fails; constants come back."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from calibration.kernels._base import all_kernels
from calibration.machine_fit import fitted_groups
from calibration.machine_profile import profile_table
from calibration.measurements import Measurements, Record
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.snapshot_host import FrameTimes, SnapshotPipeline
from calibration.pipeline.snapshot_run import SnapshotRun
from calibration.snapshot_constants import KERNELS
from calibration.snapshot_prediction import predicted_hit_rate, replayed, scenario_of
from calibration.snapshot_validation import (
    CONFIGURATIONS,
    PHASES,
    Run,
    _condensed,
    check_pages,
    compared,
    design,
    document,
    run_design,
)
from perfmodel.environment import fingerprint
from perfmodel.errors import MissingCalibration, ModelError, SpecError
from perfmodel.estimate import predict

SMALL = SnapshotRun(processes=1, window=4, frames=2, nodes=300, width=24, targets=20, degree=3, hidden=8, capacity=6)


# --- real runs


@pytest.fixture(scope="module")
def pipeline() -> Iterator[SnapshotPipeline]:
    with SnapshotPipeline(3) as found:
        yield found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"processes": 3, "layers": 2, "fragments": 3, "policy": "pinned"},
        {"processes": 3, "exchange": "peer", "cell": "gru", "capacity": 0},
        {"processes": 2, "exchange": "peer", "layers": 3, "policy": "pinned", "capacity": 20},
        {"processes": 2, "window": 5, "cell": "gru", "capacity": 30},
    ],
    ids=str,
)
def test_a_run_comes_to_what_one_process_comes_to_and_reads_what_a_replay_reads(
    pipeline: SnapshotPipeline, changes: dict[str, Any]
) -> None:
    asked = dataclasses.replace(SMALL, **changes)
    frames = pipeline.run(asked, verify=True)
    assert len(frames) == asked.frames
    check_pages(asked, frames)
    for frame in frames:
        assert set(frame.phases) == set(PHASES)
        assert sum(frame.phases.values()) == pytest.approx(frame.total)
        assert frame.hits + frame.misses == asked.window * asked.pages


def test_another_count_of_pages_is_no_match() -> None:
    exact = replayed(SMALL, range(4), 2)
    assert exact.hits == 0
    hit = FrameTimes(1.0, {}, [], 1, exact.accesses - 1)
    with pytest.raises(ModelError, match="a replay finds 0 of"):
        check_pages(SMALL, [hit])


def test_training_that_differs_is_found(pipeline: SnapshotPipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    import calibration.pipeline.snapshot_host as host

    right = host.reference
    monkeypatch.setattr(host, "reference", lambda asked, frames: right(dataclasses.replace(asked, degree=4), frames))
    with pytest.raises(PipelineError, match="the hidden states are not those"):
        pipeline.run(SMALL)


# --- what goes wrong


@contextlib.contextmanager
def nothing_is_left(pipeline: SnapshotPipeline, folder: pathlib.Path) -> Iterator[None]:
    pids = list(pipeline.processes.values())
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 8.0
    end = time.monotonic() + 3.0
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.02)
    assert list(folder.iterdir()) == []


def _alive(pid: int) -> bool:
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Give temporary files a folder of their own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_process_that_is_killed_is_named_and_takes_the_others_along(folder: pathlib.Path) -> None:
    with SnapshotPipeline(2) as pipeline:
        asked = dataclasses.replace(SMALL, processes=2)
        pipeline.run(asked)
        victim = pipeline.processes["process 1"]
        timer = threading.Timer(1.2, lambda: os.kill(victim, signal.SIGKILL))
        timer.start()
        try:
            with nothing_is_left(pipeline, folder), pytest.raises(PipelineError, match="process 1 ended"):
                pipeline.run(dataclasses.replace(asked, frames=3000, window=2))
        finally:
            timer.cancel()


def test_a_file_that_is_gone_is_a_sentence(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def nowhere(self: Any, asked: SnapshotRun, snapshots: int) -> Iterator[str]:
        yield str(folder / "gone")

    monkeypatch.setattr(SnapshotPipeline, "_stored", nowhere)
    with SnapshotPipeline(1) as pipeline:
        missing = pytest.raises(PipelineError, match=r"process 0: .*No such file")
        with nothing_is_left(pipeline, folder), missing:
            pipeline.run(SMALL)


def test_a_file_that_is_cut_short_is_a_sentence(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = folder / "short"
    short.write_bytes(bytes(4096))

    @contextlib.contextmanager
    def stored(self: Any, asked: SnapshotRun, snapshots: int) -> Iterator[str]:
        yield str(short)

    monkeypatch.setattr(SnapshotPipeline, "_stored", stored)
    with SnapshotPipeline(1) as pipeline, pytest.raises(PipelineError, match=r"process 0: page .* was read short"):
        pipeline.run(SMALL)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"processes": 7}, "must be from 1 to 6"),
        ({"processes": 5}, "must be at most the window"),
        ({"page": 1000}, "must be a multiple of 4096"),
        ({"policy": "fifo"}, "must be one of lru, pinned"),
        ({"hidden": 4000, "layers": 3}, "must be small enough"),
    ],
)
def test_runs_that_cannot_be(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        dataclasses.replace(SMALL, **changes)


# --- caches


@pytest.mark.parametrize("policy", ["lru", "pinned"])
def test_the_share_of_pages_that_is_found_is_that_of_a_replay(policy: Any) -> None:
    random = np.random.default_rng(5)
    for seed in range(40):
        processes = int(random.integers(1, 7))
        asked = SnapshotRun(
            processes=processes, window=int(random.integers(max(processes, 2), 11)), nodes=int(random.integers(64, 700)),
            width=64, targets=8, policy=policy, capacity=int(random.integers(0, 40)), frames=2 * processes, seed=seed,
        )  # fmt: skip
        exact = replayed(asked, range(asked.window + asked.frames), asked.window)
        assert predicted_hit_rate(asked) == pytest.approx(exact.hits / exact.accesses, abs=0.03)


# --- constants and predictions

FLOP, ELEMENT, CALL = 2e-11, 8e-9, 3e-5


def _planted(kernel: str, point: Any) -> tuple[float, dict[str, float]]:
    """Return what a block takes on a made-up machine, written down without the model's phases."""
    p = dict(point)
    if kernel == "snapshot_cells":
        gates, products = {"lstm": 4, "gru": 3}[p["cell"]], {"forward": 2, "backward": 4}[p["direction"]]
        flop = products * 2 * p["targets"] * p["hidden"] * gates * p["hidden"]
        woken = 4e-5 * (p["asleep"] > 0)
        return CALL + woken + FLOP * flop + ELEMENT * p["targets"] * p["hidden"], {}
    if kernel == "snapshot_graphs":
        time = (
            CALL + FLOP * 4 * p["targets"] * p["width"] * p["hidden"] + 1e-9 * p["targets"] * (p["width"] + p["hidden"])
        )
        if p["direction"] == "forward":
            far = max(1 - 1.2e6 / (p["nodes"] * p["width"] * 4), 0)
            time += p["targets"] * p["degree"] * (far * 6e-8 + 2e-10 * p["width"] * (1 + far))
        return time, {}
    if kernel == "snapshot_reads":
        each = {"held": 1e-6, "buffered": 3e-6, "unkept": 2e-6, "direct": 1e-4}[p["kind"]]
        far = max(1 - 8e6 / (12 * p["visit"] * p["page"]), 0) if p["kind"] != "direct" else 0
        byte = 1e-10 + 5e-11 * far
        return 1e-5 + 5e-5 * (p["asleep"] > 0) + p["visit"] * (each + byte * p["page"]), {"pages": float(p["visit"])}
    wake, message = {"other core": (6e-5, 8e-6), "same core": (2e-5, 6e-6)}.get(p["receiver"], (1e-4, 2e-5))
    if p["measured"] == "sent":
        wake, message = 2e-5, 5e-6
    return 4 * (wake + p["fragments"] * message + 2e-10 * p["bytes"]), {"states": 4.0, "messages": 4.0 * p["fragments"]}


@pytest.fixture(scope="module")
def measured() -> Measurements:
    records = []
    for name in KERNELS:
        for point in all_kernels()[name].points(quick=False):
            time, counts = _planted(name, point)
            samples: Sequence[Any] = [{"time": time, **counts}]
            records.append(Record(name, point, time, 0.1, counts, tuple(samples), (0,)))
    return _measurements(records)


def _measurements(records: Sequence[Record]) -> Measurements:
    known: dict[str, Any] = {
        "environment": fingerprint(), "samples": tuple(records), "noise_floor": 0.01, "skipped": (), "failed": (),
        "seconds": 1.0, "complete": True, "settings": {"quick": False}, "sha256": "0" * 64,
    }  # fmt: skip
    fields = {field.name for field in dataclasses.fields(Measurements)}
    return Measurements(**{name: known.get(name, 0.0) for name in fields})


@pytest.fixture(scope="module")
def profile(measured: Measurements) -> dict[str, Any]:
    return profile_table(measured, fitted_groups(measured))


def _constants(profile: dict[str, Any]) -> dict[str, float]:
    return {field: each["value"] for each in profile["parameters"] for field in each["fields"]}


def test_planted_constants_come_back(profile: dict[str, Any]) -> None:
    found = _constants(profile)
    planted = {
        "lstm.backward.restart_time": 4e-5, "restart_time": 5e-5,
        "lstm.forward.time_per_operation": FLOP, "gru.backward.time_per_element": ELEMENT, "lstm.backward.time_per_call": CALL,
        "graph.forward.time_per_missed_row": 6e-8, "cache": 1.2e6, "outer_cache": 8e6, "time_per_missed_byte": 5e-11,
        "graph.forward.time_per_passed_element": 2e-10, "held.time_per_page": 1e-6,
        "buffered.time_per_page": 3e-6, "unkept.time_per_byte": 1e-10, "other_core.time_per_state": 6e-5,
        "same_core.time_per_message": 6e-6, "through_host.time_per_message": 2e-5, "sending.time_per_state": 2e-5,
        "sending.time_per_message": 5e-6,
    }  # fmt: skip
    for field, value in planted.items():
        assert found[f"snapshots.{field}"] == pytest.approx(value, rel=0.02), field


def test_a_prediction_is_the_sum_of_what_the_machine_takes(profile: dict[str, Any]) -> None:
    """One process, all pages read and none kept, one layer: every term written down here once more."""
    asked = SnapshotRun(
        processes=1, window=4, nodes=512, width=64, targets=64, degree=8, hidden=32, capacity=0, page=4096
    )
    found = {phase.name: phase.time_s for phase in predict(scenario_of(asked, profile)).phases}
    told = 6e-5 + 8e-6
    visit = 1e-5 + 32 * (3e-6 + 4096e-10)  # 512 x 64 x 4 B are 32 pages; an LRU cache reads as if it kept them
    graph = CALL + FLOP * 4 * 64 * 64 * 32 + 1e-9 * 64 * 96 + 512 * 2e-10 * 64
    assert found["graphs"] == pytest.approx(4 * (visit + graph) + 5e-5 + 2.5e-5 + 2 * told, rel=0.02)
    cell = CALL + FLOP * 4 * 64 * 32 * 4 * 32 + ELEMENT * 64 * 32
    assert found["forward"] == pytest.approx(4 * cell + 2 * told, rel=0.02)
    backward = CALL + FLOP * 8 * 64 * 32 * 4 * 32 + ELEMENT * 64 * 32
    graph_backward = CALL + FLOP * 4 * 64 * 64 * 32 + 1e-9 * 64 * 96
    weights = 4 * (2 * 64 * 32 + 32 + 4 * 32 * 65)
    sent = 6e-5 + 2 * 8e-6 + 2e-10 * weights
    assert found["backward"] == pytest.approx(4 * (backward + graph_backward) + sent, rel=0.02)
    assert found["update"] == pytest.approx(2e-5 + 2 * 5e-6 + 2e-10 * weights, rel=0.02)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"layers": 1}, {"layers": 3}),
        ({"exchange": "peer"}, {"exchange": "host"}),
        ({"fragments": 1}, {"fragments": 20}),
        ({"policy": "pinned", "capacity": 40}, {"policy": "lru", "capacity": 40}),
        ({"reading": "buffered"}, {"reading": "direct"}),
        ({"window": 6}, {"window": 10}),
    ],
)
def test_more_work_takes_longer(profile: dict[str, Any], less: dict[str, Any], more: dict[str, Any]) -> None:
    base = SnapshotRun(processes=3, window=8, nodes=2000)
    times = [predict(scenario_of(dataclasses.replace(base, **changes), profile)).time_s for changes in (less, more)]
    assert times[0] < times[1]


def test_what_was_not_measured_is_named(measured: Measurements) -> None:
    some = _measurements([record for record in measured.samples if record.kernel != "state_exchange"])
    table = profile_table(some, fitted_groups(some))
    with pytest.raises(MissingCalibration, match=r"snapshots\.sending"):
        predict(scenario_of(SMALL, table))


# --- validation


def test_the_design_is_balanced_and_another_than_the_kernels() -> None:
    runs = design(CONFIGURATIONS)
    assert len(set(runs)) == CONFIGURATIONS >= 24
    assert {run.processes for run in runs} == {1, 2, 3, 4, 5, 6}
    assert {(run.cell, run.exchange) for run in runs} == {(c, e) for c in ("lstm", "gru") for e in ("host", "peer")}
    cells = {(point["hidden"], point["targets"]) for point in all_kernels()["snapshot_cells"].points(quick=False)}
    assert cells.isdisjoint({(run.hidden, run.targets) for run in runs})


def test_a_validation_of_one_run(profile: dict[str, Any]) -> None:
    asked = dataclasses.replace(SMALL, processes=2, frames=3)
    told: list[tuple[int, int]] = []
    run = run_design([asked], 2, progress=lambda done, of: told.append((done, of)))[0]
    assert told == [(1, 2), (2, 2)]
    assert all(0 < run.times[name] < 10 * run.medians[name] for name in ("total", *PHASES))
    assert len(run.pulses) == 2 * asked.frames
    scenario = scenario_of(asked, profile)
    found = document([run], compared(run, scenario), [scenario])
    assert {row["quantity"] for row in found["rows"]} == {"total", *PHASES}
    assert found["hit_rates"] == [{"measured": run.hits, "predicted": predicted_hit_rate(asked)}]
    total = next(row for row in found["rows"] if row["quantity"] == "total")
    assert total["ape"] == pytest.approx(abs(predict(scenario).time_s / run.times["total"] - 1))
    assert found["within_bounds"] == (not found["missed"])


def test_errors_beyond_the_bound_are_missed_unless_noise_is_larger(profile: dict[str, Any]) -> None:
    scenario = scenario_of(SMALL, profile)
    phases = {phase.name: phase.time_s for phase in predict(scenario).phases}
    right = {"total": sum(phases.values()), **phases}

    def validated(factor: float, spread: float) -> list[str]:
        times = {name: time * factor for name, time in right.items()}
        run = Run(SMALL, times, times, dict.fromkeys(times, spread), 0.0, [1e-4])
        return list(document([run], compared(run, scenario), [scenario])["missed"])

    assert validated(1.0, 0.01) == []
    assert "total: median error 66.7%, asked for 15%" in validated(3.0, 0.01)[0]
    assert not any("median error" in sentence for sentence in validated(3.0, 0.8))


def test_disturbed_frames_count_as_disturbed_blocks_do() -> None:
    """Half of the frames at half the speed: the mean, not either of the two; one that hung for long counts for nothing."""
    frames = [FrameTimes(time, dict.fromkeys(PHASES, time / 4), [], 1, 3) for time in [1.0] * 10 + [2.0] * 9 + [90.0]]
    run = _condensed(SMALL, [frames[::2], frames[1::2]])
    assert run.times["total"] == pytest.approx(28 / 19)
    assert run.medians["total"] == 1.5
    assert run.hits == 0.25
