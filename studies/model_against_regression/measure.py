"""Measuring: calibration, training runs and held-out runs in turn, in slices, so that all three meet the same machine.

What is measured goes to a folder as it comes; every slice takes it up where the last one ended. Each calibrates for a while,
then runs the held-out configurations' next visits, and between them training runs, until these have taken as long as the
calibration has.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from calibration.pipeline.configuration import Configuration
from calibration.pipeline.run import Pipeline
from studies.model_against_regression import cases
from studies.model_against_regression.table import Measured, plain

SLICES: Final = 6
_CALIBRATING: Final = 105.0  # seconds of a slice; the last one runs to the end
_GRACE: Final = 60.0

Line = dict[str, Any]


def measure(folder: pathlib.Path) -> bool:
    """Measure one slice; returns whether everything is measured.

    Parameters
    ----------
    folder : Path
        Of this measurement's files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = _lines(folder)
    number = 1 + max((line["slice"] for line in lines), default=0)
    if number > SLICES:
        return True
    if not any(line["kind"] == "calibration" and line["slice"] == number for line in lines):
        _append(folder, _calibrated(folder, number))
    _run(folder, number)
    return number == SLICES


def _lines(folder: pathlib.Path) -> list[Line]:
    path = folder / "runs.jsonl"
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _append(folder: pathlib.Path, line: Line) -> None:
    with (folder / "runs.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _calibrated(folder: pathlib.Path, number: int) -> Line:
    """Go on calibrating for a slice's time, in a process of its own, to the end in the last slice."""
    command = [sys.executable, "-m", "perfmodel", "calibrate", "--json", "--out", str(folder / "this-machine.toml")]
    began = time.perf_counter()
    with (folder / "calibrate.json").open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(None if number == SLICES else _CALIBRATING)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(_GRACE)
    return {"kind": "calibration", "slice": number, "seconds": time.perf_counter() - began}


def visits(number: int) -> list[tuple[str, int, int]]:
    """Return a slice's share of the visits (kind, configuration, repeat), in random order."""
    every = [
        (kind, index, repeat)
        for kind, configurations in cases.held_against().items()
        for index in range(len(configurations))
        for repeat in range(cases.REPEATS[kind])
    ]
    order = np.random.default_rng(41).permutation(len(every))
    return [every[place] for place in order[number - 1 :: SLICES]]


def _run(folder: pathlib.Path, number: int) -> None:
    """Run what a slice still has to: held-out visits, and training runs spread among them."""
    lines = _lines(folder)
    done = {(line["kind"], line["number"], line["repeat"]) for line in lines if line["kind"] != "calibration"}
    due = [visit for part in range(1, number + 1) for visit in visits(part)]  # also what was interrupted
    left = [visit for visit in due if visit not in done]
    target = sum(line["seconds"] for line in lines if line["kind"] == "calibration")
    trained = sum(line["seconds"] for line in lines if line["kind"] == cases.TRAINING)
    share = max(target - trained, 0.0) / max(len(left), 1)
    configurations = cases.held_against()
    learning = _enumerated(sum(line["kind"] == cases.TRAINING for line in lines))
    with Pipeline() as pipeline:
        _warm(pipeline, [configurations[kind][index] for kind, index, _ in left])
        for place in range(max(len(left), 1)):
            while trained < target - share * (max(len(left), 1) - place - 1):
                index, asked = next(learning)
                line = _visited(pipeline, number, cases.TRAINING, index, 0, asked)
                trained += line["seconds"]
                _append(folder, line)
            if left:
                kind, index, repeat = left[place]
                _append(folder, _visited(pipeline, number, kind, index, repeat, configurations[kind][index]))


def _warm(pipeline: Pipeline, asked: Sequence[Configuration]) -> None:
    """Make the graphs beforehand, so that no run's time holds that of its graph."""
    for graph in {each.graph for each in (*asked, *cases.held_against()[cases.HELD_OUT])}:
        pipeline.run(Configuration(graph, dimension=4, batch=16, fanout=(2,)), 1)


def _enumerated(start: int) -> Iterator[tuple[int, Configuration]]:
    for number, asked in enumerate(cases.training()):
        if number >= start:
            yield number, asked


def _visited(pipeline: Pipeline, part: int, kind: str, number: int, repeat: int, asked: Configuration) -> Line:
    began = time.perf_counter()
    found = pipeline.run(asked, cases.BATCHES, first=1000 * repeat)
    seconds = time.perf_counter() - began
    totals = [batch.total for batch in found]
    return {"kind": kind, "number": number, "repeat": repeat, "slice": part, "seconds": seconds, "totals": totals}


def assembled(folder: pathlib.Path) -> Measured:
    """Return what was measured: a row for each configuration."""
    lines = _lines(folder)
    calibration = json.loads((folder / "calibrate.json").read_text(encoding="utf-8"))
    configurations = cases.held_against()
    count = sum(line["kind"] == cases.TRAINING for line in lines)
    learning = _enumerated(0)
    configurations[cases.TRAINING] = [next(learning)[1] for _ in range(count)]
    rows = []
    for kind, of_kind in configurations.items():
        for number, asked in enumerate(of_kind):
            own = [line for line in lines if line["kind"] == kind and line["number"] == number]
            times = [time for line in own for time in line["totals"]]
            middles = [float(np.median(line["totals"])) for line in own]
            spread = (max(middles) - min(middles)) / float(np.median(middles))
            seconds = sum(line["seconds"] for line in own)
            rows.append(
                {"kind": kind, **plain(asked), "time": float(np.median(times)), "spread": spread, "seconds": seconds}
            )
    environment = calibration["environment"]
    conditions = {
        "calibration_seconds": sum(line["seconds"] for line in lines if line["kind"] == "calibration"),
        "training_seconds": sum(line["seconds"] for line in lines if line["kind"] == cases.TRAINING),
        "measuring_seconds": calibration["seconds"],
        "noise_floor": calibration["noise_floor"],
        "slices": SLICES,
        "cpu_model": environment["cpu_model"],
        "cores": environment["cores"],
        "memory": environment["memory"],
    }
    return Measured(rows, conditions)
