"""``perfmodel predict``: the document, its numbers, and every key that CONTRACT names."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest

from perfmodel.spec.catalog import DATA, names, shipped_table
from perfmodel.spec.families import family_of

KEYS = {
    "schema", "perfmodel", "model", "inputs", "time_s", "interval_s", "interval_level", "epoch_time_s", "phases",
    "bottleneck", "overlap", "bytes", "nodes", "edges", "memory", "energy_j", "feasible", "violations", "warnings",
    "plan", "workload", "system",
}  # fmt: skip
SOURCES = {"measured", "calibrated", "published", "datasheet", "analytic", "assumed"}
PLAN_KEYS = {
    "plan.transfer.chunk", "plan.transfer.window", "plan.precision.features", "plan.placement.sampling",
    "plan.placement.quantization", "plan.workers", "plan.devices", "plan.overlap",
}  # fmt: skip
MIB = 2.0**20


def predicted(command: Any, *more: str, workload: str = "reddit", system: str = "lgnnic-doca-dma") -> Any:
    return command("predict", workload, "--system", system, "--json", *more).document


def check(found: Any) -> None:
    """Check what must hold of every prediction."""
    assert set(found) >= KEYS
    assert found["schema"] == 1
    assert found["interval_level"] == 0.9
    low, high = found["interval_s"]
    assert 0 < low <= found["time_s"] <= high
    phases = found["phases"]
    assert all(set(phase) == {"name", "time_s", "share", "where", "source"} for phase in phases)
    assert all(phase["source"] in SOURCES for phase in phases)
    assert sum(phase["share"] for phase in phases) == pytest.approx(1.0, abs=1e-12)
    assert found["bottleneck"] == max(phases, key=lambda phase: phase["time_s"])["name"]
    if found["overlap"] == "sum":
        assert found["time_s"] == pytest.approx(sum(phase["time_s"] for phase in phases), rel=1e-12)
    sizes = found["bytes"]
    assert sizes["total"] == pytest.approx(sum(size for kind, size in sizes.items() if kind != "total"))
    assert found["feasible"] == (not found["violations"])
    assert all(set(violation) == {"rule", "need", "limit", "message"} for violation in found["violations"])
    assert all(violation["need"] > violation["limit"] for violation in found["violations"])
    assert all(set(need) == {"where", "need_bytes", "capacity_bytes"} for need in found["memory"])
    if found["plan"]["plan.family"] == "sampled-training":
        assert set(found["plan"]) >= PLAN_KEYS
        assert set(sizes) == {"features", "edge_index", "labels", "total"}
    assert all(len(digest) == 64 for digest in found["inputs"].values())
    assert found["inputs"]


def family(kind: str, name: str) -> str:
    return family_of(shipped_table(kind, name), name).name


PAIRS = [
    (workload, system)
    for workload in names("workloads")
    for system in names("systems")
    if family("workloads", workload) == family("systems", system)
]


@pytest.mark.parametrize(("workload", "system"), PAIRS)
def test_every_pair_of_the_catalog(command: Any, workload: str, system: str) -> None:
    found = predicted(command, workload=workload, system=system)
    check(found)
    assert 1e-3 < found["time_s"] < 1000.0
    assert len(found["warnings"]) <= 3


USUAL = [("reddit", "lgnnic-doca-dma"), ("histogram", "buddy-dpu")]


@pytest.mark.parametrize("plan", names("plans"))
def test_every_plan(command: Any, plan: str) -> None:
    own = [pair for pair in PAIRS if family("systems", pair[1]) == family("plans", plan)]
    workload, system = next((pair for pair in own if pair in USUAL), own[0])
    found = predicted(command, "--plan", plan, workload=workload, system=system)
    check(found)
    assert f"plans/{plan}" in found["inputs"]


@pytest.mark.parametrize("overlap", ["sum", "pipelined", "overlap"])
def test_every_overlap(command: Any, overlap: str) -> None:
    found = predicted(command, "--set", f"plan.overlap={overlap}")
    check(found)
    assert found["overlap"] == overlap
    assert found["time_s"] <= sum(phase["time_s"] for phase in found["phases"]) * (1 + 1e-12)


def test_an_epoch_is_all_of_its_mini_batches(command: Any) -> None:
    for batch, batches in ((1024, 150), (153431, 1), (1000, 154)):
        found = predicted(command, "--set", f"workload.sampling.batch={batch}")
        assert found["epoch_time_s"] == pytest.approx(found["time_s"] * batches, rel=1e-12)


def test_the_numbers_of_lgnnic_reddit(command: Any) -> None:
    """97,423 nodes of 602 fp32 features are 234.6 MB; the closed form of the reference gives 100,000-109,000 nodes."""
    found = predicted(command)
    assert found["bytes"]["features"] == pytest.approx(found["nodes"] * 602 * 4, rel=1e-9)
    assert found["bytes"]["edge_index"] == pytest.approx(found["edges"] * 2 * 8, rel=1e-9)
    assert found["bytes"]["labels"] == 1024 * 8
    assert 90_000 < found["nodes"] < 115_000


def test_a_text_with_a_unit_means_the_number(command: Any) -> None:
    assert predicted(command, "--set", "plan.transfer.chunk=512 KiB") == predicted(
        command, "--set", "plan.transfer.chunk=524288"
    )


def phase(found: Any, name: str) -> Any:
    return next(phase for phase in found["phases"] if phase["name"] == name)


def test_chunk(command: Any) -> None:
    found = predicted(command, "--set", "plan.transfer.chunk=64 KiB")
    assert found["plan"]["plan.transfer.chunk"] == 65536.0
    assert phase(found, "transfer")["time_s"] > 5 * phase(predicted(command), "transfer")["time_s"]


def test_window(command: Any) -> None:
    found = predicted(command, "--set", "plan.transfer.window=4")
    assert found["plan"]["plan.transfer.window"] == 4.0
    assert phase(found, "transfer")["time_s"] < phase(predicted(command), "transfer")["time_s"]


@pytest.mark.parametrize(
    ("precision", "width"), [("fp32", 4), ("fp16", 2), ("bf16", 2), ("fp8", 1), ("int8", 1), ("int4", 0.5)]
)
def test_precision(command: Any, precision: str, width: float) -> None:
    found = predicted(command, "--set", f"plan.precision.features={precision}")
    scales = 4.0 if width <= 1 else 0.0
    assert found["bytes"]["features"] == pytest.approx(found["nodes"] * (602 * width + scales), rel=1e-9)
    assert (phase(found, "quantization")["time_s"] > 0) == (precision != "fp32")


def test_placement_of_sampling(command: Any) -> None:
    found = predicted(command, "--set", "plan.placement.sampling=compute-node")
    check(found)
    assert phase(found, "sampling")["where"] == "compute_node"
    assert phase(predicted(command), "sampling")["where"] == "memory_node"
    assert found["bytes"]["total"] > predicted(command)["bytes"]["total"]


def test_placement_of_quantization(command: Any) -> None:
    half = ("--set", "plan.precision.features=fp16")
    early = predicted(command, *half)
    late = predicted(command, *half, "--set", "plan.placement.quantization=compute-node")
    assert late["bytes"]["features"] == pytest.approx(2 * early["bytes"]["features"])
    assert phase(late, "quantization")["where"] == "compute_node"


def test_workers(command: Any) -> None:
    """On the SmartNIC they bring nothing but their memory (LGNNIC, section 5.3.1); on the host they do."""
    found = predicted(command, "--set", "plan.workers=8")
    assert phase(found, "sampling")["time_s"] == phase(predicted(command), "sampling")["time_s"]
    assert found["memory"][0]["need_bytes"] > predicted(command)["memory"][0]["need_bytes"]
    plain, helped = (
        predicted(command, "--set", "plan.placement.sampling=compute-node", "--set", f"plan.workers={workers}")
        for workers in (0, 8)
    )
    assert 4 < phase(plain, "sampling")["time_s"] / phase(helped, "sampling")["time_s"] < 8


def test_more_workers_than_cores_is_said(command: Any) -> None:
    assert any("more workers than cores" in text for text in predicted(command, "--set", "plan.workers=9")["warnings"])
    assert not any("workers" in text for text in predicted(command, "--set", "plan.workers=8")["warnings"])


def test_devices(command: Any) -> None:
    found = predicted(command, "--set", "plan.devices=2")
    assert found["memory"][0]["need_bytes"] < predicted(command)["memory"][0]["need_bytes"]
    assert found["time_s"] < predicted(command)["time_s"]


def test_fanout(command: Any) -> None:
    found = predicted(command, "--set", "workload.sampling.fanout=5,5")
    assert found["nodes"] < predicted(command)["nodes"]
    assert found["edges"] <= 1024 * 5 + 1024 * 5 * 5 * (1 + 1e-9)


def test_batch(command: Any) -> None:
    found = predicted(command, "--set", "workload.sampling.batch=512")
    assert found["bytes"]["labels"] == 512 * 8
    assert found["nodes"] < predicted(command)["nodes"]


def test_semantics_turn_the_order_of_fanouts(command: Any) -> None:
    dgl = predicted(command, "--set", "workload.sampling.semantics=dgl")
    both = predicted(command, "--set", "workload.sampling.semantics=dgl", "--set", "workload.sampling.fanout=10,25")
    assert dgl["edges"] != both["edges"]
    assert phase(dgl, "sampling")["time_s"] != phase(predicted(command), "sampling")["time_s"]


def test_link_bandwidth(command: Any) -> None:
    found = predicted(command, "--set", "system.link.bandwidth=1 GB/s")
    assert phase(found, "transfer")["time_s"] > phase(predicted(command), "transfer")["time_s"] + 0.2


def test_too_little_memory_is_an_answer(command: Any) -> None:
    found = predicted(command, "--set", "system.memory_node.memory=1 GiB")
    check(found)
    assert found["feasible"] is False
    (violation,) = found["violations"]
    assert violation["rule"] == "memory.memory_node"
    assert violation["limit"] == 2.0**30
    assert violation["need"] == found["memory"][0]["need_bytes"]
    assert "1 GiB" in violation["message"]
    shown = command("predict", "reddit", "--system", "lgnnic-doca-dma", "--set", "system.memory_node.memory=1 GiB")
    assert shown.status == 0
    assert "infeasible (memory.memory_node)" in shown.out


def test_a_chunk_above_the_device_is_infeasible(command: Any) -> None:
    found = predicted(command, "--set", "plan.transfer.chunk=2 MiB")
    assert [violation["rule"] for violation in found["violations"]] == ["transfer.chunk"]


def test_large_graphs_do_not_fit_the_smartnic(command: Any) -> None:
    for workload in ("ogbn-papers100M", "MAG240M", "IGB", "Friendster"):
        assert predicted(command, workload=workload)["feasible"] is False


def test_against_a_plan(command: Any) -> None:
    found = predicted(command, "--against", "no-offload", workload="ogbn-products")
    against = found["against"]
    assert set(against) >= {"time_s", "speedup", "speedup_interval"}
    alone = predicted(command, "--plan", "no-offload", workload="ogbn-products")
    assert against["time_s"] == pytest.approx(alone["time_s"], rel=1e-12)
    assert against["speedup"] == pytest.approx(against["time_s"] / found["time_s"], rel=1e-12)
    low, high = against["speedup_interval"]
    assert low <= against["speedup"] <= high
    assert against["feasible"] is False


def test_against_a_system(command: Any) -> None:
    found = predicted(command, "--against", "lgnnic-sockets")
    alone = predicted(command, system="lgnnic-sockets")
    assert found["against"]["time_s"] == pytest.approx(alone["time_s"], rel=1e-12)
    assert found["against"]["speedup"] > 10


def test_against_itself_is_one_without_doubt(command: Any) -> None:
    against = predicted(command, "--against", "default")["against"]
    assert against["speedup"] == 1.0
    assert against["speedup_interval"] == pytest.approx([1.0, 1.0])


def test_changes_of_the_workload_hold_for_both(command: Any) -> None:
    small = ("--set", "workload.sampling.batch=64")
    found = predicted(command, *small, "--against", "no-offload")
    alone = predicted(command, *small, "--plan", "no-offload")
    assert found["against"]["time_s"] == pytest.approx(alone["time_s"], rel=1e-12)


def test_specs_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    files = {}
    for kind, name in (("workloads", "reddit"), ("systems", "lgnnic-sockets"), ("plans", "fp16")):
        files[kind] = str(shutil.copy(DATA / kind / f"{name}.toml", tmp_path / f"my-{name}.toml"))
    own = predicted(command, "--plan", files["plans"], workload=files["workloads"], system=files["systems"])
    assert own["time_s"] == predicted(command, "--plan", "fp16", system="lgnnic-sockets")["time_s"]
    assert set(files.values()) <= set(own["inputs"])


def test_a_system_from_scratch(command: Any, tmp_path: pathlib.Path) -> None:
    system = tmp_path / "mine.toml"
    system.write_text(
        'name = "mine"\ncompute_node = "epyc-7513"\ngpu = "a100-80gb"\ngpu_link = "pcie-gen4-x16-pinned"\n'
        'link = { use = "doca-dma", max_chunk = "8 MiB" }\nmemory_node = { use = "bluefield-2", memory = "32 GiB" }\n',
        encoding="utf-8",
    )
    found = predicted(command, "--set", "plan.transfer.chunk=8 MiB", system=str(system))
    check(found)
    assert found["feasible"]
    assert found["time_s"] < predicted(command)["time_s"]


def test_a_profile_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    profile = tmp_path / "mine.toml"
    text = (DATA / "profiles" / "lgnnic.toml").read_text(encoding="utf-8")
    profile.write_text(text.replace('name = "lgnnic"', 'name = "mine"'), encoding="utf-8")
    found = predicted(command, "--profile", str(profile))
    check(found)
    assert found["time_s"] == predicted(command)["time_s"]
    assert str(profile) in found["inputs"]


def test_nothing_is_warned_of_that_takes_no_time(command: Any) -> None:
    assert predicted(command)["warnings"] == []
    (warning,) = predicted(command, "--plan", "fp16")["warnings"]
    assert "dequantization" in warning


def test_a_guess_for_another_device_is_no_fit(command: Any) -> None:
    """The host's sampling is calibrated; a guessed SmartNIC's lookups stay as unsure as guesses are."""
    found = predicted(command, "--plan", "no-offload", system="bluefield-3-roce")
    assert found["bottleneck"] == "neighborhood_lookup"
    assert phase(found, "neighborhood_lookup")["source"] == "assumed"
    low, high = found["interval_s"]
    assert high / low > 3
    assert any("neighborhood_lookup (assumed)" in warning for warning in found["warnings"])


def test_people_get_a_table_and_warnings_apart(command: Any) -> None:
    shown = command("predict", "reddit", "--system", "lgnnic-doca-dma", "--plan", "fp16", "--against", "no-offload")
    assert shown.status == 0
    lines = shown.out.splitlines()
    assert lines[0].startswith("reddit on lgnnic-doca-dma: ")
    assert "phase\ttime\tshare\twhere\tsource" in lines
    assert any(line.startswith("against reddit on lgnnic-doca-dma under no-offload") for line in lines)
    assert all(line.startswith("perfmodel: warning: ") for line in shown.err.splitlines())
