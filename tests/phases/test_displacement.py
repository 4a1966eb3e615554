"""What a mini-batch displaces of the caches: hand numbers, laws, and the time that displaces what makes it take that time."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

import perfmodel as pm
from calibration.pipeline.configuration import Configuration, SyntheticGraph
from perfmodel.model.book import explain
from perfmodel.model.book_latex import book_latex
from perfmodel.model.book_text import book_text
from perfmodel.model.bound import Bound, bind
from perfmodel.model.branches import Point
from perfmodel.model.compile import compiled
from perfmodel.model.elasticities import elasticities
from perfmodel.model.tracing import trace
from perfmodel.phases._displaced import displaced, kept
from perfmodel.spec.scenario import Scenario

Value = Callable[..., float]
MS, US, NS, MB = 1e-3, 1e-6, 1e-9, 1e6

#: As long as it takes to displace a half; twice that displaces three quarters.
HALF = math.log(2) * 10 * MS
AFTER_HALF = {"batch_time": HALF, "displacement_time": 10 * MS}
AT_RECEIVER = {"batch_time": HALF, "receiver_displacement_time": 10 * MS}

SAMPLING = {
    "time_per_batch": 3 * MS, "sampling_restart_time": 2 * MS, "time_per_call": 0, "relation_hops": 0,
    "time_per_choosing_call": 0, "choosing_hops": 0, "time_per_expanded_node": 0, "expanded_nodes": 0, "drawing_time": 0,
    "renaming_time": 0, "gather_time": 0, "gathered_bytes": 0, "memory_bandwidth": 1e11, "workers": 0, "cores": 8,
    "serial_share": 0, "contention": 0, "handover_time": 0, "devices": 1, **AFTER_HALF,
}  # fmt: skip
GATHERING = {
    "table_rows": 1000, "table_row_bytes": 1 * MB, "table_bytes": 4 * MB, "gather_bandwidth": 1e9, "cache": 2 * MB,
    "time_per_row": 1 * US, "time_per_missed_row": 4 * US, "time_per_missed_byte": 2 * NS, **AFTER_HALF,
}  # fmt: skip
RENAMING = {
    "sampled_nodes": 1000, "all_nodes": 10_000, "time_per_node": 1 * US, "time_per_miss": 2 * US, "cache": 40e3,
    "array_entry": 8, "array_nodes": 1e6, "hash_slot": 80, **AFTER_HALF,
}  # fmt: skip
QUANTIZATION = {
    "gathered_elements": 1e6, "gathered_rows": 1000, "gathered_bytes": 4 * MB, "quantize_time": 1 * NS,
    "quantize_row_time": 1 * US, "quantize_displaced_byte_time": 1 * NS, "quantize_call_time": 0.5 * MS,
    "quantize_restart_time": 3 * MS, "is_quantized": 1, "devices": 2, **AFTER_HALF,
}  # fmt: skip
DEQUANTIZATION = {
    "gathered_elements": 1e6, "gathered_rows": 1000, "gathered_bytes": 4 * MB, "dequantize_time": 1 * NS,
    "dequantize_row_time": 2 * US, "dequantize_displaced_byte_time": 1 * NS, "dequantize_call_time": 0.5 * MS,
    "dequantize_restart_time": 3 * MS, "is_quantized": 1, **AFTER_HALF,
}  # fmt: skip
AGGREGATION = {
    "tensor_bytes": 10 * MB, "receiver_copy_bandwidth": 1e10, "fault_time": 0.5 * NS, "receiver_heap_limit": 16 * MB,
    "link_displaced_byte_time": 0.4 * NS, **AT_RECEIVER,
}  # fmt: skip
SENDING = {"transfer_time": 20 * MS, "link_restart_time": 0.1 * MS, **AT_RECEIVER}
ON_CORE = {
    "product_flop": 1e9, "peak_flops": 1e11, "compute_efficiency": 1, "passed_elements": 0, "time_per_passed_element": 0,
    "read_elements": 1e6, "written_elements": 1e6, "time_per_read_element": 0, "time_per_written_element": 0,
    "activation_width": 4, "outer_cache": 2 * MB, "training_missed_byte_time": 1 * NS, "training_layers": 3,
    "time_per_layer": 2 * MS, "training_restart_time": 1 * MS, **AFTER_HALF,
}  # fmt: skip
INDEXING = {
    "batch_edges": 1e6, "time_per_indexed_edge": 5 * NS, "batch_nodes": 1e5, "time_per_indexed_node": 10 * NS,
    "time_per_indexing": 1 * MS, "indexing_restart_time": 2 * MS, **AFTER_HALF,
}  # fmt: skip

CASES: dict[str, tuple[str, dict[str, float], float]] = {
    # half of a restart of 2 ms on top of 3 ms
    "a sampler that starts half anew": ("sampling", SAMPLING, 4 * MS),
    "two workers start anew side by side": ("sampling", SAMPLING | {"workers": 2}, 2 * MS),
    "a sampler three quarters anew": ("sampling", SAMPLING | {"batch_time": 2 * HALF}, 4.5 * MS),
    # the cache holds half the table, and half of that is gone: 750 of 1000 rows come from memory
    "rows of a half displaced cache": ("gathering", GATHERING, (1 + 1 + 3 + 1.5) * MS),
    "a table within a half displaced cache": ("gathering", GATHERING | {"cache": 400 * MB}, (1 + 1 + 2 + 1) * MS),
    "no cache, nothing to displace": ("gathering", GATHERING | {"cache": 0}, (1 + 1 + 4 + 2) * MS),
    # an array of 80 kB of which 40 kB are cached, half of them displaced: 750 of 1000 nodes miss
    "an array half displaced": ("renaming", RENAMING, (1 + 1.5) * MS),
    "an array three quarters displaced": ("renaming", RENAMING | {"batch_time": 2 * HALF}, (1 + 1.75) * MS),
    # a hash map of 1000 slots of 80 B, the same 80 kB
    "a hash map half displaced": ("renaming", RENAMING | {"all_nodes": 1e8}, (1 + 1.5) * MS),
    "a small hash map half displaced": ("renaming", RENAMING | {"all_nodes": 1e8, "cache": 1 * MB}, (1 + 1) * MS),
    # each of two nodes 0.5 ms of elements, 0.5 ms of rows, 1 ms for its part of the 2 MB that are gone; then 0.5 + 3/2
    "rounding after a half displaced cache": ("quantization", QUANTIZATION, (0.5 + 0.5 + 1 + 0.5 + 1.5) * MS),
    "nothing is rounded": ("quantization", QUANTIZATION | {"is_quantized": 0}, 0),
    "widening after a half displaced cache": ("dequantization", DEQUANTIZATION, (1 + 2 + 2 + 0.5 + 1.5) * MS),
    "nothing is widened": ("dequantization", DEQUANTIZATION | {"is_quantized": 0}, 0),
    # 10 MB copied at 10 GB/s, and 5 MB of the buffer come from memory at 0.4 ns a byte
    "a kept buffer half displaced": ("aggregation_preallocated", AGGREGATION, (1 + 2) * MS),
    "a fresh buffer": ("aggregation_preallocated", AGGREGATION | {"receiver_heap_limit": 8 * MB}, (1 + 2 + 5) * MS),
    "tensors and half a restart": ("sending", SENDING, 20.05 * MS),
    # of 8 MB of activations 1 MB is still in the cache; three layers, each with half a restart; 10 ms of products
    "activations of a half displaced cache": ("training_on_core", ON_CORE, (10 + 7 + 3 * 2.5) * MS),
    "activations within a half displaced cache": (
        "training_on_core", ON_CORE | {"outer_cache": 16 * MB}, (10 + 4 + 3 * 2.5) * MS,
    ),
    "neighbor lists and half a restart": ("indexing", INDEXING, (1 + 1 + 5 + 1) * MS),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case: str, value: Value) -> None:
    phase, arguments, expected = CASES[case]
    assert value(phase, **arguments) == pytest.approx(expected, rel=1e-12, abs=1e-18)


DISPLACED = sorted(name for name, phase in compiled().items() if "batch_time" in phase.arguments)


def test_every_displaced_phase_has_a_hand_number() -> None:
    """Drawing is not among them: what it appends to is written anew."""
    assert {phase for phase, _, _ in CASES.values()} == set(DISPLACED)
    assert "drawing" not in DISPLACED


@pytest.mark.parametrize(
    ("times", "share"),
    [(0, 0), (math.log(2), 0.5), (math.log(4), 0.75), (math.log(10), 0.9), (1e-15, 1e-15), (1000, 1)],
)
def test_share_that_is_displaced(times: float, share: float) -> None:
    point = Point({"batch_time": times * 10 * MS, "displacement_time": 10 * MS})
    assert float(point.value(displaced())) == pytest.approx(share, rel=1e-12)
    assert float(point.value(kept())) == pytest.approx(1 - share, rel=1e-12, abs=1e-300)


def _arguments(phase: str, seed: int) -> dict[str, float]:
    """Draw numbers of a phase's arguments, over three orders of magnitude each."""
    draw = random.Random(f"{phase} {seed}")
    return {name: 10 ** draw.uniform(-1, 2) for name in compiled()[phase].arguments}


def _value(phase: str, numbers: dict[str, float]) -> float:
    return float(np.ravel(compiled()[phase].function(*[numbers[name] for name in compiled()[phase].arguments]))[0])


@pytest.mark.parametrize("phase", DISPLACED)
@given(seed=st.integers(0, 10**6), shorter=st.floats(0, 5), longer=st.floats(0, 5))
def test_more_displacement_is_never_cheaper(phase: str, seed: int, shorter: float, longer: float) -> None:
    """A longer mini-batch, or neighbors that displace faster, never make a phase cheaper."""
    numbers = _arguments(phase, seed)
    tau = next(name for name in numbers if name.endswith("displacement_time"))
    shorter, longer = sorted((shorter, longer))
    once, later = (_value(phase, numbers | {tau: 1.0, "batch_time": time}) for time in (shorter, longer))
    assert later >= once * (1 - 1e-12)
    if shorter > 1e-9:
        slow = _value(phase, numbers | {tau: 1.0, "batch_time": shorter})
        fast = _value(phase, numbers | {tau: shorter / longer, "batch_time": shorter})
        assert fast >= slow * (1 - 1e-12)


@pytest.mark.parametrize("phase", DISPLACED)
def test_displacement_reaches_from_all_kept_to_all_gone(phase: str) -> None:
    """Half displaced lies half way between caches that keep everything and caches that keep nothing."""
    for seed in range(30):
        numbers = _arguments(phase, seed) | {"workers": 1.0, "gathered_bytes": 1e-9}  # no floor below
        tau = next(name for name in numbers if name.endswith("displacement_time"))
        numbers[tau] = 10 * MS
        none, half, all_of_it = (_value(phase, numbers | {"batch_time": time}) for time in (0.0, HALF, 100.0))
        assert half == pytest.approx((none + all_of_it) / 2, rel=1e-12)
        assert all_of_it > none


# the time that displaces what makes it take that time

GRAPH = SyntheticGraph(3000, 9.0, 1.0, seed=5)
CONFIGURATIONS = {
    "small": Configuration(GRAPH, batch=32, fanout=(5,), dimension=16),
    "int8": Configuration(GRAPH, batch=256, fanout=(10, 5), precision="int8", mechanism="tcp", window=2),
    "wide": Configuration(GRAPH, batch=512, fanout=(6, 5, 4), dimension=300, hidden=48),
    "frontier": Configuration(GRAPH, batch=32, fanout=(8, 4), placement="compute-node", precision="bf16"),
    "workers": Configuration(GRAPH, batch=128, fanout=(10, 5), workers=2, dimension=100),
}
ROLES = ("memory_node", "compute_node", "gpu")
each_configuration = pytest.mark.parametrize("name", CONFIGURATIONS)


def _bound(name: str) -> Bound:
    return bind(CONFIGURATIONS[name].scenario())


def _scaled(bound: Bound, factor: float) -> dict[str, float]:
    """Return displacement times that are some share of the profile's."""
    keys = [f"system.{role}.displacement_time" for role in ROLES]
    return {key: factor * bound.values[key] for key in keys}


def _at(bound: Bound, changed: dict[str, Any], batch_time: float) -> float:
    """Return the model's time where as much is displaced as a mini-batch of a given time displaces."""
    still = copy.copy(bound)
    still.displaces = False
    return float(still.run({**changed, "batch.time": batch_time}).time)


def _fixed_point(bound: Bound, changed: dict[str, Any]) -> float:
    most = _at(bound, changed, 1e6)
    return float(brentq(lambda time: _at(bound, changed, time) - time, 0.0, 2 * most, xtol=1e-15, rtol=1e-13))


@each_configuration
@pytest.mark.parametrize(("factor", "tolerance"), [(10, 1e-6), (1, 1e-5), (0.3, 3e-4), (0.1, 1e-3), (0.03, 1e-2)])
def test_settled_time_is_the_fixed_point(name: str, factor: float, tolerance: float) -> None:
    """The profile's displacement time is 41 ms; a tenth of it is shorter than any that was measured."""
    bound = _bound(name)
    changed = _scaled(bound, factor)
    fixed = _fixed_point(bound, changed)
    assert float(bound.run(changed).time) == pytest.approx(fixed, rel=tolerance)
    assert _at(bound, changed, 0.0) < fixed < _at(bound, changed, math.inf)


def test_displacement_matters_here() -> None:
    bound = _bound("wide")
    assert float(bound.run({}).time) > 1.05 * _at(bound, {}, 0.0)


@each_configuration
def test_plans_in_arrays_settle_like_single_ones(name: str) -> None:
    scenario = CONFIGURATIONS[name].scenario()
    chunks = np.array([3e4, 1e5, 3e5, 1e6])
    times = np.array([1e-3, 1e-2, 1e-1, 1.0])
    columns = {"plan.transfer.chunk": chunks, **{f"system.{role}.displacement_time": times for role in ROLES}}
    table = pm.evaluate(scenario, columns)
    for row in range(4):
        single = pm.evaluate(scenario, {key: column[row : row + 1] for key, column in columns.items()})
        changed = scenario.replace({key: float(column[row]) for key, column in columns.items()})
        for column in ("time_s", *(key for key in table.columns if key.startswith("phases."))):
            assert table[column][row] == pytest.approx(float(single[column][0]), rel=1e-13)
        assert table["time_s"][row] == pytest.approx(pm.predict(changed).time_s, rel=1e-13)


@each_configuration
def test_caches_that_are_displaced_faster_never_make_a_mini_batch_faster(name: str) -> None:
    scenario = CONFIGURATIONS[name].scenario()
    times = np.geomspace(1e-4, 10.0, 200)
    found = pm.evaluate(scenario, {f"system.{role}.displacement_time": times for role in ROLES})["time_s"]
    assert (np.diff(found) <= 1e-3 * found[1:]).all()  # each is settled within a thousandth
    assert found[0] > found[-1]


# the book


def _settled(scenario: Scenario) -> float:
    bound = Bound(scenario)
    return _fixed_point(bound, {})


@each_configuration
def test_elasticities_hold_what_a_longer_mini_batch_displaces(name: str) -> None:
    """Against differences of the fixed point, found apart; the feedback is in them."""
    scenario = CONFIGURATIONS[name].scenario()
    bound = bind(scenario)
    found = {each.key: each for each in elasticities(scenario, trace(bound)) if each.method == "derivative"}
    keys = [
        "system.memory_node.displacement_time", "system.gpu.displacement_time", "system.compute_node.displacement_time",
        "system.memory_node.sampling.restart_time", "system.gpu.training.restart_time", "system.gpu.training.time_per_layer",
        "system.link.restart_time", "system.gpu.peak_flops", "system.memory_node.sampling.gather_bandwidth",
    ]  # fmt: skip
    for key in keys:
        step = 1e-4
        low, high = (_settled(scenario.replace({key: bound.values[key] * math.exp(end)})) for end in (-step, step))
        expected = math.log(high / low) / (2 * step)
        assert found[key].elasticity == pytest.approx(expected, abs=2e-5, rel=1e-3), key


def test_feedback_lifts_elasticities() -> None:
    """What does not depend on the caches is felt more than its share of the time: it makes others' caches colder."""
    scenario = CONFIGURATIONS["small"].scenario()
    traced = trace(bind(scenario))
    key = "system.gpu.training.time_per_layer"
    found = next(each for each in elasticities(scenario, traced) if each.key == key)
    layers = len(CONFIGURATIONS["small"].fanout)
    own_share = layers * found.value / traced.outcome.time.value
    assert found.elasticity > 1.005 * own_share


@each_configuration
def test_book_shows_each_call_once_with_the_settled_time(name: str) -> None:
    scenario = CONFIGURATIONS[name].scenario()
    book, bound = explain(scenario), bind(scenario)
    calls = {step.step.name: step.calls for step in bound.steps}
    time = pm.predict(scenario).time_s
    shown = 0
    for step in book["steps"]:
        entries = [*step["uses"], step]
        assert sum(entry["others"] + 1 for entry in entries) == len(calls[step["name"]])
        for entry in entries:
            assert len({item["name"] for item in entry["items"]}) == len(entry["items"])
            if "batch_time" in entry["arguments"]:
                assert entry["arguments"]["batch_time"]["value"] == pytest.approx(time, rel=1e-3)
            for part in entry["definitions"]:
                if part["name"] in ("displaced_share", "kept_share"):
                    tau = next(v["value"] for k, v in entry["arguments"].items() if k.endswith("displacement_time"))
                    left = math.exp(-time / tau)
                    expected = left if part["name"] == "kept_share" else 1 - left
                    assert part["value"] == pytest.approx(expected, rel=1e-3)
                    assert "exp(-batch_time / " in part["formula"]
                    shown += 1
    assert shown >= 4


def test_documents_say_how_displacement_is_counted() -> None:
    book = explain(CONFIGURATIONS["int8"].scenario())
    text, document = book_text(book), book_latex(book)
    assert "displaced_share = 1 - exp(-batch_time / displacement_time)" in text
    for words in (text, document):
        assert "expm1" not in words
        assert "displaces more" in " ".join(words.split())
