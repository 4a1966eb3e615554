"""Laws that hold whatever the numbers: of whole predictions, over plans, devices and graphs drawn at random."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import perfmodel as pm
from perfmodel.spec.scenario import Scenario

WORKLOADS = ("reddit", "ogbn-products", "ogbn-mag")
SYSTEMS = ("lgnnic-doca-dma", "lgnnic-sockets")
SOURCES = {"*": "assumed: for this test"}

settings.register_profile(
    "laws", deadline=None, derandomize=True
)  # the first example builds what later ones find in a cache
settings.load_profile("laws")

plans = st.fixed_dictionaries(
    {
        "plan.placement.sampling": st.sampled_from(["memory-node", "compute-node"]),
        "plan.placement.quantization": st.sampled_from(["memory-node", "compute-node"]),
        "plan.precision.features": st.sampled_from(["fp32", "fp16", "bf16", "fp8", "int8", "int4"]),
        "plan.precision.index": st.sampled_from(["int32", "int64"]),
        "plan.fetch": st.sampled_from(["neighborhood", "frontier"]),
        "plan.overlap": st.sampled_from(["sum", "pipelined", "overlap"]),
        "plan.transfer.chunk": st.floats(4096, 2**20),
        "plan.transfer.window": st.integers(1, 64).map(float),
        "plan.workers": st.integers(0, 16).map(float),
        "plan.devices": st.integers(1, 4).map(float),
        "workload.sampling.fanout": st.sampled_from(["25,10", "10,10", "-1", "5"]),
    }
)
links = st.fixed_dictionaries(
    {
        "system.link.latency": st.floats(0, 1e-3),
        "system.link.time_per_acknowledgement": st.floats(0, 2e-3),
        "system.link.time_per_chunk": st.floats(0, 1e-4),
        "system.link.header": st.floats(0, 4096),
    }
)


@functools.cache
def catalog(workload: str, system: str) -> Scenario:
    return pm.load_scenario(workload, system)


def scenario(workload: str, system: str, changes: Mapping[str, Any]) -> Scenario:
    return catalog(workload, system).replace(changes)


def times(of: Scenario, key: str, values: list[float], column: str = "time_s") -> np.ndarray:
    return pm.evaluate(of, {key: values})[column]


def never_rises(found: np.ndarray) -> bool:
    return bool(np.all(np.diff(found) <= 1e-12 * np.abs(found[:-1]) + 1e-15))


RATES = (
    "system.link.bandwidth", "system.memory_node.copy_bandwidth", "system.compute_node.copy_bandwidth",
    "system.gpu_link.bandwidth", "system.memory_node.memory_bandwidth", "system.memory_node.sampling.gather_bandwidth",
    "system.gpu.memory_bandwidth", "system.gpu.peak_flops",
)  # fmt: skip


@settings(max_examples=40)
@given(
    st.sampled_from(WORKLOADS), plans, links, st.sampled_from(RATES),
    st.lists(st.floats(1e8, 1e14), min_size=2, max_size=6, unique=True),
)  # fmt: skip
def test_a_faster_part_is_never_slower(
    workload: str, plan: dict[str, Any], link: dict[str, Any], key: str, rates: list[float]
) -> None:
    assert never_rises(times(scenario(workload, "lgnnic-doca-dma", plan | link), key, sorted(rates)))


@settings(max_examples=30)
@given(
    st.sampled_from(WORKLOADS), plans, st.sampled_from(RATES), st.lists(st.floats(1e8, 1e14), min_size=2, max_size=6)
)
def test_a_faster_part_is_never_slower_with_stop_and_wait_sockets(
    workload: str, plan: dict[str, Any], key: str, rates: list[float]
) -> None:
    """With a window, the formula for a regrown buffer is an approximation, within a few percent of the protocol."""
    assert never_rises(
        times(scenario(workload, "lgnnic-sockets", plan | {"plan.transfer.window": 1.0}), key, sorted(rates))
    )


COSTS = (
    "sampling.time_per_choice", "sampling.time_per_choosing_call", "sampling.time_per_indexed_edge", "sampling.time_per_row",
    "sampling.time_per_missed_row", "sampling.time_per_missed_byte", "sampling.time_per_handover", "sampling.time_per_miss",
    "quantization.time_per_row", "quantization.time_per_row_back",
)  # fmt: skip


@settings(max_examples=60)
@given(
    st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS), plans, st.sampled_from(["memory_node", "compute_node"]),
    st.sampled_from(COSTS), st.lists(st.floats(0, 1e-6), min_size=2, max_size=6),
)  # fmt: skip
def test_a_cost_never_shortens(
    workload: str, system: str, plan: dict[str, Any], role: str, cost: str, values: list[float]
) -> None:
    found = times(scenario(workload, system, plan), f"system.{role}.{cost}", sorted(values, reverse=True))
    assert never_rises(found)


@settings(max_examples=30)
@given(
    st.sampled_from(WORKLOADS), plans, st.sampled_from(["memory_node", "compute_node"]), st.floats(1e-9, 1e-6),
    st.booleans(),
)  # fmt: skip
def test_choosing_costs_where_something_is_sampled(
    workload: str, plan: dict[str, Any], role: str, cost: float, replace: bool
) -> None:
    """It lengthens the node that draws, unless memory is its bottleneck, and no other."""
    plan |= {"plan.overlap": "sum", "workload.sampling.replace": replace}
    of = scenario(workload, "lgnnic-doca-dma", plan | {f"system.{role}.memory_bandwidth": 1e18})
    free, chosen = times(of, f"system.{role}.sampling.time_per_choice", [0.0, cost])
    draws = of.plan.placement.sampling.replace("-", "_") == role
    assert (chosen > free) == (draws and -1 not in of.workload.sampling.fanout)


@settings(max_examples=50)
@given(
    st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS), plans, st.sampled_from(["memory_node", "compute_node"]),
    st.floats(0, 1e-6), st.floats(0, 1e-6), st.floats(0, 1e-8),
    st.lists(st.floats(0, 1e11), min_size=2, max_size=6),
)  # fmt: skip
def test_a_larger_cache_never_lengthens(
    workload: str,
    system: str,
    plan: dict[str, Any],
    role: str,
    node: float,
    row: float,
    byte: float,
    caches: list[float],
) -> None:
    costs = {"time_per_miss": node, "time_per_missed_row": row, "time_per_missed_byte": byte}
    missing = {f"system.{role}.sampling.{name}": value for name, value in costs.items()}
    assert never_rises(times(scenario(workload, system, plan | missing), f"system.{role}.cache", sorted(caches)))


@settings(max_examples=40)
@given(st.sampled_from(WORKLOADS), plans, links)
def test_a_larger_window_is_never_slower(workload: str, plan: dict[str, Any], link: dict[str, Any]) -> None:
    windows = [1.0, 2, 3, 4, 7, 8, 16, 33, 64, 1000, 1e6]
    found = times(scenario(workload, "lgnnic-doca-dma", plan | link), "plan.transfer.window", windows)
    assert never_rises(found)


@settings(max_examples=40)
@given(st.sampled_from(WORKLOADS), plans, links)
def test_a_larger_window_never_costs_more_than_the_bound_of_the_approximation(
    workload: str, plan: dict[str, Any], link: dict[str, Any]
) -> None:
    windows = [1.0, 2, 3, 4, 7, 8, 16, 33, 64, 1000, 1e6]
    found = times(scenario(workload, "lgnnic-sockets", plan | link), "plan.transfer.window", windows, "phases.transfer")
    assert np.all(found[1:] <= found[:-1] * 1.05 + 1e-15)
    assert found[-1] <= found[0]


@given(st.floats(8, 4096), st.floats(10, 2000), st.sampled_from(["fp32", "fp16"]))
@settings(max_examples=20)
def test_lower_precision_never_sends_more(dimension: float, batch: float, stored: str) -> None:
    base = small(feature_dimension=dimension, batch=batch, feature_precision=stored)
    order = ["fp32", "fp16", "bf16", "int8", "fp8", "int4"]
    sent = pm.evaluate(base, {"plan.precision.features": order})["bytes.total"]
    assert never_rises(sent)
    assert sent[1] == sent[2]
    assert sent[3] == sent[4]
    narrow, wide = pm.evaluate(base, {"plan.precision.index": ["int32", "int64"]})["bytes.total"]
    assert narrow < wide


def test_a_scale_for_each_row_costs_more_than_it_saves_on_tiny_rows() -> None:
    """One feature: 4 bytes as stored, 5 as int8 with its scale. The law above has this limit."""
    estimate = pm.predict(small(feature_dimension=1, batch=100).replace({"plan.precision.features": "int8"}))
    assert estimate.bytes["features"] == pytest.approx(5 * estimate.nodes)


def small(nodes: float = 1e6, mean: float = 20.0, **changes: Any) -> Scenario:
    """Return a scenario on a graph of one kind of nodes."""
    slots = {"neighbors": {"cv": changes.pop("cv", 1.5), "largest": changes.pop("largest", 5000.0)}}
    relation = {"source": "n", "name": "e", "target": "n", "source_slot": "neighbors", "target_slot": "neighbors"}
    graph = {
        "name": "g",
        "node_types": {
            "n": {"nodes": nodes, "feature_dimension": changes.pop("feature_dimension", 64), "degrees": slots}
        },
        "relations": [{**relation, "edges": nodes * mean}],
        "feature_precision": changes.pop("feature_precision", "fp32"),
        "sources": SOURCES,
    }
    workload = {
        "name": "w",
        "graph": graph,
        "sampling": {
            "batch": changes.pop("batch", 512),
            "fanout": changes.pop("fanout", [10, 5]),
            "seeds": {"node_type": "n", "nodes": max(nodes / 10, 1000)},
        },
        "sources": SOURCES,
        **changes,
    }
    return pm.load_scenario(workload, "lgnnic-doca-dma")


@pytest.mark.parametrize("system", SYSTEMS)
def test_zero_bytes_cost_no_transfer(system: str) -> None:
    """No features, no labels, no edges: nothing is sent, not even a packet; a sent byte costs at least its fixed times."""
    slots = {"neighbors": {"cv": 0.0}}
    relation = {"source": "n", "name": "e", "target": "n", "source_slot": "neighbors", "target_slot": "neighbors"}
    workload: dict[str, Any] = {
        "name": "w",
        "graph": {
            "name": "g",
            "node_types": {"n": {"nodes": 1e4, "degrees": slots}},
            "relations": [{**relation, "edges": 0}],
        },
        "sampling": {"batch": 100, "fanout": [5], "seeds": {"node_type": "n", "nodes": 1000}},
        "label_width": 0,
    }
    nothing = pm.load_scenario(workload, system)
    assert pm.predict(nothing).bytes["total"] == 0
    assert pm.evaluate(nothing, {})["phases.transfer"][0] == 0
    fixed = {"system.link.time_per_packet": 0.5, "system.link.time_per_acknowledgement": 0.25}
    assert pm.evaluate(nothing.replace(fixed | {"workload.label_width": 1}), {})["phases.transfer"][0] > 0.75


@settings(max_examples=15)
@given(st.floats(5, 40), st.floats(0.5, 2.5), st.sampled_from([[10, 5], [15, 10], [5, 5, 5], [25]]))
def test_twice_the_graph_at_the_same_degrees_leaves_the_mini_batch(mean: float, cv: float, fanout: list[int]) -> None:
    """Only collisions, rarer in the larger graph, tell the two apart."""
    sizes = [pm.predict(small(nodes=nodes, mean=mean, cv=cv, fanout=fanout, batch=256)) for nodes in (5e7, 1e8)]
    assert sizes[1].edges == pytest.approx(sizes[0].edges, rel=0.01)
    assert sizes[0].nodes * 0.999 <= sizes[1].nodes <= sizes[0].nodes * 1.03


@settings(max_examples=30)
@given(st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS), plans)
def test_policies_are_ordered(workload: str, system: str, plan: dict[str, Any]) -> None:
    policies = ["sum", "pipelined", "overlap"]
    del plan["plan.overlap"]
    table = pm.evaluate(scenario(workload, system, plan), {"plan.overlap": policies})
    one_after_the_other, pipelined, overlapped = table["time_s"]
    phases = [name for name in table.columns if name.startswith("phases.")]
    assert one_after_the_other == pytest.approx(sum(table[name][0] for name in phases))
    assert pipelined <= overlapped * (1 + 1e-12)
    assert overlapped <= one_after_the_other * (1 + 1e-12)
    assert pipelined >= max(table[name][1] for name in phases) * (1 - 1e-12)


@settings(max_examples=25)
@given(st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS), plans)
def test_tensors_add_up(workload: str, system: str, plan: dict[str, Any]) -> None:
    """Without labels the transfer takes less by what a tensor of the labels' size takes by itself."""
    labeled = scenario(workload, system, plan)
    batch = labeled.workload.sampling.batch
    whole, rest = (
        pm.evaluate(labeled.replace({"workload.label_width": width}), {})["phases.transfer"][0] for width in (8, 0)
    )
    alone = small_tensor(system, plan, 8 * batch)
    assert whole - rest == pytest.approx(alone, rel=1e-6, abs=1e-12 * whole)


def small_tensor(system: str, plan: Mapping[str, Any], size: float) -> float:
    """Return the transfer of a mini-batch whose only tensor is its labels."""
    slots = {"neighbors": {"cv": 0.0}}
    relation = {"source": "n", "name": "e", "target": "n", "source_slot": "neighbors", "target_slot": "neighbors"}
    workload: dict[str, Any] = {
        "name": "w",
        "graph": {
            "name": "g",
            "node_types": {"n": {"nodes": 1e6, "degrees": slots}},
            "relations": [{**relation, "edges": 0}],
        },
        "sampling": {"batch": size / 8, "fanout": [5], "seeds": {"node_type": "n", "nodes": 1e5}},
    }
    kept = {key: value for key, value in plan.items() if key.startswith("plan.")}
    return float(pm.evaluate(pm.load_scenario(workload, system, changes=kept), {})["phases.transfer"][0])


@pytest.mark.parametrize("seed", range(4))
def test_arrays_give_what_plans_give_one_by_one(seed: int) -> None:
    """Numbers and names in shuffled rows: what changes the structure of the model, and what only changes a value."""
    rng = np.random.default_rng(seed)
    count = 40
    columns: dict[str, Any] = {
        "plan.placement.sampling": rng.choice(["memory-node", "host"], count),
        "plan.precision.features": rng.choice(["fp32", "fp16", "int8", "int4"], count),
        "workload.sampling.fanout": rng.choice(["25,10", "10,10", "-1"], count),
        "plan.overlap": rng.choice(["sum", "pipelined", "overlap"], count),
        "plan.transfer.chunk": rng.uniform(1e4, 1e6, count),
        "plan.transfer.window": rng.integers(1, 9, count),
        "system.link.bandwidth": 10 ** rng.uniform(8, 11, count),
        "plan.workers": rng.integers(0, 9, count),
        "system.memory_node.memory": ["16 GiB"],
    }
    columns["system.memory_node.memory"] = np.array(16 * 2.0**30)
    base = catalog(WORKLOADS[seed % 3], SYSTEMS[seed % 2])
    table = pm.evaluate(base, columns)
    assert len(table) == count
    order = rng.permutation(count)
    shuffled = pm.evaluate(base, {key: value[order] if value.ndim else value for key, value in columns.items()})
    for name in table.columns:
        np.testing.assert_array_equal(shuffled[name], table[name][order])
    for row in range(count):
        changes = {key: value[row].item() if value.ndim else value.item() for key, value in columns.items()}
        alone = pm.predict(base.replace(changes))
        assert table["time_s"][row] == pytest.approx(alone.time_s, rel=1e-12)
        assert table["epoch_time_s"][row] == pytest.approx(alone.epoch_time_s, rel=1e-12)
        assert table["bytes.total"][row] == pytest.approx(alone.bytes["total"], rel=1e-12)
        assert bool(table["feasible"][row]) is alone.feasible
        for phase in alone.phases:
            assert table[f"phases.{phase.name}"][row] == pytest.approx(phase.time_s, rel=1e-12)


@pytest.mark.parametrize(("workload", "system"), list(itertools.product(WORKLOADS, SYSTEMS)))
def test_one_row_and_none(workload: str, system: str) -> None:
    base = catalog(workload, system)
    estimate = pm.predict(base)
    for columns in ({}, {"plan.transfer.chunk": [base.plan.transfer.chunk]}, {"plan.precision.features": ["fp32"]}):
        table = pm.evaluate(base, columns)
        assert table["time_s"].shape == (1,)
        assert table["time_s"][0] == pytest.approx(estimate.time_s, rel=1e-12)


@pytest.mark.parametrize(("workload", "system"), list(itertools.product(WORKLOADS, SYSTEMS)))
def test_the_same_input_gives_the_same_output(workload: str, system: str) -> None:
    first, again = (pm.predict(pm.load_scenario(workload, system)).to_dict() for _ in range(2))
    assert first == again


@settings(max_examples=15)
@given(st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS), plans)
def test_the_interval_contains_the_point(workload: str, system: str, plan: dict[str, Any]) -> None:
    estimate = pm.predict(scenario(workload, system, plan))
    low, high = estimate.interval_s
    assert 0 < low <= estimate.time_s <= high


def profile(scale: float, residual: float) -> dict[str, Any]:
    """Return a fit of two constants of the SmartNIC that are known within a factor."""
    fitted = [("time_per_node", 2e-6, "s/node"), ("time_per_edge", 2e-7, "s/edge")]
    return {
        "name": "fit",
        "parameters": [
            {
                "entry": "devices/nic", "fields": [f"sampling.{name}"], "value": value, "unit": unit,
                "interval": [value / 2, value * 2], "bounds": [0.0, 1.0], "meaning": "for this test",
            }
            for name, value, unit in fitted
        ],
        "covariance": [[scale, scale / 2], [scale / 2, scale]],
        "residual": {"transfer": residual, "rest": residual},
    }  # fmt: skip


@given(st.floats(0.01, 0.1), st.floats(2, 10))
@settings(max_examples=10)
def test_the_interval_widens_with_the_covariance_and_the_scatter(scale: float, more: float) -> None:
    def width(scale: float, residual: float) -> float:
        low, high = pm.predict(pm.load_scenario(plain(), uncalibrated(), profile=profile(scale, residual))).interval_s
        assume(low > 0)
        return float(np.log(high / low))

    assert width(scale * more, 0.05) > width(scale, 0.05)
    assert width(0.001, 0.05 * more) > width(0.001, 0.05)


def uncalibrated() -> dict[str, Any]:
    """Return a system that no profile of the catalog touches, and whose time goes into sampling."""
    device = {"kind": "cpu", "memory": "64 GiB", "memory_bandwidth": "25 GB/s", "cores": 8}
    device["quantization"] = {"time_per_element": 1e-9, "time_per_element_back": 1e-9}
    return {
        "name": "s",
        "memory_node": {**device, "name": "nic"},
        "compute_node": {**device, "name": "host"},
        "gpu": {**device, "name": "gpu", "peak_flops": 1e16, "memory_bandwidth": "1 PB/s"},
        "link": {"name": "wire", "bandwidth": 1e13},
        "gpu_link": {"name": "bus", "bandwidth": 1e13},
    }


def plain() -> dict[str, Any]:
    """Return Reddit's workload without what a profile has fitted of it."""
    dumped = catalog("reddit", "lgnnic-doca-dma").workload.model_dump()
    dumped["profile"] = dumped["graph"]["profile"] = None
    return dict(dumped)
