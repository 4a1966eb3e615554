"""The decisions of the papers, as searches find them: what is offloaded where it pays, and not where it doesn't."""

from __future__ import annotations

from typing import Any

import pytest

import perfmodel as pm
from perfmodel.model.bound import bind
from perfmodel.model.break_even import break_even_chapter
from perfmodel.search.run import search

PLACES = ["memory-node", "compute-node"]
#: What LGNNIC decides: where sampling and quantization run, and how features are sent.
LGNNIC: dict[str, Any] = {
    "plan.placement.sampling": PLACES,
    "plan.placement.quantization": PLACES,
    "plan.precision.features": ["fp32", "fp16"],
}
#: The same with a baseline that LGNNIC does not have: fetch the frontier's lists and the drawn rows only.
FRONTIER = {**LGNNIC, "plan.fetch": {"values": ["neighborhood", "frontier"],
                                    "when": {"plan.placement.sampling": "compute-node"}}}  # fmt: skip
RATES = ("time_per_node", "time_per_miss", "time_per_edge", "time_per_fresh_edge")


def best(scenario: pm.Scenario, space: dict[str, Any]) -> dict[str, Any]:
    found = search(scenario, space, explain=False)
    assert found.best is not None
    assert found.gap == 0.0
    return dict(found.best.parameters)


@pytest.mark.parametrize("system", ["lgnnic-doca-dma", "lgnnic-sockets"])
@pytest.mark.parametrize("workload", ["reddit", "ogbn-products", "ogbn-mag"])
def test_lgnnic_samples_and_rounds_on_the_smartnic(workload: str, system: str) -> None:
    """Against whole neighborhoods, LGNNIC's own baseline, offload wins everywhere, with features as fp16."""
    chosen = best(pm.load_scenario(workload, system), LGNNIC)
    assert chosen["plan.placement.sampling"] == "memory-node"
    assert chosen["plan.precision.features"] == "fp16"
    assert chosen["plan.placement.quantization"] == "memory-node"


def test_sampling_on_the_smartnic_does_not_pay_against_a_frontier_on_a_fast_link() -> None:
    """Shipping only what was asked for beats slow cores; on sockets the bytes cost more than the cores."""
    assert (
        best(pm.load_scenario("ogbn-products", "lgnnic-doca-dma"), FRONTIER)["plan.placement.sampling"]
        == "compute-node"
    )
    assert (
        best(pm.load_scenario("ogbn-products", "lgnnic-sockets"), FRONTIER)["plan.placement.sampling"] == "memory-node"
    )


def test_a_smartnic_that_samples_several_times_as_fast_wins_it_back() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    rates = {
        f"system.memory_node.sampling.{name}": getattr(scenario.system.memory_node.sampling, name) for name in RATES
    }
    faster = scenario.replace({key: rate / 20 for key, rate in rates.items()})
    assert best(faster, FRONTIER)["plan.placement.sampling"] == "memory-node"


def test_rounding_on_the_smartnic_pays_as_long_as_it_costs_less_than_it_saves() -> None:
    """The search flips where rounding takes as long as the bytes that it saves: parts of two predictions say where."""
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma", changes={"plan.overlap": "sum"})
    rounded = pm.predict(scenario.replace({"plan.precision.features": "fp16"}))
    plain = pm.predict(scenario.replace({"plan.precision.features": "fp32"}))
    cost = next(phase.time_s for phase in rounded.phases if phase.name == "quantization")
    factor = 1 + (plain.time_s - rounded.time_s) / cost
    assert factor > 1
    own = {
        key: value for key, value in bind(scenario).values.items() if key.startswith("system.memory_node.quantization")
    }
    assert own
    for slower, precision in ((0.95 * factor, "fp16"), (1.05 * factor, "fp32")):
        slow = scenario.replace({key: value * slower for key, value in own.items()})
        chosen = best(slow, {"plan.precision.features": ["fp32", "fp16"]})
        assert chosen["plan.precision.features"] == precision


@pytest.mark.parametrize("workload", ["histogram", "sssp", "quicksilver", "triangle-counting", "sparse-transpose"])
@pytest.mark.parametrize("system", ["buddy-dpu", "buddy-x86"])
def test_buddy_offloads_above_the_break_even_ratio_only(workload: str, system: str) -> None:
    """The search flips at the ratio that the model's own formula gives for this plan, from 5 % below to 5 % above."""
    scenario = pm.load_scenario(workload, system, changes={"plan.placement.routing": "application"})
    chapter = break_even_chapter(scenario)
    assert chapter is not None
    ratio = chapter["value"]
    assert ratio is not None
    space = {"plan.placement.routing": ["application", "agent"]}
    if ratio > 0:
        below = scenario.replace({"workload.memory_ratio": 0.95 * ratio})
        assert best(below, space)["plan.placement.routing"] == "application"
    above = scenario.replace({"workload.memory_ratio": max(1.05 * ratio, 0.01)})
    assert best(above, space)["plan.placement.routing"] == "agent"


def test_buddy_s_host_dominated_applications_offload_and_the_others_do_not() -> None:
    """By the paper's ratios: the agent is chosen for those above break-even, with default spaces."""
    chosen = {}
    for workload in ("histogram", "sssp", "quicksilver", "triangle-counting", "sparse-transpose"):
        scenario = pm.load_scenario(workload, "buddy-dpu")
        chosen[workload] = best(scenario, {"plan.placement.routing": ["application", "agent"]})[
            "plan.placement.routing"
        ]
        ratio = (
            pm.predict(scenario.replace({"plan.placement.routing": "application"})).time_s
            / pm.predict(scenario.replace({"plan.placement.routing": "agent"})).time_s
        )
        assert (chosen[workload] == "agent") == (ratio > 1)
    assert "agent" in chosen.values()
