"""What every phase promises, for phases found by scanning the folder: a new file is under contract as it is."""

from __future__ import annotations

import importlib
import inspect
import math
import pathlib
import random
import re
from collections.abc import Iterator

import numpy as np
import pytest
import sympy

import perfmodel as pm
import perfmodel.phases
from perfmodel.errors import ModelError
from perfmodel.model.bound import bind
from perfmodel.model.compile import compiled
from perfmodel.model.dimensions import check_condition, dimension, dimension_of_unit
from perfmodel.phases._base import Phase, all_phases, symbol
from perfmodel.symbols import NOMENCLATURE
from perfmodel.units import unit_factor

FOLDER = pathlib.Path(perfmodel.phases.__path__[0])
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
RESULTS = {phase.result: phase.unit for phase in all_phases().values()}
#: Given by the binding, as sums over tensors or phases: no phase and no key.
SUMS = {"batch_bytes", "decoded_bytes", "total_time", "serial_share_of_one", "least_gain"}

each_phase = pytest.mark.parametrize("phase", all_phases().values(), ids=lambda phase: phase.name)


def test_every_file_is_a_phase() -> None:
    assert [path.stem for path in FILES] == list(all_phases())
    assert list(compiled()) == list(all_phases())


@each_phase
def test_its_name_is_its_files(phase: Phase) -> None:
    module = importlib.import_module(f"perfmodel.phases.{phase.name}")
    assert module.PHASE is phase
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", phase.name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_file_is_short_and_documented(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 90
    docstring = inspect.getdoc(importlib.import_module(f"perfmodel.phases.{path.stem}")) or ""
    assert "Worked number" in docstring
    assert ".. math::" in docstring
    assert re.search(r"\d", docstring.split("Worked number", 1)[1])


@each_phase
def test_it_says_what_it_does_and_where_it_is_from(phase: Phase) -> None:
    keys = set(re.findall(r"^@\w+\{([^,]+),", (FOLDER / "sources.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert phase.meaning
    assert phase.source in keys


def test_no_source_is_left_unused() -> None:
    text = (FOLDER / "sources.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),", text, re.MULTILINE)
    assert len(keys) == len(set(keys))
    words = "".join(path.read_text(encoding="utf-8") for path in FILES).casefold()
    sources = {phase.source for phase in all_phases().values()}
    named = {key for key in keys if key[-1].isdigit() and f"{key[:-4]} {key[-4:]}" in words}  # (Gunther 2007)
    assert set(keys) == sources | named


@each_phase
def test_its_dimension_is_its_units(phase: Phase) -> None:
    assert dimension(phase.expression, RESULTS) == dimension_of_unit(phase.unit)
    for condition in (*phase.valid_when, *phase.regimes):
        check_condition(condition.relation)
        assert condition.meaning


@each_phase
def test_its_arguments_are_in_the_nomenclature(phase: Phase) -> None:
    relations = [condition.relation for condition in (*phase.valid_when, *phase.regimes)]
    for expression in (phase.expression, *relations):
        for argument in expression.free_symbols:
            quantity = NOMENCLATURE[argument.name]
            assert quantity.meaning
            unit_factor(quantity.unit)
            assert argument == symbol(argument.name)
            assert quantity.key or argument.name in RESULTS | dict.fromkeys(SUMS)


def test_results_have_one_unit_and_one_meaning() -> None:
    for phase in all_phases().values():
        if phase.result in NOMENCLATURE:
            assert NOMENCLATURE[phase.result].unit == phase.unit
            assert not NOMENCLATURE[phase.result].key
    assert len({quantity.meaning for quantity in NOMENCLATURE.values()}) == len(NOMENCLATURE)


def test_every_quantity_is_used_by_some_phase() -> None:
    used = {name for phase in all_phases().values() for name in phase.arguments}
    assert {name for name, quantity in NOMENCLATURE.items() if quantity.key} <= used
    assert {name for name, quantity in NOMENCLATURE.items() if not quantity.key} <= used | set(RESULTS)


def test_every_phase_is_run_by_some_plan() -> None:
    """A phase that no combination of link and plan composes is dead."""
    run: set[str] = set()
    for scenario in scenarios():
        bound = bind(scenario)
        steps = (*bound.steps, *bound.memory_steps, *bound.energy_steps)
        run |= {call.phase.name for step in steps for call in step.calls}
        run |= {"scaling_knee"} if bound.family.scaled_by else set()
    assert run == set(all_phases())


#: A machine that trains on a core of its own, and copies nothing to get there.
CORE = {
    "name": "core", "kind": "cpu", "memory": "64 GiB", "memory_bandwidth": "25 GB/s", "peak_flops": "100 GFLOPS",
    "sampling": {"time_per_edge": 1e-7, "time_per_node": 1e-7},
}  # fmt: skip
ON_CORE = {"name": "on core", "memory_node": CORE, "compute_node": CORE, "gpu": CORE}

_WORK = {"time_per_call": 1e-5, "time_per_operation": 1e-11, "time_per_element": 1e-9}
_PAGES = {"time_per_page": 1e-6, "time_per_byte": 1e-10}
_PIPE = {"time_per_state": 5e-5, "time_per_message": 5e-6, "time_per_byte": 1e-10}
_SNAPSHOTS = {
    "cores": 2,
    "cache": 1e6,
    "outer_cache": 1e7,
    "time_per_visit": 1e-5,
    "time_per_missed_byte": 1e-10,
    **{work: {"forward": _WORK, "backward": _WORK} for work in ("lstm", "gru", "graph")},
    **dict.fromkeys(("held", "buffered", "unkept", "direct"), _PAGES),
    **dict.fromkeys(("other_core", "same_core", "through_host", "sending"), _PIPE),
}
#: Processes on such a machine that hold snapshots.
PROCESSES = {
    "name": "processes", "family": "dynamic-training", "plan": "snapshots-on-cores", "loopback": False,
    "storage": {**CORE, "snapshots": _SNAPSHOTS}, "host": CORE, "link": "pcie-gen3-x4", "uplink": "pcie-gen3-x4",
}  # fmt: skip


def scenarios() -> Iterator[pm.Scenario]:
    for system in ("lgnnic-doca-dma", "lgnnic-sockets", "lgnnic-local"):
        base = pm.load_scenario("ogbn-products", system)
        yield base
        yield base.replace({"plan.placement.sampling": "host", "plan.preprocessing.edge_copies": 2})
    yield pm.load_scenario("ogbn-products", ON_CORE)
    yield pm.load_scenario("ogbn-products", "this-machine")
    for system in ("buddy-none", "buddy-x86", "buddy-dpu"):
        yield pm.load_scenario("histogram", system)
    for plan in ({}, {"plan.exchange": "host-bounced", "plan.processes.policy": "lru"}):
        yield pm.load_scenario("dgnn-ppi", PROCESSES, changes=plan)
    for system in ("esdg", "blad", "dgc", "m-base", "m-dgnn"):
        base = pm.load_scenario("dgnn-amazon", f"mdgnn-{system}")
        yield base
        yield base.replace({"plan.exchange": "peer-to-peer", "workload.temporal.access": "drawn"})


def test_every_argument_of_every_phase_changes_some_result() -> None:
    """A factor that cancels, or a bound that never binds, is no argument: each must move the number somewhere."""
    for phase in compiled().values():
        rng = random.Random(phase.name)
        moved: set[str] = set()
        for _ in range(400):
            values = admissible(phase.arguments, rng)
            before = evaluated(phase.name, values)
            for argument in set(phase.arguments) - moved:
                if evaluated(phase.name, values | {argument: 2 * values[argument] + 1}) != before:
                    moved.add(argument)
            if moved == set(phase.arguments):
                break
        assert moved == set(phase.arguments), phase.name


#: Counts of a plan that are at least one.
PLANNED_COUNTS = {
    "cluster_nodes", "processes", "hops", "routing_threads", "open_buffers", "ring_buffers", "outstanding",
    "array_columns", "array_rows", "batch_targets", "block_reads_at_once", "cell_layers", "channels", "dies",
    "feature_dimension", "firmware_cores", "frame_length", "frames_in_flight", "hidden_width", "hop_depth", "packages",
    "passes", "pipeline_stages", "planes", "pool_requests", "queue_depth", "snapshot_nodes", "vector_width",
    "process_cores", "file_pages",
}  # fmt: skip
RANGES = {
    "B/message": (0, 4),
    "B": (3, 10),
    "B/s": (8, 12),
    "s": (-7, -1),
    "s/B": (-11, -8),
    "flop": (8, 13),
    "flop/s": (12, 14),
    "Hz": (8, 10),
    "1/s": (4, 8),
    "J/B": (-12, -9),
    "W": (-3, 2),
    "": (-1, 3),
}


def admissible(arguments: tuple[str, ...], rng: random.Random) -> dict[str, float]:
    """Draw admissible values: counts from 1, shares up to 1."""
    values = {}
    for name in arguments:
        unit = NOMENCLATURE[name].unit
        low, high = RANGES.get(unit, (-8, -5) if unit.startswith("s/") else (0, 7))
        values[name] = 10 ** rng.uniform(low, high)
        if name in ("window", "devices", "cores") or name in PLANNED_COUNTS:
            values[name] = float(rng.randint(1, 9))
        if name == "workers":
            values[name] = float(rng.randint(0, 9))
        if "share" in name or "efficiency" in name or name in ("contention", "allocator_overhead"):
            values[name] = rng.uniform(0.01, 1)
        if name == "skew":
            values[name] = rng.uniform(0, 3)
        if re.match("(is|by|holds|sends|pools|planes_read)_", name):
            values[name] = rng.uniform(0, 1)
    if "heap_bandwidth" in values:
        values["fresh_bandwidth"] = values["heap_bandwidth"] / 3
    return values


def evaluated(name: str, values: dict[str, float]) -> float:
    phase = compiled()[name]
    return float(np.ravel(phase.function(*[values[argument] for argument in phase.arguments]))[0])


@each_phase
def test_admissible_inputs_give_finite_results_that_are_not_negative(phase: Phase) -> None:
    """Also at the edges: every quantity that may be zero at zero, every rate that may be infinite at infinity."""
    rng = random.Random(phase.name)
    arguments = compiled()[phase.name].arguments
    for _ in range(100):
        values = admissible(arguments, rng)
        for name in arguments:
            if rng.random() < 0.25 and name not in POSITIVE:
                rate = NOMENCLATURE[name].unit in ("B/s", "flop/s")
                values[name] = (math.inf if name in INFINITE else values[name]) if rate else 0.0
        if phase.name == "transfer_regrown":  # its receiver's work is that phase's result, not free
            work = {name: values[name] for name in compiled()["aggregation_regrown"].arguments}
            values["aggregation_time"] = evaluated("aggregation_regrown", work)
        found = evaluated(phase.name, values)
        assert math.isfinite(found), values
        assert found >= 0, values


POSITIVE = PLANNED_COUNTS | {
    "message_size",
    "run_length",
    "buffer_size",
    "displacement",
    "direct_cache",
    "chunk",
    "window",
    "devices",
    "cores",
    "edge_entry",
    "array_entry",
    "hash_slot",
    "all_nodes",
    "table_bytes",
    "displacement_time",
    "receiver_displacement_time",
    "compute_efficiency",
    "memory_efficiency",
    "array_frequency",
    "array_read_time",
    "bus_time",
    "flash_latency",
    "flash_sharpness",
    "flash_throughput",
    "file_page",
    "piece",
    "far_cache",
    "near_cache",
    "id_bytes",
    "messages_per_target",
    "page",
    "requests_per_row",
    "row_width",
}
INFINITE = {
    "work_bandwidth",
    "host_memory_bandwidth",
    "host_link_bandwidth",
    "link_bandwidth",
    "sender_copy_bandwidth",
    "receiver_copy_bandwidth",
    "gpu_link_bandwidth",
    "gather_bandwidth",
    "memory_bandwidth",
}


@pytest.mark.parametrize(
    "expression",
    [
        symbol("chunk") + symbol("link_latency"),
        symbol("chunk") + 1,
        sympy.ceiling(symbol("chunk")),
        sympy.Max(symbol("chunk"), symbol("window")),
        sympy.Piecewise((symbol("chunk"), symbol("window") > 1), (symbol("link_latency"), True)),
        sympy.Piecewise((symbol("chunk"), symbol("window") > symbol("chunk")), (0, True)),
        sympy.exp(symbol("link_latency")),
        symbol("chunk") ** symbol("window"),
        sympy.sin(symbol("window")),
    ],
)
def test_the_dimension_check_refuses(expression: sympy.Expr) -> None:
    with pytest.raises(ModelError):
        dimension(expression)


def test_a_name_that_the_nomenclature_lacks_is_refused() -> None:
    with pytest.raises(ModelError):
        symbol("chunk_size")
