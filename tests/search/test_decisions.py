"""The decisions of the papers, as searches find them: what is offloaded where it pays, and not where it doesn't."""

from __future__ import annotations

from typing import Any

import pytest

import perfmodel as pm
from perfmodel.model.bound import bind
from perfmodel.model.break_even import break_even_chapter
from perfmodel.model.knee import knee, knee_chapter
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
#: What M-DGNN decides near the data: how states travel, what the host keeps, and whether rows are fetched ahead.
DGNN: dict[str, Any] = {
    "plan.exchange": ["host-bounced", "peer-to-peer"],
    "plan.pool.policy": ["none", "pinned", "lru"],
    "plan.double_buffering": {"values": [True, False], "when": {"plan.pool.policy": ["pinned", "lru"]}},
}
DATASETS = ("amazon", "flickr", "movielens", "ogbn", "ppi", "reddit", "youtube")
RATES = ("time_per_node", "time_per_miss", "time_per_edge", "time_per_fresh_edge")


def best(scenario: pm.Scenario, space: dict[str, Any], objective: str = "time") -> dict[str, Any]:
    found = search(scenario, space, objective, explain=False)
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


@pytest.mark.parametrize("layers", [4, 32])
@pytest.mark.parametrize("dataset", DATASETS)
def test_m_dgnn_hands_states_from_peer_to_peer_and_pools_on_the_host(dataset: str, layers: int) -> None:
    """From M-Base's plan the search goes where the paper went, and finds what the paper's own system takes."""
    base = pm.load_scenario(f"dgnn-{dataset}", "mdgnn-m-base", changes={"plan.frame_length": layers})
    chosen = best(base, DGNN)
    assert (chosen["plan.exchange"], chosen["plan.pool.policy"]) == ("peer-to-peer", "pinned")
    own = pm.load_scenario(f"dgnn-{dataset}", "mdgnn-m-dgnn", changes={"plan.frame_length": layers})
    assert pm.predict(base.replace(chosen)).time_s == pytest.approx(pm.predict(own).time_s)


def test_peers_lose_to_the_host_where_their_engine_is_slower_than_its_software() -> None:
    """The search flips at the message time where both ways take as long: two predictions and a line say where."""
    scenario = pm.load_scenario("dgnn-reddit", "mdgnn-m-dgnn", changes={"plan.frame_length": 32})
    key = "system.storage.peer.time_per_message"
    bounced = pm.predict(scenario.replace({"plan.exchange": "host-bounced"})).time_s
    ends = [(time, pm.predict(scenario.replace({key: time})).time_s) for time in (1e-4, 2e-4)]
    slope = (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0])
    even = ends[0][0] + (bounced - ends[0][1]) / slope
    assert even > scenario.system.storage.peer.time_per_message
    for time, exchange in ((0.95 * even, "peer-to-peer"), (1.05 * even, "host-bounced")):
        assert best(scenario.replace({key: time}), DGNN)["plan.exchange"] == exchange


@pytest.mark.parametrize("system", ["m-base", "m-p2p", "m-dgnn"])
@pytest.mark.parametrize("dataset", DATASETS)
def test_devices_stop_to_pay_where_the_closed_form_says(dataset: str, system: str) -> None:
    """A price of 5 % for every device stops the search at the knee; with many frames in flight counts make no steps."""
    scenario = pm.load_scenario(f"dgnn-{dataset}", f"mdgnn-{system}", changes={"plan.frames": 128})
    space = {"plan.devices": {"low": 1, "high": 64, "step": 1}}
    chosen = best(scenario, space, "time * 1.05 ** plan.devices")
    chapter = knee_chapter(bind(scenario))
    assert chapter is not None
    assert chosen["plan.devices"] == pytest.approx(chapter["devices"], abs=1)


@pytest.mark.parametrize(("dataset", "system"), [("amazon", "m-base"), ("reddit", "m-dgnn"), ("youtube", "m-p2p")])
def test_a_search_says_where_devices_stop_to_pay(dataset: str, system: str) -> None:
    scenario = pm.load_scenario(f"dgnn-{dataset}", f"mdgnn-{system}", changes={"plan.frames": 128})
    space = {**DGNN, "plan.devices": [1, 2, 4, 8]}
    found = search(scenario, space).explanation["scaling"]
    whole = {**DGNN, "plan.devices": {"low": 1, "high": 64, "step": 1}}
    chosen = best(scenario, whole, "time * 1.05 ** plan.devices")
    assert found["devices"] == chosen["plan.devices"]
    there = scenario.replace(chosen)
    assert found["closed_form"] == knee(bind(there))
    assert found["devices"] == pytest.approx(found["closed_form"], abs=1.5)
    by_count = {one["devices"]: one["value"] for one in found["times"]}
    assert by_count[found["devices"]] == pm.predict(there).time_s
