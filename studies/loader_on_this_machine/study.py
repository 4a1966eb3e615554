"""Searches all loader settings and placements for two cores, with a profile that is kept beside another study's runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Final

from perfmodel.errors import ModelError
from perfmodel.search.run import search
from perfmodel.spec.scenario import Scenario, load_scenario
from studies._base import ROOT, Answer, Study, between, figure, markdown, percent

#: Workloads of the catalog, and one with a model so narrow that training does not take nearly all of the time.
WORKLOADS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "ogbn-arxiv": ("ogbn-arxiv", {}),
    "ogbn-arxiv, 16 hidden": ("ogbn-arxiv", {"workload.model.hidden": 16}),
    "reddit": ("reddit", {}),
}
SYSTEM: Final = "this-machine"
#: Measured on a two-core virtual machine for the study of that name.
PROFILE: Final = ROOT / "model_against_regression" / "profile.toml"
SPACE: Final[Mapping[str, Any]] = {
    "system.link": ["this-machine-tcp", "this-machine-shared-memory"],
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.precision.features": ["fp32", "fp16", "bf16", "int8"],
    "plan.workers": {"values": [0, 1, 2], "when": {"plan.placement.sampling": "memory-node"}},
    "plan.transfer.window": [1, 2, 4],
    "plan.transfer.chunk": {"low": "32 KiB", "high": "1 MiB", "factor": 2},
}
#: What a user has who changes nothing: no workers, and TCP between the two processes.
DEFAULT: Final = {"system.link": "this-machine-tcp", "plan.workers": 0, "plan.transfer.window": 1}


def scenario(workload: str) -> Scenario:
    """Return a workload on the measured machine, with nothing chosen yet."""
    profile = tomllib.loads(PROFILE.read_text(encoding="utf-8"))
    name, changes = WORKLOADS[workload]
    return load_scenario(name, SYSTEM, "default", profile, {**DEFAULT, **changes})


def compute() -> Answer:
    """Search every plan for each workload."""
    profile = tomllib.loads(PROFILE.read_text(encoding="utf-8"))
    return {
        "machine": profile["made_by"]["machine"],
        "workloads": {workload: one(workload) for workload in WORKLOADS},
    }


def one(workload: str) -> Answer:
    """Return the best settings, and what they bring."""
    found = search(scenario(workload), dict(SPACE), method="exhaustive")
    if found.best is None or found.estimate is None:
        raise ModelError("every plan on this machine is infeasible")
    return {
        "best": {key: str(value) for key, value in found.best.parameters.items()},
        "time_s": found.estimate.time_s,
        "interval_s": list(found.estimate.interval_s),
        "epoch_time_s": found.estimate.epoch_time_s,
        "phases": {phase.name: phase.time_s for phase in found.estimate.phases},
        "plans": found.evaluated,
        "feasible": found.feasible,
        "proof": found.proof.kind,
        "importance": dict(found.importance),
        "against": [
            {
                "with": entry["with"],
                "speedup": entry["speedup"],
                "interval": list(entry["speedup_interval"]),
                "changed": {key: [str(pair["other"]), str(pair["winner"])] for key, pair in entry["changed"].items()},
            }
            for entry in found.explanation["comparisons"]
        ],
    }


def tables(answer: Answer) -> Mapping[str, str]:
    """Return the README's tables."""
    found = answer["workloads"]
    best = [
        [name, *(_setting(entry["best"].get(key)) for key in SPACE), f"{figure(1e3 * entry['time_s'])}",
         f"{between([1e3 * time for time in entry['interval_s']])}", figure(entry["epoch_time_s"])]
        for name, entry in found.items()
    ]  # fmt: skip
    header = ["workload", *(_name(key) for key in SPACE), "mini-batch [ms]", "90 % interval [ms]", "epoch [s]"]
    against = [
        [name, entry["with"], f"{figure(entry['speedup'])} ({between(entry['interval'])})",
         "; ".join(f"{_name(key)} {_setting(old)} to {_setting(new)}" for key, (old, new) in entry["changed"].items())]
        for name, each in found.items() for entry in each["against"]
    ]  # fmt: skip
    shares = [[name, *(percent(entry["importance"].get(key)) for key in SPACE)] for name, entry in found.items()]
    phases = list(dict.fromkeys(phase for entry in found.values() for phase, time in entry["phases"].items() if time))
    parts = [
        [name, *(figure(1e3 * entry["phases"].get(phase, 0.0)) for phase in phases)] for name, entry in found.items()
    ]
    return {
        "best": markdown(header, best),
        "against": markdown(["workload", "against", "times faster", "what differs"], against, numbers_from=2),
        "importance": markdown(["workload", *(_name(key) for key in SPACE)], shares),
        "phases": markdown(["workload", *(f"{phase} [ms]" for phase in phases)], parts),
    }


def _name(key: str) -> str:
    return "link" if key == "system.link" else key.removeprefix("plan.").removeprefix("placement.")


def _setting(value: str | None) -> str:
    return "" if value is None else value.removeprefix("this-machine-").removesuffix(".0")


STUDY: Final = Study("loader_on_this_machine", compute, tables)
