"""Switch points against sweeps on either side of them: what wins below loses above."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from perfmodel.search.run import search

LGNNIC: dict[str, Any] = {
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.placement.quantization": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.precision.features": ["fp32", "fp16"],
    "plan.overlap": ["sum", "pipelined"],
    "plan.transfer.window": [1, 4, 16],
    "plan.transfer.chunk": {"low": "16 KiB", "high": "1 MiB", "factor": 4},
}
PLACED = {key: value for key, value in LGNNIC.items() if "quantization" not in key and "precision" not in key}
BUDDY: dict[str, Any] = {
    "plan.placement.routing": ["application", "agent"],
    "plan.threads": {"values": [1, 4, 16], "when": {"plan.placement.routing": "agent"}},
    "plan.buffer_size": {"low": "1 KiB", "high": "256 KiB", "factor": 4},
    "plan.outstanding": [16, 128],
}
DGNN: dict[str, Any] = {
    "plan.exchange": ["host-bounced", "peer-to-peer"],
    "plan.pool.policy": ["none", "pinned"],
    "plan.double_buffering": {"values": [True, False], "when": {"plan.pool.policy": "pinned"}},
    "plan.frames": [4, 16],
}
PLACING = ("plan.placement.", "plan.exchange", "plan.pool.policy")


def placement(found: pm.SearchResult, keys: tuple[str, ...]) -> str:
    assert found.best is not None
    return ", ".join(
        f"{key.removeprefix('plan.').removeprefix('placement.')} {found.best.parameters[key]}" for key in keys
    )


@pytest.mark.parametrize(
    ("workload", "system", "space"),
    [
        ("ogbn-products", "lgnnic-doca-dma", PLACED),
        pytest.param("ogbn-products", "lgnnic-doca-dma", LGNNIC, marks=pytest.mark.slow),
        ("histogram", "buddy-dpu", BUDDY),
        ("triangle-counting", "buddy-dpu", BUDDY),
        ("dgnn-reddit", "mdgnn-m-dgnn", DGNN),
    ],
)
def test_sweeps_on_both_sides_of_a_switch_choose_as_it_says(workload: str, system: str, space: dict[str, Any]) -> None:
    scenario = pm.load_scenario(workload, system)
    points = [
        one for one in search(scenario, space).explanation["switch_points"] if one["key"] != "workload.graph.nodes"
    ]
    assert points
    keys = tuple(key for key in space if key.startswith(PLACING))
    for one in points:
        near = 0.03 if one["key"] == "workload.sampling.batch" else 1e-4
        for side, factor in (("below", 1 - near), ("above", 1 + near)):
            whole = float(one["value"]).is_integer() and one["key"] == "plan.devices"
            value = one["value"] - (side == "below") if whole else one["value"] * factor
            there = scenario.replace({one["key"]: value})
            found = search(there, space, explain=False)
            assert found.best is not None
            assert placement(found, keys) == one[side]
            own = pm.predict(there.replace(one["plans"][side])).time_s
            assert own == pytest.approx(found.best.objectives["time"], rel=1e-9)


def test_a_regime_map_is_what_sweeps_find_in_its_places() -> None:
    scenario = pm.load_scenario("histogram", "buddy-dpu")
    found = search(scenario, BUDDY).explanation["regime_map"]
    x, y = found["x"], found["y"]
    assert len(found["placements"]) == 2
    generator = np.random.default_rng(3)
    for _ in range(12):
        column, row = int(generator.integers(len(x["values"]))), int(generator.integers(len(y["values"])))
        changes = {x["key"]: x["values"][column], y["key"]: y["values"][row]}
        there = search(scenario.replace(changes), BUDDY, explain=False)
        placing = there.best.parameters["plan.placement.routing"]  # type: ignore[union-attr]
        assert found["placements"][found["best"][row][column]] == f"routing {placing}"


def test_without_a_choice_of_placement_there_is_none() -> None:
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    explanation = search(scenario, {"plan.transfer.window": [1, 2, 4]}).explanation
    assert explanation["switch_points"] == []
    assert explanation["regime_map"] is None


def test_a_number_that_never_tips_the_choice_is_named() -> None:
    scenario = pm.load_scenario("reddit", "lgnnic-sockets")
    steady = {one["key"]: one for one in search(scenario, PLACED).explanation["steady"]}
    one = steady["system.link.bandwidth"]
    assert one["low"] < one["now"] < one["high"]
    for value in (one["low"], one["high"]):
        there = search(scenario.replace({"system.link.bandwidth": value}), PLACED, explain=False)
        assert placement(there, ("plan.placement.sampling",)) == one["placement"]
