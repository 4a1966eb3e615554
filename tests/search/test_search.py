"""A whole search: what it answers, proves, explains and writes, and what it does when it may not finish."""

from __future__ import annotations

import itertools
import json
import math
import os
import pathlib
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.search import run as run_module
from perfmodel.search.axes import value_at
from perfmodel.search.clock import Clock
from perfmodel.search.evaluator import Evaluator
from perfmodel.search.families import search_family
from perfmodel.search.plan_file import plan_text
from perfmodel.search.run import search

DMA = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
DPU = pm.load_scenario("histogram", "buddy-dpu")
SMALL: dict[str, Any] = {
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.precision.features": ["fp32", "fp16"],
    "plan.overlap": ["sum", "pipelined", "overlap"],
    "plan.devices": [1, 2, 4],
    "plan.workers": [0, 1, 4, 40],
    "plan.transfer.window": [1, 4, 16],
    "plan.transfer.chunk": {"low": "4 KiB", "high": "4 MiB", "factor": 4},
}
ROUTING: dict[str, Any] = {
    "plan.placement.routing": ["application", "agent"],
    "plan.threads": {"values": [1, 2, 4, 8, 16], "when": {"plan.placement.routing": "agent"}},
    "plan.buffer_size": {"low": "1 KiB", "high": "1 MiB", "factor": 2},
    "plan.outstanding": [1, 16, 128, 512],
    "plan.window": [1, 4, 16, 64],
}


@pytest.mark.parametrize(("scenario", "space"), [(DMA, SMALL), (DPU, ROUTING)])
def test_optuna_finds_what_the_sweep_proves(scenario: pm.Scenario, space: dict[str, Any]) -> None:
    proven = search(scenario, space, method="exhaustive", explain=False)
    found = search(scenario, space, method="optuna", trials=200, explain=False)
    assert proven.best is not None
    assert found.best is not None
    assert found.proof.kind == "enumerated"
    assert found.proof.value == proven.best.objectives["time"]
    assert found.gap == found.best.objectives["time"] / proven.best.objectives["time"] - 1
    assert found.gap < 0.01
    assert found.evaluated <= 200
    assert pm.predict(found.best.scenario).time_s == found.best.objectives["time"]


def test_the_same_seed_gives_the_same_trials() -> None:
    rows = [search(DMA, SMALL, method="optuna", trials=60, seed=seed, explain=False).rows for seed in (5, 5, 6)]
    assert rows[0] == rows[1] != rows[2]


def test_no_plan_is_evaluated_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    points = Evaluator.points
    monkeypatch.setattr(Evaluator, "points", lambda self, given: seen.extend(given) or points(self, given))
    search(DMA, {"plan.devices": [1, 2, 3], "plan.workers": [0, 1, 2]}, method="optuna", explain=False,
           constraints=["time <= 1 s"])  # fmt: skip
    tried = seen[: len(dict.fromkeys(seen))]
    assert len(set(tried)) == 9
    assert len(tried) == 9


@pytest.mark.parametrize("method", ["exhaustive", "optuna"])
def test_nothing_feasible_names_what_comes_closest(method: str) -> None:
    constraints = ["time <= 20 ms", "memory.gpu <= 30 GB"]
    found = search(DMA, SMALL, constraints=constraints, method=method, trials=300, explain=False)
    assert found.best is None
    assert found.feasible == 0
    assert found.closest is not None
    assert found.closest.rule == "time <= 20 ms"
    assert found.closest.excess == pytest.approx(found.closest.need / found.closest.limit)
    best = search(DMA, SMALL, explain=False).best
    assert best is not None
    if method == "exhaustive":
        assert found.closest.excess <= best.objectives["time"] / 0.02
    assert found.to_dict()["best"] is None
    json.dumps(found.to_dict())


def test_infeasible_plans_are_counted_by_reason() -> None:
    found = search(DMA, SMALL, constraints=["time <= 500 ms"], explain=False)
    assert set(found.infeasible_by_rule) == {"transfer.chunk", "memory.memory_node", "time <= 500 ms"}
    assert sum(found.infeasible_by_rule.values()) >= found.evaluated - found.feasible


def test_a_front_of_three_objectives_and_its_volume() -> None:
    scenario = DMA.replace({f"system.{role}.power": "100 W" for role in ("memory_node", "compute_node", "gpu")})
    found = search(scenario, SMALL, objectives="time,energy,memory.memory_node", explain=False)
    values = np.array([list(plan.objectives.values()) for plan in found.pareto])
    for row, others in ((row, np.delete(values, at, axis=0)) for at, row in enumerate(values)):
        assert not np.any(np.all(others <= row, axis=1))
    assert found.hypervolume is not None
    reference = np.array(found.hypervolume["reference"])
    generator = np.random.default_rng(0)
    low = values.min(axis=0)
    drawn = generator.uniform(low, reference, (200_000, 3))
    share = np.zeros(len(drawn), dtype=bool)
    for row in values:
        share |= np.all(drawn >= row, axis=1)
    assert found.hypervolume["value"] == pytest.approx(share.mean() * np.prod(reference - low), rel=0.02)


def test_an_expression_is_minimized() -> None:
    found = search(DMA, SMALL, objectives="time * (1 + max(plan.devices, 2))", explain=False)
    assert found.best is not None
    devices = max(found.best.parameters["plan.devices"], 2.0)
    value = pm.predict(found.best.scenario).time_s * (1 + devices)
    assert next(iter(found.best.objectives.values())) == pytest.approx(value, rel=1e-12)
    assert found.gap == 0.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"objectives": ["tiem"]}, "nearest valid choice: time"),
        ({"objectives": ["time,time"]}, "must name each result once"),
        ({"objectives": ["phases.transfr"]}, "nearest valid choice: phases.transfer"),
        ({"objectives": ["__import__('os')"]}, "must be made of results"),
        ({"objectives": ["3"]}, "must name a result"),
        ({"objectives": []}, "must name a result"),
        ({"objectives": ["cost"]}, "needs system."),
        ({"objectives": ["accuracy"]}, ""),
        ({"constraints": ["time"]}, "must compare a result with a value"),
        ({"constraints": ["time <= 5 GB"]}, "must be in s"),
        ({"constraints": ["time <= 5 ms", "time >= 6 ms"]}, "must be possible together"),
        ({"constraints": ["tmie <= 5 ms"]}, "nearest valid choice: time"),
        ({"space": {"plan.transfer.chnk": [1]}}, "nearest valid choice: chunk"),
        ({"space": {"plan.transfer.chunk": {"low": 9, "high": 3}}}, "empty range"),
        ({"space": "/no/such/space.toml"}, "no such file"),
        ({"space": 5}, "must be a TOML file or a mapping"),
        ({"method": "annealing"}, "auto, optuna, exhaustive"),
        ({"method": "exhaustive", "space": {"plan.transfer.chunk": {"low": 5e3, "high": 3e5}}}, "optuna"),
        ({"method": "exhaustive", "storage": "x.journal"}, "keeps trials of a study"),
        ({"sampler": "tep", "method": "optuna"}, "nearest valid choice: tpe"),
        ({"trials": 0}, "from 1 to"),
        ({"trials": 2.5}, "must be a whole number"),
        ({"seed": -1}, "from 0 to"),
        ({"timeout": 0}, "above 0"),
        ({"robust": 1.5}, "between 0 and 1"),
        ({"study": "mine"}, "needs a storage"),
        ({"storage": "ftp://host/x"}, "a file or the URL of a database"),
        ({"storage": ""}, "a file or the URL of a database"),
        ({"storage": "/no/such/folder/x.journal"}, "a directory that exists"),
    ],
)
def test_a_wrong_question_is_a_sentence(arguments: dict[str, Any], says: str) -> None:
    given = {"space": {"plan.workers": [0, 1]}, **arguments}
    with pytest.raises(SpecError) as error:
        search(DMA if arguments.get("objectives") != ["accuracy"] else DPU,
               given.pop("space") if arguments.get("objectives") != ["accuracy"] else ROUTING,
               **{key: value for key, value in given.items() if key != "space"})  # fmt: skip
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_timeout_gives_the_best_so_far() -> None:
    many = {**SMALL, "plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "count": 100000, "scale": "log"}}
    start = time.monotonic()
    found = search(DMA, many, method="exhaustive", timeout=1.0)
    assert time.monotonic() - start < 6
    assert found.ended == "timeout"
    assert found.best is not None
    assert found.proof.kind == "none"
    assert found.gap is None
    assert found.size is not None
    assert 0 < found.evaluated < found.size
    assert pm.predict(found.best.scenario).time_s == pytest.approx(found.best.objectives["time"], rel=1e-12)


@pytest.mark.parametrize("method", ["exhaustive", "optuna"])
def test_ctrl_c_gives_the_best_so_far(method: str) -> None:
    many = {**SMALL, "plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "count": 100000, "scale": "log"}}
    pressed = []

    def watch(progress: run_module.Progress) -> None:
        if progress.done > 30 and progress.best is not None and not pressed:
            pressed.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    found = search(DMA, many, method=method, trials=5000, progress=watch)
    assert pressed
    assert found.best is not None
    assert found.ended in ("interrupted", "stopped")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_twice_ends_at_once() -> None:
    def pressed_twice() -> None:
        with Clock().listening():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        pressed_twice()


def test_outside_of_the_main_thread_ctrl_c_is_left_alone() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(search(DMA, {"plan.workers": [0, 1]}, explain=False)))
    thread.start()
    thread.join(60)
    assert found[0].best is not None


@pytest.mark.parametrize("scenario", [DMA, DPU])
def test_a_bound_holds_where_not_all_plans_can_be_listed(scenario: pm.Scenario) -> None:
    """The bound is below every plan of a fine grid, and close to the best one."""
    sizes = ("plan.transfer.chunk", "4 KiB", "1 MiB") if scenario is DMA else ("plan.buffer_size", "1 KiB", "1 MiB")
    base = dict(SMALL if scenario is DMA else ROUTING)
    found = search(scenario, {**base, sizes[0]: {"low": sizes[1], "high": sizes[2], "scale": "log"}}, trials=200)
    fine = search(
        scenario, {**base, sizes[0]: {"low": sizes[1], "high": sizes[2], "count": 400, "scale": "log"}}, explain=False
    )
    assert found.size is None
    assert found.proof.kind == "bound"
    assert found.best is not None
    assert fine.best is not None
    assert found.proof.value is not None
    assert found.proof.value <= fine.best.objectives["time"]
    assert found.gap is not None
    assert 0 <= found.gap < 0.02


def test_a_robust_choice_is_the_best_at_its_quantile() -> None:
    space = {key: SMALL[key] for key in ("plan.placement.sampling", "plan.fetch", "plan.overlap", "plan.workers")}
    found = search(DMA, space, robust=0.9, explain=False)
    expected = search(DMA, space, explain=False)
    assert found.best is not None
    assert expected.best is not None
    assert found.robust is not None
    assert found.robust.expected is not None
    assert found.best.objectives["time"] > pm.predict(found.best.scenario).time_s
    assert found.robust.differs == (found.best.parameters != expected.best.parameters)
    assert found.robust.expected.parameters == expected.best.parameters
    assert found.robust.expected.objectives["time"] >= found.best.objectives["time"]


def test_against_is_explained_phase_by_phase() -> None:
    other = DMA.replace({"plan.precision.features": "fp16", "plan.transfer.window": 4})
    found = search(DMA, SMALL, against=other)
    by_name = {one["with"]: one for one in found.explanation["comparisons"]}
    assert set(by_name) == {"runner-up", "no offload", "the plan at hand", "against"} or "no offload" not in by_name
    one = by_name["against"]
    assert one["time_s"] == pm.predict(other).time_s
    assert found.best is not None
    assert one["speedup"] == pytest.approx(one["time_s"] / found.best.objectives["time"])
    assert one["changed"]["plan.transfer.window"]["other"] == 4
    theirs = {phase.name: phase.time_s for phase in pm.predict(other).phases}
    assert {phase["name"]: phase["other_s"] for phase in one["phases"] if phase["other_s"]} == {
        name: value for name, value in theirs.items() if value
    }


def test_what_relaxing_a_limit_brings_is_what_it_says() -> None:
    found = search(DMA, SMALL)
    (one, *_) = found.explanation["binding"]
    assert one["need"] > one["limit"]
    relaxed = DMA.replace(one["parameters"])
    assert pm.predict(relaxed).time_s == pytest.approx(one["value"])
    assert found.best is not None
    assert one["gain"] == pytest.approx(1 - one["value"] / found.best.objectives["time"])


def test_importance_is_sobol_s_first_order_index() -> None:
    """Against shares of variance worked out from the whole table of plans."""
    space = {"plan.workers": [0, 1, 4], "plan.transfer.window": [1, 4, 16], "plan.overlap": ["sum", "pipelined"]}
    found = search(DMA, space, explain=False)
    times = {}
    for row in ((w, v, o) for w in [0, 1, 4] for v in [1, 4, 16] for o in ["sum", "pipelined"]):
        times[row] = math.log(pm.predict(DMA.replace(dict(zip(space, row, strict=True)))).time_s)
    everything = np.array(list(times.values()))
    for at, key in enumerate(space):
        levels = {row[at] for row in times}
        means = [np.mean([value for row, value in times.items() if row[at] == level]) for level in levels]
        assert found.importance[key] == pytest.approx(np.var(means) / np.var(everything), abs=1e-9)


def test_the_winning_plan_is_a_file_that_predict_takes(tmp_path: pathlib.Path) -> None:
    for scenario, space in ((DMA, SMALL), (DPU, ROUTING)):
        best = search(scenario, space, explain=False).best
        assert best is not None
        path = tmp_path / "plan.toml"
        path.write_text(plan_text(best))
        again = pm.load_scenario(scenario.workload.name, scenario.system.name, plan=str(path))
        assert pm.predict(again).time_s == best.objectives["time"]


@pytest.mark.parametrize(
    ("workload", "system"),
    [
        ("cora", "lgnnic-local"),
        ("sssp", "buddy-x86"),
        ("quicksilver", "buddy-none"),
        ("dgnn-amazon", "mdgnn-m-dgnn"),
    ],
)
def test_default_spaces_have_a_feasible_best(workload: str, system: str) -> None:
    found = search(pm.load_scenario(workload, system), explain=False)
    assert found.best is not None
    assert found.gap == 0.0
    assert found.best.objectives["time"] <= pm.predict(pm.load_scenario(workload, system)).time_s


def test_a_space_of_dynamic_training_names_devices_links_and_frames() -> None:
    """The best epoch is that of all predictions; a drive that cannot train by itself is no choice."""
    scenario = pm.load_scenario("dgnn-reddit", "mdgnn-m-dgnn")
    space = {
        "system.storage": ["mdgnn-csd"],
        "system.link": ["pcie-gen6-x4", "pcie-gen3-x4"],
        "system.uplink": ["pcie-gen6-x16", "pcie-gen3-x16"],
        "plan.pool.policy": ["none", "pinned"],
        "plan.frame_length": [4, 8],
        "plan.batch": [64, 128, 256],
        "plan.frames": [4, 16],
        "plan.devices": [2, 4],
    }
    found = search(scenario, space, "epoch_time", explain=False)
    columns = list(zip(*itertools.product(*space.values()), strict=True))
    table = pm.evaluate(scenario, {key: list(column) for key, column in zip(space, columns, strict=True)})
    assert found.best is not None
    assert found.best.objectives["epoch_time"] == pytest.approx(np.min(table["epoch_time_s"]), rel=1e-12)
    assert found.feasible == found.evaluated == len(table)
    assert found.best.parameters["system.link"] == "pcie-gen6-x4"
    with pytest.raises(SpecError, match="needs a device with array"):
        search(scenario, {**space, "system.storage": ["mdgnn-csd", "mdgnn-ssd"]})


def test_the_default_space_of_processes_on_cores() -> None:
    scenario = pm.load_scenario("dgnn-flickr", "this-machine-snapshots")
    parameters = search_family(scenario).space().parameters
    assert max(parameters["plan.devices"].values or ()) <= scenario.plan.frame_length
    assert {"plan.exchange", "plan.processes.policy", "plan.processes.cache"} <= set(parameters)
    assert all(value_at(scenario, key) is not None for key in parameters)
