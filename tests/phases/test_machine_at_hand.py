"""A small machine with every rate, and graphs so plain that all counts are known: phases of whole plans by hand.

A million million nodes with ten neighbors each: 100 seeds draw 5 each, and those 3 each, and nothing is found twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from perfmodel.errors import MissingCalibration
from perfmodel.model.book import explain
from perfmodel.model.bound import bind
from perfmodel.model.gnn_work import Layer, OnCore, work_on_core

SEEDS, FIRST, SECOND = 100.0, 500.0, 1500.0
ROWS, EDGES, EXPANDED = SEEDS + FIRST + SECOND, FIRST + SECOND, SEEDS + FIRST
WIDTH = 100.0
NODES = 1e12
NS, US, MS = 1e-9, 1e-6, 1e-3

SAMPLING = {
    "time_per_batch": 1 * MS, "time_per_call": 100 * US, "time_per_choosing_call": 30 * US, "time_per_expanded_node": 200 * NS,
    "time_per_edge": 50 * NS, "time_per_choice": 70 * NS, "time_per_node": 90 * NS, "time_per_indexed_edge": 4 * NS,
    "gather_bandwidth": 1e10, "time_per_row": 20 * NS, "time_per_missed_row": 110 * NS, "time_per_missed_byte": 0.3 * NS,
    "time_per_handover": 2 * MS,
}  # fmt: skip
TRAINING = {
    "time_per_passed_element": 0.4 * NS, "time_per_read_element": 1 * NS, "time_per_written_element": 2 * NS,
    "time_per_layer": 3 * MS,
}  # fmt: skip
QUANTIZATION = {
    "time_per_element": 0.5 * NS, "time_per_element_back": 0.25 * NS, "time_per_row": 60 * NS, "time_per_row_back": 40 * NS,
    "int8": {"time_per_element": 0.8 * NS, "time_per_row_back": 10 * NS},
}  # fmt: skip
CORE = {
    "name": "core", "kind": "cpu", "memory": 1e18, "memory_bandwidth": 1e12, "cores": 4, "cache": 2e6, "peak_flops": 1e11,
    "compute_efficiency": 0.5, "sampling": SAMPLING, "training": TRAINING, "quantization": QUANTIZATION,
}  # fmt: skip
SYSTEM = {
    "name": "at hand", "memory_node": CORE, "compute_node": CORE, "gpu": CORE, "link": {"name": "pipe", "bandwidth": 1e9}
}  # fmt: skip
#: What 600 lists, 2100 rows of 400 B out of a table far beyond the cache, and the nodes and calls cost on one core [s].
LISTS = 1 * MS + 2 * 100 * US + EXPANDED * 200 * NS
ROWS_GATHERED = ROWS * (20 + 110) * NS + ROWS * 4 * WIDTH * (0.1 + 0.3) * NS


def graph(edges: float = 10 * NODES) -> dict[str, Any]:
    """Return a directed graph where all nodes have the same degree."""
    slots = {"in": {"cv": 0.0}, "out": {"cv": 0.0}}
    relation = {"source": "n", "name": "e", "target": "n", "source_slot": "out", "target_slot": "in", "edges": edges}
    return {
        "name": "regular",
        "node_types": {"n": {"nodes": NODES, "feature_dimension": WIDTH, "degrees": slots}},
        "relations": [relation],
    }


WORKLOAD: dict[str, Any] = {
    "name": "w",
    "graph": graph(),
    "sampling": {"batch": SEEDS, "fanout": [5, 3], "seeds": {"node_type": "n", "nodes": 1e6}},
    "model": {"kind": "sage", "hidden": 16, "classes": 4, "trimmed": True},
}


def scenario(
    system: dict[str, Any] | None = None, workload: dict[str, Any] | None = None, **changes: Any
) -> pm.Scenario:
    """Load the scenario with changes at dotted keys, written with double underscores."""
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    return pm.load_scenario(workload or WORKLOAD, system or SYSTEM, changes=dotted)


def times(of: pm.Scenario) -> dict[str, float]:
    return {phase.name: phase.time_s for phase in pm.predict(of).phases}


def test_counts_are_those_of_a_tree() -> None:
    batch = bind(scenario()).family.batches["batch"]
    assert (batch.nodes, batch.edges, batch.expanded) == pytest.approx((ROWS, EDGES, EXPANDED), rel=1e-6)
    assert batch.rows == pytest.approx(ROWS, rel=1e-6)
    assert (batch.relation_hops, batch.choosing_hops) == (2.0, 2.0)
    assert batch.relations[0].chosen == pytest.approx(EDGES, rel=1e-6)


def test_every_term_of_sampling() -> None:
    by_hand = LISTS + 2 * 30 * US + EDGES * (50 + 70) * NS + ROWS * 90 * NS + ROWS_GATHERED
    assert times(scenario())["sampling"] == pytest.approx(by_hand, rel=1e-6)


def test_lists_no_longer_than_the_fanout_are_kept_and_cost_no_choice() -> None:
    """Ten neighbors and a fanout of ten: a call of the choosing kind that has nothing to choose."""
    edges, rows, expanded = 1000 + 10_000, 100 + 1000 + 10_000, 100 + 1000
    by_hand = 1.2 * MS + expanded * 200 * NS + edges * 50 * NS + rows * (90 + 20 + 110) * NS + rows * 400 * 0.4 * NS
    for fanout, calls in (("10,10", 2), ("11,10", 2), ("-1,-1", 0), ("10,-1", 1)):
        found = times(scenario(workload__sampling__fanout=fanout))["sampling"]
        assert found == pytest.approx(by_hand + calls * 30 * US, rel=1e-6), fanout
    one_chosen = times(scenario(workload__sampling__fanout="10,9"))["sampling"]
    edges, rows = 1000 + 9000, 100 + 1000 + 9000
    by_hand = 1.26 * MS + expanded * 200 * NS + edges * 50 * NS + 9000 * 70 * NS + rows * 220 * NS + rows * 160 * NS
    assert one_chosen == pytest.approx(by_hand, rel=1e-6)


def test_with_replacement_every_edge_is_chosen() -> None:
    of = scenario(workload__sampling__fanout="20", workload__sampling__replace=True)
    (relation,) = bind(of).family.batches["batch"].relations
    assert (relation.edges, relation.chosen) == pytest.approx((2000, 2000))


@pytest.mark.parametrize(
    ("workers", "speedup", "handed_over"), [(0, 1, 0), (1, 1, 2 * MS), (2, 2, 2 * MS), (8, 4, 2 * MS)]
)
def test_a_worker_hands_every_mini_batch_over(workers: int, speedup: int, handed_over: float) -> None:
    alone = times(scenario())["sampling"]
    assert times(scenario(plan__workers=workers))["sampling"] == pytest.approx(alone / speedup + handed_over)


def test_memory_is_no_bottleneck_while_workers_hand_over() -> None:
    """A floor of 1 ms: more than four perfect workers take, less than they take with handing over."""
    of = scenario(plan__workers=4, system__memory_node__memory_bandwidth=ROWS * 400 * 2 / MS)
    one_core = times(scenario())["sampling"]
    assert one_core / 4 < MS < one_core / 4 + 2 * MS
    (step,) = (step for step in explain(of)["steps"] if step["name"] == "sampling")
    (regime,) = step["regimes"]
    assert "memory bandwidth" in regime["meaning"]
    assert not regime["holds"]
    assert step["value"] == pytest.approx(one_core / 4 + 2 * MS, rel=1e-6)


def test_rows_within_the_cache_and_beyond_it() -> None:
    """2,000 papers of 400 B fill 0.8 of a cache of 1 MB; 5,000 authors of 800 B leave a quarter in it."""
    slots = {"in": {"cv": 0.0}, "out": {"cv": 0.0}}
    typed = WORKLOAD | {
        "graph": {
            "name": "two tables",
            "node_types": {
                "paper": {"nodes": 2000, "feature_dimension": 100, "degrees": slots},
                "author": {"nodes": 5000, "feature_dimension": 200, "degrees": slots},
            },
            "relations": [
                {"source": "author", "name": "writes", "target": "paper", "source_slot": "out", "target_slot": "in",
                 "edges": 20_000},
            ],
        },
        "sampling": {"batch": SEEDS, "fanout": [-1], "seeds": {"node_type": "paper", "nodes": 2000}},
    }  # fmt: skip
    of = scenario(workload=typed, system__memory_node__cache="1 MB")
    authors, papers = sorted(bind(of).family.batches["batch"].tables, key=lambda table: table.name)
    assert (papers.rows, papers.table, authors.table) == (SEEDS, 8e5, 4e6)
    assert authors.gathered == pytest.approx(authors.rows * 800)
    assert 900 < authors.rows < 1000
    gathered = SEEDS * 20 * NS + SEEDS * 40 * NS
    gathered += authors.rows * (20 * NS + 80 * NS + 0.75 * (110 * NS + 800 * 0.3 * NS))
    rest = 1 * MS + 100 * US + SEEDS * 200 * NS + 1000 * 50 * NS + (SEEDS + authors.rows) * 90 * NS
    assert times(of)["sampling"] == pytest.approx(rest + gathered, rel=1e-9)


@pytest.mark.parametrize(
    ("precision", "early", "element", "row", "element_back", "row_back"),
    [
        ("fp32", True, 0, 0, 0, 0),
        ("fp16", True, 0.5, 60, 0.25, 40),
        ("int8", True, 0.8, 60, 0.25, 10),
        ("int4", True, 0.5, 60, 0.25, 40),
        ("int8", False, 0.8, 60, 0, 0),
    ],
)
def test_a_precision_takes_its_own_numbers_and_the_general_ones_where_it_has_none(
    precision: str, early: bool, element: float, row: float, element_back: float, row_back: float
) -> None:
    role = "memory-node" if early else "compute-node"
    found = times(scenario(plan__precision__features=precision, plan__placement__quantization=role))
    assert found["quantization"] == pytest.approx(ROWS * (WIDTH * element + row) * NS, rel=1e-6)
    assert found.get("dequantization", 0.0) == pytest.approx(ROWS * (WIDTH * element_back + row_back) * NS, rel=1e-6)


def test_a_number_of_one_precision_is_set_by_its_key() -> None:
    changes = {"system__memory_node__quantization__fp16__time_per_row": 1 * US}
    found = times(scenario(plan__precision__features="fp16", **changes))
    assert found["quantization"] == pytest.approx(ROWS * (WIDTH * 0.5 * NS + 1 * US), rel=1e-6)
    assert times(scenario(plan__precision__features="bf16", **changes))["quantization"] < found["quantization"]


def test_rates_of_a_precision_that_is_not_sent_do_not_help() -> None:
    core = CORE | {"quantization": {"int8": {"time_per_element": 1e-9, "time_per_element_back": 1e-9}}}
    system = SYSTEM | {"memory_node": core, "compute_node": core}
    assert times(scenario(system, plan__precision__features="int8"))["quantization"] > 0
    with pytest.raises(MissingCalibration, match=r"quantization\.time_per_element"):
        times(scenario(system, plan__precision__features="int4"))


def test_a_machine_that_trains_on_its_own_core_copies_nothing() -> None:
    own, joined = times(scenario()), times(scenario(SYSTEM | {"gpu_link": {"name": "bus", "bandwidth": 1e9}}))
    assert list(own) == ["sampling", "quantization", "transfer", "dequantization", "training"]
    assert joined == own | {"gpu_copy": pytest.approx((ROWS * 400 + EDGES * 16 + SEEDS * 8) / 1e9, rel=1e-6)}


def test_training_on_a_core() -> None:
    """SAGE from 100 over 16 to 4 features; the second layer needs the first hop alone."""
    flop = 2 * (2 * ROWS * 100 * 16) * 2 + 3 * (2 * EXPANDED * 16 * 4) * 2
    passed = EDGES * 100 + 2 * FIRST * 16
    read, written = ROWS * 100 + EXPANDED * 16, ROWS * 16 + EXPANDED * 4
    assert (flop, passed, read, written) == (27_340_800, 216_000, 219_600, 36_000)
    by_hand = flop / 0.5e11 + passed * 0.4 * NS + read * 1 * NS + written * 2 * NS + 2 * 3 * MS
    assert times(scenario())["training"] == pytest.approx(by_hand, rel=1e-6)


def test_a_gpu_trains_by_its_roofline_and_needs_no_rates_of_a_core() -> None:
    gpu = {"name": "gpu", "kind": "gpu", "memory": 1e18, "memory_bandwidth": 1e12, "peak_flops": 1e13}
    gpu["launch_time"] = 1 * MS
    assert times(scenario(SYSTEM | {"gpu": gpu, "gpu_link": "pcie-gen4-x16-pinned"}))["training"] == pytest.approx(
        (12 * 2 + 20) * MS, rel=0.01
    )


def test_two_layers_on_a_core_with_a_product_for_the_node_itself() -> None:
    stack = [Layer(10.0, 20.0, 4.0, 3.0), Layer(5.0, 8.0, 3.0, 2.0)]
    assert work_on_core(stack, 2.0) == OnCore(960.0 + 360.0, 80.0 + 48.0, 40.0 + 15.0, 30.0 + 10.0, 2.0)


def test_whole_neighborhoods_that_arrive_are_indexed() -> None:
    """Ten of ten neighbors twice: 1,000 and 10,000 edges arrive, of which the compute node draws 2,000."""
    found = times(scenario(plan__placement__sampling="compute-node"))
    assert list(found) == [
        "neighborhood_lookup", "quantization", "transfer", "dequantization", "indexing", "sampling", "training"
    ]  # fmt: skip
    assert found["indexing"] == pytest.approx(11_000 * 4 * NS, rel=1e-6)
    assert found["sampling"] == pytest.approx(times(scenario())["sampling"], rel=1e-6)
    assert "indexing" not in times(scenario(plan__placement__sampling="compute-node", plan__fetch="frontier"))
    assert "indexing" not in times(scenario())


def test_a_frontier_fetches_lists_as_rows_of_their_own_table() -> None:
    """Beside the features, 600 lists of ten ids; nothing is drawn or renamed, nothing is chosen."""
    found = times(scenario(plan__placement__sampling="compute-node", plan__fetch="frontier"))
    lists = EXPANDED * (20 + 110) * NS + EXPANDED * 80 * 0.4 * NS
    assert found["frontier_lookup"] == pytest.approx(LISTS + ROWS_GATHERED + lists, rel=1e-6)


def test_a_frontier_fetches_lists_of_the_types_that_have_them() -> None:
    """100 papers have authors, and the authors found have institutions: no list is looked up at another type's nodes."""
    slots = {"in": {"cv": 0.0}, "out": {"cv": 0.0}}
    ends = {"source_slot": "out", "target_slot": "in"}
    typed = WORKLOAD | {
        "graph": {
            "name": "chain",
            "node_types": {
                name: {"nodes": NODES, "feature_dimension": 1, "degrees": slots}
                for name in ("paper", "author", "institution")
            },
            "relations": [
                {"source": "author", "name": "writes", "target": "paper", "edges": 4 * NODES} | ends,
                {"source": "institution", "name": "employs", "target": "author", "edges": 2 * NODES} | ends,
            ],
        },
        "sampling": {"batch": SEEDS, "fanout": [-1, -1], "seeds": {"node_type": "paper", "nodes": 1e6}},
    }
    of = scenario(workload=typed, plan__placement__sampling="compute-node", plan__fetch="frontier")
    tables = {table.name: table for table in bind(of).family.batches["frontier"].tables}
    papers, authors = tables["lists author-writes-paper"], tables["lists institution-employs-author"]
    assert (papers.rows, papers.gathered, papers.table) == pytest.approx((100, 400 * 8, 4e12 * 8), rel=1e-6)
    assert (authors.rows, authors.gathered, authors.table) == pytest.approx((400, 800 * 8, 2e12 * 8), rel=1e-6)


def test_a_system_without_a_link_to_its_gpu_can_be_changed() -> None:
    of = scenario()
    assert of.replace({}).system == of.system
    slower = of.replace({"system.gpu.training.time_per_layer": 5 * MS})
    assert times(slower)["training"] - times(of)["training"] == pytest.approx(2 * 2 * MS)
    table = pm.evaluate(of, {"system.memory_node.sampling.time_per_choice": np.array([0.0, 70 * NS, 140 * NS])})
    assert np.diff(table["phases.sampling"]) == pytest.approx([EDGES * 70 * NS] * 2, rel=1e-5)
