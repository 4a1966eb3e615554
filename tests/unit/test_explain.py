"""The formula book held against answers of its own: the compiled model, differences of it, scans, hand numbers."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from typing import Any

import numpy as np
import pytest
import sympy

import perfmodel as pm
from perfmodel.cli.main import main
from perfmodel.model.book import explain
from perfmodel.model.book_latex import book_latex
from perfmodel.model.book_text import WIDTH, book_text
from perfmodel.model.bound import Bound, bind
from perfmodel.model.branches import Branch, Point, slopes
from perfmodel.model.compile import compiled
from perfmodel.model.elasticities import elasticities
from perfmodel.model.notation import Notation, text
from perfmodel.model.references import references
from perfmodel.model.tracing import Trace, trace
from perfmodel.phases._base import Phase, all_phases, symbols
from perfmodel.spec.scenario import Scenario
from perfmodel.units import parse

RATES = {
    f"system.{role}.{key}": value
    for role, speed in (("memory_node", 1.0), ("compute_node", 0.3))
    for key, value in {
        "sampling.time_per_edge": 0.25e-6 * speed,
        "sampling.time_per_node": 2e-6 * speed,
        "sampling.time_per_batch": 1e-3,
        "sampling.gather_bandwidth": 5e9,
        "quantization.time_per_element": 0.7e-9,
        "quantization.time_per_element_back": 0.1e-9,
    }.items()
}
LINK = {
    "system.link.bandwidth": 5e9,
    "system.link.latency": 2e-6,
    "system.link.header": 64.0,
    "system.link.time_per_chunk": 3e-6,
    "system.link.time_per_acknowledgement": 0.2e-3,
    "system.link.time_per_packet": 1e-3,
    "system.memory_node.copy_bandwidth": 8e9,
    "system.compute_node.copy_bandwidth": 1e10,
}
#: A machine with every rate, that trains on a core of its own and copies nothing to get there.
CORE = {
    "name": "core", "kind": "cpu", "memory": "64 GiB", "memory_bandwidth": "40 GB/s", "cores": 4, "cache": "8 MiB",
    "peak_flops": "100 GFLOPS", "compute_efficiency": 0.7,
    "sampling": {
        "time_per_call": 20e-6, "time_per_choosing_call": 30e-6, "time_per_expanded_node": 50e-9, "time_per_choice": 70e-9,
        "time_per_indexed_edge": 4e-9, "time_per_row": 20e-9, "time_per_missed_row": 110e-9, "time_per_missed_byte": 0.1e-9,
        "time_per_handover": 2e-3, "time_per_miss": 60e-9,
    },
    "quantization": {"time_per_row": 60e-9, "time_per_row_back": 40e-9, "int8": {"time_per_element": 0.9e-9}},
    "training": {
        "time_per_passed_element": 0.4e-9, "time_per_read_element": 1e-9, "time_per_written_element": 2e-9,
        "time_per_layer": 3e-3,
    },
}  # fmt: skip
AT_HAND: dict[str, Any] = {
    "name": "at-hand", "memory_node": CORE, "compute_node": CORE, "gpu": CORE,
    "link": {"name": "pipe", "bandwidth": "2 GB/s"},
}  # fmt: skip
#: Caches that a mini-batch displaces, and what bringing everything back takes.
DISPLACED = {
    f"system.{role}.{key}": value
    for role in ("memory_node", "compute_node", "gpu")
    for key, value in {
        "displacement_time": 40e-3, "sampling.restart_time": 1e-3, "quantization.restart_time": 0.1e-3,
        "quantization.restart_time_back": 0.1e-3, "quantization.time_per_displaced_byte": 20e-12,
        "quantization.time_per_displaced_byte_back": 50e-12, "training.restart_time": 0.3e-3,
        "training.time_per_missed_byte": 0.3e-9, "outer_cache": 16e6,
    }.items()
} | {"system.link.restart_time": 0.2e-3, "system.link.time_per_displaced_byte": 60e-12}  # fmt: skip
CASES: dict[str, tuple[str, str | dict[str, Any], str, dict[str, Any]]] = {
    "stop and wait": ("reddit", "lgnnic-doca-dma", "default", LINK),
    "window": ("reddit", "lgnnic-doca-dma", "fp16", LINK | {"plan.transfer.window": 3, "plan.overlap": "pipelined"}),
    "link bound": (
        "ogbn-mag", "lgnnic-doca-dma", "default",
        LINK | {"system.link.bandwidth": 2e8, "plan.transfer.window": 16, "plan.devices": 2, "plan.overlap": "overlap"},
    ),
    "regrown": ("reddit", "lgnnic-sockets", "default", LINK),
    "regrown window": ("ogbn-mag", "lgnnic-sockets", "fp16", LINK | {"plan.transfer.window": 5}),
    "baseline": ("ogbn-products", "lgnnic-doca-dma", "no-offload", LINK | {"plan.workers": 3, "plan.overlap": "overlap"}),
    "frontier": ("ogbn-mag", "lgnnic-doca-dma", "no-offload-frontier", LINK | {"plan.overlap": "pipelined"}),
    "at hand": ("ogbn-mag", AT_HAND, "default", LINK | {"plan.workers": 2, "plan.precision.features": "int8"}),
    "at hand, displaced": (
        "ogbn-mag", AT_HAND, "default", LINK | DISPLACED | {"workload.sampling.batch": 64, "plan.precision.features": "int8"},
    ),
    "at hand, no offload": ("reddit", AT_HAND, "no-offload", LINK | {"plan.precision.features": "int4"}),
    "at hand, frontier": ("ogbn-mag", AT_HAND, "no-offload-frontier", LINK | {"plan.overlap": "overlap"}),
    "local": ("reddit", "lgnnic-local", "default", {"plan.workers": 4, "system.compute_node.sampling.serial_share": 0.1}),
}  # fmt: skip


def scenario(case: str) -> Scenario:
    workload, system, plan, changes = CASES[case]
    loaded: Scenario = pm.load_scenario(workload, system, plan, changes=RATES | changes)
    return loaded


@pytest.fixture(scope="module")
def books() -> dict[str, dict[str, Any]]:
    return {case: explain(scenario(case)) for case in CASES}


#: Of flash and its queues, of rows: formulas hold for whole ones.
_COUNTS = {"channels", "packages", "dies", "planes", "queue_depth", "firmware_cores", "snapshot_nodes", "frame_length"}


def _numbers(phase: Phase, seed: int) -> dict[str, float]:
    """Draw numbers of the orders of magnitude that phases meet."""
    draw = random.Random(f"{phase.name} {seed}")
    return {name: _number(name, draw) for name in phase.arguments}


def _number(name: str, draw: random.Random) -> float:
    if "share" in name:
        return draw.uniform(0.01, 1.0)
    if re.match("(is|by|holds|sends|pools|planes_read)_", name):
        return float(draw.randint(0, 1))
    if name in ("skew", "flash_sharpness"):
        return draw.uniform(1.0, 3.0)
    if name in _COUNTS:
        return float(draw.randint(1, 100))
    return 10 ** draw.uniform(-1, 2)


# formulas


@pytest.mark.parametrize("name", all_phases())
def test_formulas_come_to_what_the_compiled_functions_give(name: str) -> None:
    phase = all_phases()[name]
    for seed in range(50):
        numbers = _numbers(phase, seed)
        expected = compiled()[name].function(*(np.array([numbers[each]]) for each in compiled()[name].arguments))
        assert Point(numbers).value(phase.expression) == pytest.approx(float(np.ravel(expected)[0]), rel=1e-9)


@pytest.mark.parametrize("name", all_phases())
def test_names_of_parts_stand_for_the_same_formula(name: str) -> None:
    phase = all_phases()[name]
    conditions = [condition.relation for condition in (*phase.regimes, *phase.valid_when)]
    written = Notation(phase).write([phase.expression, *conditions])
    for seed in range(50):
        numbers: dict[str, Any] = dict(_numbers(phase, seed))
        whole = Point(numbers)
        for part, formula in written.ordered:
            numbers[part] = Point(numbers).value(formula)
        for folded, expression in zip(written.expressions, [phase.expression, *conditions], strict=True):
            assert Point(numbers).value(folded) == pytest.approx(whole.value(expression), rel=1e-9, abs=1e-12)


#: Building its branches anew takes sympy minutes.
_LONG = pytest.param("visits_remembered", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [_LONG if name in _LONG.values else name for name in all_phases()])
def test_active_branch_is_the_formula_near_by(name: str) -> None:
    phase = all_phases()[name]
    for seed in range(20):
        numbers = _numbers(phase, seed)
        branch = Branch(numbers).of(phase.expression)
        assert not branch.has(sympy.Max, sympy.Min, sympy.Piecewise)
        assert Point(numbers).value(branch) == pytest.approx(Point(numbers).value(phase.expression), rel=1e-9)


def test_transfer_reads_as_its_author_wrote_it() -> None:
    phase = all_phases()["aggregation_regrown"]
    written = Notation(phase).write([phase.expression])
    assert text(written.expressions[0]) == (
        "tensor_bytes / receiver_copy_bandwidth + max(0, again_in_heap) / heap_bandwidth"
        " + (max(0, again) - max(0, again_in_heap)) / fresh_bandwidth"
    )
    assert {part.name: text(part.formula) for part in written.definitions} == {
        "again": "chunk * chunks * (chunks - 1) / 2",
        "again_in_heap": "chunk * in_heap * (in_heap - 1) / 2",
        "chunks": "ceil(tensor_bytes / chunk)",
        "in_heap": "min(chunks, floor(receiver_heap_limit / chunk))",
    }


def test_rounding_keeps_its_value_and_passes_on_the_slope() -> None:
    size, chunk = symbols("tensor_bytes chunk")
    numbers = {"tensor_bytes": 10.0, "chunk": 4.0}
    assert slopes(sympy.ceiling(size / chunk) * chunk, numbers) == {
        "chunk": pytest.approx(3.0 - 10.0 / 4.0),
        "tensor_bytes": pytest.approx(1.0),
    }


@pytest.mark.parametrize("case", CASES)
def test_steps_memory_and_total_are_those_of_the_model(case: str, books: dict[str, Any]) -> None:
    book, outcome = books[case], bind(scenario(case)).run({})
    assert {step["name"]: step["value"] for step in book["steps"]} == pytest.approx(dict(outcome.phases))
    assert {need["name"]: need["value"] for need in book["memory"]} == pytest.approx(dict(outcome.memory))
    assert book["time_s"] == pytest.approx(float(outcome.time))
    assert book["total"]["value"] == book["time_s"]
    for step in book["steps"]:
        assert sum(item["value"] for item in step["items"]) == pytest.approx(step["value"])
        assert step["item_value"] == max(item["value"] for item in step["items"])


def test_numbers_in_place_are_rendered_and_come_to_the_value(books: dict[str, Any]) -> None:
    copy = next(step for step in books["stop and wait"]["steps"] if step["name"] == "gpu_copy")
    assert copy["formula"] == "decoded_bytes / gpu_link_bandwidth + gpu_link_latency * tensors"
    volume, rate, latency, count = re.fullmatch(r"(.*) / (.*) \+ (.*) \* (\d+)", copy["with_numbers"]).groups()  # type: ignore[union-attr]
    by_hand = parse(volume, "B") / parse(rate, "B/s") + parse(latency, "s") * float(count)
    assert by_hand == pytest.approx(copy["value"], rel=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_every_argument_has_value_unit_and_origin(case: str, books: dict[str, Any]) -> None:
    for chapter in (*books[case]["steps"], *books[case]["memory"]):
        for entry in (chapter, *chapter["uses"]):
            assert entry["source"] in references()
            assert entry["source"] in books[case]["sources"]
            for name, argument in entry["arguments"].items():
                assert argument["meaning"], name
                assert argument["source"].split(":")[0] in (
                    "measured", "calibrated", "published", "datasheet", "analytic", "assumed",
                )  # fmt: skip


#: Of a paper of which only the text was at hand.
_WITHOUT_ADDRESS = {"mdgnn2026"}


def test_the_bibliography_has_every_source_that_phases_cite() -> None:
    assert {phase.source for phase in all_phases().values()} <= references().keys()
    for key, entry in references().items():
        assert entry["title"], key
        assert entry.get("url", "").startswith("https://") or key in _WITHOUT_ADDRESS, key


# elasticities


@pytest.mark.parametrize("case", CASES)
def test_elasticities_are_the_slopes_of_the_model(case: str) -> None:
    """Exact derivatives against central differences of the compiled model, for numbers that move no stairs."""
    bound = bind(scenario(case))
    traced = trace(bound)
    found = {each.key: each for each in elasticities(scenario(case), traced) if each.method == "derivative"}
    assert found.keys() == bound.numbers.keys()
    stairs = _rounded(traced)
    checked = 0
    for key, value in bound.values.items():
        if key not in bound.numbers or key in stairs or not math.isfinite(value) or value == 0:
            continue
        step = 1e-5
        ends = bound.run({key: value * np.exp(np.array([-step, step]))}).time
        times = np.broadcast_to(ends, (2,))
        assert found[key].elasticity == pytest.approx(float(np.log(times[1] / times[0])) / (2 * step), abs=2e-6), key
        checked += found[key].elasticity != 0
    assert checked >= 5


def _rounded(traced: Trace) -> set[str]:
    """Return the keys of all numbers that a phase rounds something of."""
    return {
        record.keys[name.name]
        for records in traced.records.values()
        for record in records
        for node in record.phase.expression.atoms(sympy.ceiling, sympy.floor)
        for name in node.free_symbols
    }


@pytest.mark.parametrize("case", ["stop and wait", "window", "regrown"])
def test_the_chunk_elasticity_is_the_trend_of_the_stairs(case: str) -> None:
    changed = scenario(case).replace({"plan.transfer.chunk": 20e3})
    bound = bind(changed)
    found = {each.key: each for each in elasticities(changed, trace(bound))}["plan.transfer.chunk"]
    width = 0.05
    times = bound.run({"plan.transfer.chunk": 20e3 * np.exp(np.array([-width, width]))}).time
    assert found.elasticity == pytest.approx(float(np.log(times[1] / times[0])) / (2 * width), abs=0.01)
    assert abs(found.elasticity) > 0.005


def test_rates_that_move_stairs_follow_the_trend() -> None:
    """A receiver that regrows its buffer takes over at a whole chunk, which its rates decide."""
    changed = scenario("regrown window").replace({"plan.transfer.chunk": 20e3})
    bound = bind(changed)
    traced = trace(bound)
    found = {each.key: each for each in elasticities(changed, traced)}
    width = 0.05
    for key in sorted(
        _rounded(traced) & {key for key, value in bound.values.items() if math.isfinite(value) and value}
    ):
        if key in bound.numbers:
            ends = bound.run({key: bound.values[key] * np.exp(np.array([-width, width]))}).time
            times = np.broadcast_to(ends, (2,))
            expected = float(np.log(times[1] / times[0])) / (2 * width)
            assert found[key].elasticity == pytest.approx(expected, abs=0.02), key


def test_elasticity_of_a_bandwidth_by_hand() -> None:
    """Stop-and-wait: the link's share of the time is all bytes and headers over its bandwidth."""
    case = scenario("stop and wait")
    bound, outcome = bind(case), bind(case).run({})
    chunk, header = case.plan.transfer.chunk, LINK["system.link.header"]
    tensors = [
        tensor.elements * (4.0 if tensor.kind == "features" else 8.0)
        for tensor in bound.family.batches["batch"].tensors
    ]
    sent = sum(size + math.ceil(size / chunk) * header for size in tensors)
    found = {each.key: each.elasticity for each in elasticities(case, trace(bound))}
    assert found["system.link.bandwidth"] == pytest.approx(-sent / LINK["system.link.bandwidth"] / float(outcome.time))


def test_a_number_of_several_phases_adds_up() -> None:
    """Two memory nodes halve sampling, quantization and transfer alike; each phase alone would say less."""
    case = scenario("stop and wait")
    traced = trace(bind(case))
    parts = [time.slopes.get("plan.devices", 0.0) for time in traced.outcome.phases.values()]
    assert sum(part < 0 for part in parts) >= 2
    assert traced.outcome.time.slopes["plan.devices"] == pytest.approx(sum(parts))


@pytest.mark.parametrize("case", ["stop and wait", "frontier"])
def test_workload_elasticities_are_differences_of_whole_predictions(case: str) -> None:
    found = {each.key: each for each in elasticities(scenario(case), trace(bind(scenario(case))))}
    batch = found["workload.sampling.batch"]
    assert batch.method == "difference"
    ends = [
        pm.predict(scenario(case).replace({"workload.sampling.batch": batch.value * factor})).time_s
        for factor in (0.9, 1.1)
    ]
    assert batch.elasticity == pytest.approx(math.log(ends[1] / ends[0]) / math.log(1.1 / 0.9), abs=0.03)
    assert found["workload.sampling.fanout.0"].discrete
    assert "workload.sampling.seeds.degree_bias" in found
    assert any(key.endswith(".feature_dimension") for key in found)


def test_elasticities_are_sorted_and_hold_the_zeros(books: dict[str, Any]) -> None:
    sizes = [abs(each["elasticity"]) for each in books["regrown"]["elasticities"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0
    unused = {each["key"] for each in books["regrown"]["elasticities"] if not each["used_by"]}
    assert "system.gpu.copy_bandwidth" in unused
    assert "system.link.regrowth.fresh_bandwidth" not in unused


# regimes


@pytest.mark.parametrize("case", CASES)
def test_conditions_flip_at_their_thresholds(case: str, books: dict[str, Any]) -> None:
    """The model itself, a little to either side of each threshold, is in the regime that the book says."""
    base = scenario(case)
    bound = bind(base)
    flips = 0
    for step in books[case]["steps"]:
        for entry in (*step["uses"], step):
            for number, regime in enumerate(entry["regimes"]):
                for threshold in regime["thresholds"]:
                    mark = bound.numbers[threshold["key"]]
                    sides = {"below": threshold["value"] * 0.97, "above": threshold["value"] * 1.03}
                    if not all(mark.low <= value <= mark.high for value in sides.values()):
                        continue
                    for side, value in sides.items():
                        records = _traced_at(bound, threshold["key"], value).records["step", step["name"]]
                        record = next(
                            each
                            for each in records
                            if each.phase.name == entry["phase"] and each.item_name == entry["item"]
                        )
                        holds = bool(Point(record.numbers, rounded=False).value(record.phase.regimes[number].relation))
                        assert holds == (side == threshold["holds"]), (entry["phase"], threshold)
                    flips += 1
    assert flips >= 2


def _traced_at(bound: Bound, key: str, value: float) -> Trace:
    """Return a run with another value, whole numbers and steps of a rule not asked for."""
    changed = copy.copy(bound)
    changed.values = {**bound.values, key: value}
    return trace(changed)


def test_thresholds_are_solved_in_closed_form(books: dict[str, Any]) -> None:
    transfer = next(step for step in books["window"]["steps"] if step["name"] == "transfer")
    waiting = next(regime for regime in transfer["regimes"] if "acknowledgements" in regime["meaning"])
    window = next(each for each in waiting["thresholds"] if each["key"] == "plan.transfer.window")
    assert window["holds"] == "below"
    assert window["formula"] == "cycle / pace"
    values = {part["name"]: part["value"] for part in transfer["definitions"]}
    assert window["value"] == pytest.approx(values["cycle"] / values["pace"])
    found = [each for book in books.values() for step in book["steps"] for regime in step["regimes"]
             for each in regime["thresholds"]]  # fmt: skip
    assert sum(each["formula"] is not None for each in found) >= 0.8 * len(found)


def test_regimes_say_whether_they_hold(books: dict[str, Any]) -> None:
    link_bound = next(step for step in books["link bound"]["steps"] if step["name"] == "transfer")
    holding = [regime["meaning"] for regime in link_bound["regimes"] if regime["holds"]]
    assert holding == ["the link's bandwidth sets the pace"]
    stop_and_wait = next(step for step in books["stop and wait"]["steps"] if step["name"] == "transfer")
    assert [regime["holds"] for regime in stop_and_wait["regimes"]] == [True, False, False, False]
    assert stop_and_wait["regimes"][0]["holds_for"] == len(stop_and_wait["tensors"])


# the best chunk

CHUNKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bounded": ("stop and wait", "largest", {}),
    "whole": ("stop and wait", "whole", {"system.link.max_chunk": "10 GB"}),
    "kink": ("window", "kink", {"system.link.max_chunk": "1 GB", "plan.transfer.window": 8}),
    "kink of two links": (
        "window", "", {"system.link.max_chunk": "1 GB", "plan.transfer.window": 8, "plan.devices": 2},
    ),
    "many tensors": ("link bound", "", {"system.link.max_chunk": "1 GB"}),
    "many tensors, long waits": (
        "link bound", "",
        {"system.link.max_chunk": "1 GB", "system.link.time_per_acknowledgement": "3 ms", "system.link.bandwidth": "15 GB/s"},
    ),
    "costly headers": (
        "window", "interior",
        {"system.link.max_chunk": "1 GB", "plan.transfer.window": 1000, "system.link.header": "10 kB",
         "system.link.bandwidth": "1 GB/s"},
    ),
    "regrown": ("regrown", "largest", {}),
    "regrown window": ("regrown window", "", {"system.link.max_chunk": "1 GB"}),
    "baseline": ("baseline", "", {"plan.transfer.window": 4, "system.link.max_chunk": "1 GB"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHUNKS)
def test_best_chunk_is_as_fast_as_the_best_of_a_scan(name: str) -> None:
    case, kind, changes = CHUNKS[name]
    changed = scenario(case).replace(changes)
    chapter = explain(changed)["best_chunk"]
    most = bind(changed).values["system.link.max_chunk"]
    sizes = [tensor["bytes"] for tensor in explain(changed)["steps"][-1]["tensors"]]
    chunks = np.geomspace(1e3, min(most, max([1e9, *sizes])), 20001)
    table = pm.evaluate(changed, {"plan.transfer.chunk": chunks})
    assert chapter["transfer_time_s"] <= 1.03 * float(table["phases.transfer"].min())
    at_it = pm.evaluate(changed, {"plan.transfer.chunk": [chapter["value"]]})
    assert chapter["transfer_time_s"] == pytest.approx(float(at_it["phases.transfer"][0]))
    assert chapter["time_s"] == pytest.approx(float(at_it["time_s"][0]))
    assert kind in ("", chapter["kind"])


def test_best_chunk_has_a_closed_form(books: dict[str, Any]) -> None:
    chapter = explain(scenario("window").replace({"system.link.max_chunk": "1 GB", "plan.transfer.window": 8}))[
        "best_chunk"
    ]
    assert chapter["kind"] == "kink"
    assert "tensor_bytes" in chapter["formula"]
    assert chapter["why"].startswith("below it waiting for acknowledgements sets the pace; above it ")
    assert [regime["slope"] for regime in chapter["regimes"]][:2] == ["falling", "rising"]
    assert books["stop and wait"]["best_chunk"]["formula"] == "max_chunk"
    assert books["local"]["best_chunk"] is None


# documents


@pytest.mark.parametrize("case", CASES)
def test_text_fits_a_terminal(case: str, books: dict[str, Any]) -> None:
    document = book_text(books[case])
    assert max(map(len, document.splitlines())) <= WIDTH
    for step in books[case]["steps"]:
        assert f"{step['name']} on {step['where']}" in document
    assert "nan" not in document.replace("finance", "")
    assert "\N{NO-BREAK SPACE}" not in document


@pytest.mark.parametrize("case", CASES)
def test_latex_is_a_whole_balanced_document(case: str, books: dict[str, Any]) -> None:
    document = book_latex(books[case])
    assert document.startswith("\\documentclass")
    assert document.rstrip().endswith("\\end{document}")
    opened = re.findall(r"\\begin\{(\w+)\}", document)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+)\}", document))
    bare = document.replace("\\\\", "").replace("\\{", "").replace("\\}", "")
    assert bare.count("{") == bare.count("}")
    assert document.count("\\left") == document.count("\\right")
    assert document.isascii()
    body = document.split("\\begin{document}")[1]
    assert not re.search(r"(?<!\\)[#%]", body)
    for mathematics in re.findall(r"\\mathrm\{([^{}]*)\}", body):
        assert not re.search(r"(?<!\\)_", mathematics)


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    captured = capsys.readouterr()
    return int(str(stop.value.code)), captured.out, captured.err


GIVEN = [
    "reddit", "--system", "lgnnic-doca-dma", *(word for key, value in RATES.items() for word in ("--set", f"{key}={value}")),
]  # fmt: skip


@pytest.mark.parametrize("asked", [["--format", "json"], ["--json"], ["--json", "--format", "json"]])
def test_json_on_the_command_line(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "explain", *GIVEN, *asked)
    document = json.loads(out)
    assert status == 0
    assert document["schema"] == 1
    assert document.keys() >= {
        "perfmodel", "inputs", "workload", "system", "plan", "time_s", "policy", "total", "steps", "elasticities",
        "best_chunk", "memory", "sources",
    }  # fmt: skip
    for step in document["steps"]:
        assert step.keys() >= {
            "name", "phase", "formula", "latex", "with_numbers", "value", "unit", "where", "source", "assumption",
            "meaning", "tensors", "arguments", "regimes", "domain",
        }  # fmt: skip


def test_text_and_latex_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "explain", *GIVEN)
    assert status == 0
    assert out.startswith("reddit on lgnnic-doca-dma, plan default")
    status, out, _ = _run(capsys, "explain", *GIVEN, "--format", "latex")
    assert status == 0
    assert out.startswith("\\documentclass")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["--format", "latx"], "--format: must be one of text, latex, json, got 'latx'; nearest valid choice: latex"),
        (["--format", "text", "--json"], "--json: must not be given beside another format"),
        (["--set", "plan.transfer.chunk=-1"], "must be above 0 B"),
        (["--plan", "defalt"], "nearest valid choice: default"),
    ],
)
def test_bad_input_is_a_sentence(asked: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = _run(capsys, "explain", *GIVEN, *asked)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_leaving_the_domain_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = _run(capsys, "explain", *GIVEN, "--set", "plan.workers=100")
    assert "OUTSIDE ITS DOMAIN (more workers than cores: the rest wait)" in out
    assert "warning: sampling: more workers than cores" in err
