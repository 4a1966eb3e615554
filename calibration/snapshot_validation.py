"""Predicted against measured on this machine: processes that hold snapshots, on a design that no constant was fitted to."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from calibration.kernels._base import chosen_kernels
from calibration.kernels.page_reads import KERNEL as PAGE_READS
from calibration.measurements import Measurements, read_journal, relative_spread
from calibration.pipeline.process import keep_memory
from calibration.pipeline.snapshot_host import FrameTimes, SnapshotPipeline
from calibration.pipeline.snapshot_run import MOST_ON_THE_WAY, MOST_PROCESSES, PARTS, SnapshotRun
from calibration.run import measure
from calibration.snapshot_constants import KERNELS, SnapshotConstants, fitted
from calibration.snapshot_prediction import PHASES, interval, predicted, visits
from calibration.validation import Row, by_quantity, summary
from perfmodel.environment import fingerprint
from perfmodel.errors import PerfmodelError
from perfmodel.spec.catalog import own_profiles

MEDIAN_BOUND, COVERAGE_BOUND = 0.15, 0.80
CONFIGURATIONS, CONFIGURATIONS_QUICK = 32, 12
REPEATS: Final = 3
#: Of the design that is run: the model was developed on that of seed 0.
SEED: Final = 20261202
_BUDGET, _BUDGET_QUICK = 100.0, 30.0  # seconds of measuring kernels
_LEVELS: Final[Mapping[str, Sequence[Any]]] = {
    "processes": (1, 2, 3, 4, 5, 6),
    "window": (6, 8, 10),
    "layers": (1, 1, 2, 3),
    "nodes": (2000, 4500, 9000),
    "targets": (96, 192, 384, 512),
    "degree": (8, 20),
    "width": (48, 100, 180),
    "hidden": (20, 32, 64),
    "cell": ("lstm", "gru"),
    "exchange": ("host", "peer"),
    "fragments": (1, 2, 6, 20),
    "page": (4096, 8192, 32768),
    "share": (0.2, 0.6, 1.3),
    "policy": ("lru", "pinned"),
    "reading": ("buffered", "buffered", "buffered", "direct"),
}
_OWN_CLOCKS: Final = ("read", "graph", "cell", "send", "cell_backward", "graph_backward")
Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class Run:
    """What one configuration took.

    Attributes
    ----------
    asked : SnapshotRun
    medians : mapping of quantity to float
        ``total`` and each phase: median over all its frames [s].
    spread : mapping of quantity to float
        Relative deviation between the repeats' medians (robust).
    hits : float
        Share of the pages that were found in a process' own cache.
    work : mapping of str to float
        What all processes together spent on ``read``, ``graph``, ``cell``, ``send``, ``cell_backward`` and
        ``graph_backward``, by their own clocks: median over frames [s].
    """

    asked: SnapshotRun
    medians: Mapping[str, float]
    spread: Mapping[str, float]
    hits: float
    work: Mapping[str, float]


def design(count: int, seed: int = 0) -> list[SnapshotRun]:
    """Return runs in which every level of every factor comes about equally often.

    Examples
    --------
    >>> runs = design(32)
    >>> len(set(runs)), sorted({run.processes for run in runs})
    (32, [1, 2, 3, 4, 5, 6])
    """
    random = np.random.default_rng(seed)
    columns = {
        name: [levels[index] for index in random.permutation(np.arange(count) % len(levels))]
        for name, levels in _LEVELS.items()
    }
    return [_runnable({name: column[row] for name, column in columns.items()}, row) for row in range(count)]


def _runnable(chosen: dict[str, Any], seed: int) -> SnapshotRun:
    """Give each process a cache of a share of what it holds of a window; keep states of all layers small enough to travel."""
    share = chosen.pop("share")
    state = PARTS[chosen["cell"]] * chosen["layers"] * chosen["targets"] * 4
    hidden = min(chosen["hidden"], MOST_ON_THE_WAY // state)
    if chosen["reading"] == "direct" and PAGE_READS.left_out():
        chosen["reading"] = "buffered"
    asked = SnapshotRun(**{**chosen, "hidden": hidden, "seed": seed})
    capacity = round(share * asked.pages * asked.window / asked.processes)
    return dataclasses.replace(asked, capacity=capacity, frames=2 * asked.processes if asked.processes > 2 else 6)


def run_design(
    runs: Sequence[SnapshotRun], repeats: int = REPEATS, seed: int = 0, progress: Progress | None = None
) -> list[Run]:
    """Run configurations in random order, each some times; the first time the outcome is compared with one process'.

    Raises
    ------
    PipelineError
        A process ended, or something did not arrive or come out as it must.
    """
    visited = [(number, repeat) for repeat in range(repeats) for number in range(len(runs))]
    order = np.random.default_rng([seed, 1]).permutation(len(visited))
    found: dict[int, list[list[FrameTimes]]] = {number: [] for number in range(len(runs))}
    with SnapshotPipeline(min(MOST_PROCESSES, max(run.processes for run in runs))) as pipeline:
        for done, index in enumerate(order):
            number, _ = visited[index]
            found[number].append(pipeline.run(runs[number], verify=not found[number]))
            if progress is not None:
                progress(done + 1, len(visited))
    return [_condensed(asked, found[number]) for number, asked in enumerate(runs)]


def _condensed(asked: SnapshotRun, repeats: Sequence[Sequence[FrameTimes]]) -> Run:
    times = {
        name: [[frame.total if name == "total" else frame.phases[name] for frame in frames] for frames in repeats]
        for name in ("total", *PHASES)
    }
    frames = [frame for repeat in repeats for frame in repeat]
    hits, misses = sum(frame.hits for frame in frames), sum(frame.misses for frame in frames)
    return Run(
        asked,
        {name: float(np.median(np.concatenate(found))) for name, found in times.items()},
        {name: relative_spread([float(np.median(repeat)) for repeat in found]) for name, found in times.items()},
        hits / (hits + misses),
        {
            name: float(np.median([sum(own.get(name, 0.0) for own in frame.work) for frame in frames]))
            for name in _OWN_CLOCKS
        },
    )


def hit_rate(asked: SnapshotRun) -> float:
    """Return the share of pages that are found in a process' own cache, as the closed forms have it."""
    frames = range(asked.window, asked.window + asked.processes)
    seen = [visits(asked, process, frame) for frame in frames for process in range(asked.processes)]
    held = sum(visit.held for visit in seen)
    return held / max(held + sum(visit.kept + visit.unkept for visit in seen), 1)


def compared(run: Run, constants: SnapshotConstants, cores: int) -> list[Row]:
    """Return the total and every phase of a run, predicted against measured."""
    points, intervals = predicted(run.asked, constants, cores), interval(run.asked, constants, cores)
    return [
        Row(
            run.asked.inputs(), name, run.medians[name], points[name], intervals[name],
            run.spread[name] * run.medians[name],
        )
        for name in ("total", *PHASES)
    ]  # fmt: skip


def kernels(quick: bool, afresh: bool = False) -> Measurements:
    """Return what the snapshot kernels measured on this machine; they are run where that was not done yet."""
    path = own_profiles() / "this-machine-snapshots.samples.jsonl"
    if path.exists() and not afresh:
        try:
            known = read_journal(path)
            same = known.environment.fingerprint_hash == fingerprint().fingerprint_hash
            if known.complete and same and not (known.settings["quick"] and not quick):
                return known
        except PerfmodelError:
            pass  # it is written anew
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_memory()
    budget = _BUDGET_QUICK if quick else _BUDGET
    return measure(chosen_kernels(KERNELS), pathlib.Path(path), quick, progress=None, budget=budget)


def validate(
    quick: bool = False, progress: Progress | None = None, seed: int = SEED, afresh: bool = False
) -> dict[str, Any]:
    """Run the design and hold the predictions against it; returns the JSON document.

    Parameters
    ----------
    quick : bool
        Fewer configurations and shorter kernels.
    progress : callable, optional
    seed : int
        Of the design.
    afresh : bool
        Measure the kernels again, though they were.
    """
    measured = kernels(quick, afresh)
    constants = fitted(measured.samples)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    runs = run_design(design(CONFIGURATIONS_QUICK if quick else CONFIGURATIONS, seed), seed=seed, progress=progress)
    rows = [row for run in runs for row in compared(run, constants, cores)]
    return document(runs, rows, constants, measured)


def document(
    runs: Sequence[Run], rows: Sequence[Row], constants: SnapshotConstants, measured: Measurements
) -> dict[str, Any]:
    """Return the JSON document of a validation."""
    quantities = {
        name: {
            **found,
            "p90_ape": float(np.quantile([row.ape for row in rows if row.quantity == name], 0.9)),
            "noise_floor": float(np.median([run.spread[name] for run in runs])),
        }
        for name, found in by_quantity(rows).items()
    }
    missed = _missed(quantities["total"])
    return {
        "suite": "machine",
        "pipeline": "snapshots",
        "inputs": {"this-machine-snapshots.samples.jsonl": measured.sha256},
        "columns": list(runs[0].asked.inputs()),
        "rows": [{**row.to_dict(), "noise": row.resolution / row.measured} for row in rows],
        "summary": summary(rows),
        "by_quantity": quantities,
        "hit_rates": [{"measured": run.hits, "predicted": hit_rate(run.asked)} for run in runs],
        "constants": constants.table(),
        "fitted_parameters": sum(found.values.size for found in constants.fits.values()),
        "noise_floor": measured.noise_floor,
        "conflicts": [],
        "missed": missed,
        "within_bounds": not missed,
    }


def _missed(total: Mapping[str, Any]) -> list[str]:
    found = []
    if total["median_ape"] > max(MEDIAN_BOUND, total["noise_floor"]):
        found.append(
            f"total: median error {total['median_ape']:.1%}, asked for {MEDIAN_BOUND:.0%}, noise floor "
            f"{total['noise_floor']:.1%}"
        )
    if total["coverage_90"] < COVERAGE_BOUND:
        found.append(f"total: {total['coverage_90']:.0%} inside the 90 % interval, asked for {COVERAGE_BOUND:.0%}")
    return found
