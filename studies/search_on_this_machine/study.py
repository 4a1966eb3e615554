"""Searches plans for the machine at hand, runs the winner and a random sample of plans for real, and compares."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from calibration.machine_validation import Run, ordered, run_design
from calibration.pipeline.configuration import MECHANISMS, Configuration, SyntheticGraph
from calibration.validation import Row
from perfmodel.environment import this_machine
from perfmodel.errors import ModelError
from perfmodel.estimate import predict
from perfmodel.search.grid import Grid
from perfmodel.search.run import search
from perfmodel.search.space import Space
from studies._base import Answer, Study, markdown, percent

#: Workloads that neither the kernels nor the validation have seen.
WORKLOADS: Final[Mapping[str, Configuration]] = {
    "wide features": Configuration(
        SyntheticGraph(60_000, 16.0, 1.0, seed=301), dimension=200, hidden=32, classes=16, batch=256, fanout=(10, 5)
    ),
    "narrow features, three hops": Configuration(
        SyntheticGraph(150_000, 12.0, 0.9, seed=302), dimension=32, hidden=40, classes=12, batch=160, fanout=(6, 5, 4)
    ),
}
SPACE: Final[Mapping[str, Any]] = {
    "system.link": list(MECHANISMS.values()),
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.precision.features": ["fp32", "fp16", "bf16", "int8", "int4"],
    "plan.workers": {"values": [0, 1, 2], "when": {"plan.placement.sampling": "memory-node"}},
    "plan.transfer.window": [1, 2, 4],
    "plan.transfer.chunk": {"low": "32 KiB", "high": "1 MiB", "factor": 2},
}
SAMPLE: Final = 20
SEED: Final = 7
MOST_REPEATS: Final = 5  # of a configuration whose mini-batches are disturbed


def compute() -> Answer:
    """Search and measure every workload; PERFMODEL_PROFILE names a profile other than the machine's own."""
    profile = os.environ.get("PERFMODEL_PROFILE")
    machine = this_machine()
    return {
        "machine": machine,
        "sample": SAMPLE,
        "workloads": {name: one(each, profile) for name, each in WORKLOADS.items()},
    }


def one(asked: Configuration, profile: str | None) -> Answer:
    """Return what the chosen plan and a sample took, beside what was predicted."""
    scenario = asked.scenario(profile)
    found = search(scenario, dict(SPACE), method="exhaustive", explain=False)
    if found.best is None:
        raise ModelError("every plan on this machine is infeasible")
    plans = [dict(found.best.parameters), *_drawn(Grid.of(scenario, Space.of(dict(SPACE))))]
    configurations = [configuration(asked, plan) for plan in plans]
    predicted = [predict(each.scenario(profile)).time_s for each in configurations]
    runs = run_design(configurations, seed=SEED, most_repeats=MOST_REPEATS)
    return _summary(plans, predicted, runs) | {"plans_searched": found.evaluated}


def _drawn(grid: Grid) -> list[dict[str, Any]]:
    """Return a random sample of the plans."""
    generator = np.random.default_rng(SEED)
    return [grid.assignment(grid.point(int(index))) for index in generator.choice(grid.size, SAMPLE, replace=False)]


def configuration(asked: Configuration, plan: Mapping[str, Any]) -> Configuration:
    """Return a run of the pipeline under a plan."""
    mechanism: Any = next(name for name, link in MECHANISMS.items() if link == plan["system.link"])
    return dataclasses.replace(
        asked,
        mechanism=mechanism,
        placement=plan["plan.placement.sampling"],
        precision=plan["plan.precision.features"],
        workers=int(plan.get("plan.workers", 0)),
        window=int(plan["plan.transfer.window"]),
        chunk=int(plan["plan.transfer.chunk"]),
    )


def _summary(plans: Sequence[Mapping[str, Any]], predicted: Sequence[float], runs: Sequence[Run]) -> Answer:
    measured = [run.medians["total"] for run in runs]
    rows = [Row({}, "total", time, own, (0.0, 0.0)) for time, own in zip(measured[1:], predicted[1:], strict=True)]
    share, pairs = ordered(rows)
    fastest = min(measured[1:])
    return {
        "chosen": {key: str(value) for key, value in plans[0].items()},
        "chosen_s": measured[0],
        "chosen_predicted_s": predicted[0],
        "fastest_s": fastest,
        "median_s": float(np.median(measured[1:])),
        "slowest_s": max(measured[1:]),
        "behind": measured[0] / fastest - 1.0,
        "faster_plans": sum(time < measured[0] for time in measured[1:]),
        "median_error": float(np.median([row.ape for row in rows])),
        "ordered": {"share": share, "pairs": pairs},
        "measured_s": measured[1:],
        "predicted_s": list(predicted[1:]),
    }


def tables(answer: Answer) -> Mapping[str, str]:
    """Draw the chosen plan's time beside the sample's."""
    header = [
        "workload",
        "chosen",
        "fastest of the sample",
        "median",
        "slowest",
        "chosen against fastest",
        "faster plans",
    ]
    rows = []
    for name, found in answer["workloads"].items():
        times = [f"{1e3 * found[key]:.3g} ms" for key in ("chosen_s", "fastest_s", "median_s", "slowest_s")]
        rows.append([name, *times, f"{100 * found['behind']:+.1f} %", str(found["faster_plans"])])
    errors = [
        [
            name,
            percent(found["median_error"], 1),
            f"{percent(found['ordered']['share'], 1)} of {found['ordered']['pairs']}",
        ]
        for name, found in answer["workloads"].items()
    ]
    plans = [[name, ", ".join(f"{key} {value}" for key, value in found["chosen"].items())]
             for name, found in answer["workloads"].items()]  # fmt: skip
    return {
        "times": markdown(header, rows),
        "errors": markdown(["workload", "median error of the sample", "pairs ordered right"], errors),
        "plans": markdown(["workload", "chosen plan"], plans),
    }


STUDY: Final = Study("search_on_this_machine", compute, tables)
