"""What every kernel of the folder keeps, and what single ones measure, held against independent counts.

With PERFMODEL_REQUIRE_SAMPLERS=1 the kernels of PyG, DGL and torch must not be skipped.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import math
import multiprocessing
import multiprocessing.resource_tracker
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator

import numpy as np
import pytest
import threadpoolctl

from calibration.cores import one_core, other_core
from calibration.kernels import page_reads, recurrent_cells
from calibration.kernels._base import Kernel, Point, Sample, all_kernels, chosen_kernels
from calibration.kernels._power_law import power_law_graph
from calibration.kernels._sampling_points import fanout_of
from perfmodel.errors import SpecError

NAMES = list(all_kernels())
REQUIRED = ("pyg", "dgl", "torch")


def usable(name: str) -> Kernel:
    kernel = all_kernels()[name]
    reason = kernel.unavailable()
    if not reason:
        return kernel
    assert len(reason.split()) > 1, "a reason is a sentence"
    if os.environ.get("PERFMODEL_REQUIRE_SAMPLERS") == "1" and name.rpartition("_")[2] in REQUIRED:
        pytest.fail(f"{name}: {reason}")
    pytest.skip(reason)


def block_of(name: str, point: Point, blocks: int = 1) -> list[Sample]:
    kernel = usable(name)
    try:
        with kernel.prepared(point) as block:
            return [dict(block()) for _ in range(blocks)]
    finally:
        kernel.release()


def fastest(name: str, point: Point, blocks: int = 7) -> float:
    """Return the shortest time of some blocks on one core: what others do on the machine only ever adds."""
    with threadpoolctl.threadpool_limits(1), one_core():
        return min(sample["time"] for sample in block_of(name, point, blocks))


@pytest.fixture
def files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Return the folder that temporary files go to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def children() -> set[int]:
    """Return the processes that this one started, Python's own tracker of shared memory aside."""
    found = {child.pid for child in multiprocessing.active_children() if child.pid}
    for listing in pathlib.Path("/proc/self/task").glob("*/children"):
        found |= {int(number) for number in listing.read_text().split()}
    tracker = getattr(multiprocessing.resource_tracker, "_resource_tracker", None)
    return found - {getattr(tracker, "_pid", None)}  # type: ignore[arg-type]


# --- every kernel


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_measures(name: str) -> None:
    kernel = all_kernels()[name]
    assert kernel.name == name
    assert len(kernel.isolates.split()) > 5
    assert kernel.unit_of_work
    assert "\n" not in kernel.isolates + kernel.unit_of_work


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_less(name: str) -> None:
    kernel = usable(name)
    quick, full = kernel.points(True), kernel.points(False)
    keys = [json.dumps(dict(point), sort_keys=True) for point in full]
    assert len(keys) == len(set(keys))
    assert 0 < len(quick) <= len(full)
    assert list(kernel.points(False)) == list(full)
    for point in [*quick, *full]:
        assert all(isinstance(value, (int, float, str)) for value in point.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_block_gives_a_time_and_counts_and_leaves_nothing(name: str, files: pathlib.Path) -> None:
    kernel = usable(name)
    point = kernel.points(True)[0]
    block_of(name, point)  # libraries start threads and open files once
    before = children(), threading.active_count(), open_files()
    (sample,) = block_of(name, point)
    gc.collect()
    assert 0 < sample["time"] < 30
    assert len(sample) > 1
    assert all(math.isfinite(value) and value >= 0 for value in sample.values())
    assert any(value > 0 for count, value in sample.items() if count != "time")
    assert (children(), threading.active_count(), open_files()) == before
    assert not list(files.iterdir())


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if pathlib.Path("/proc/self/fd").exists() else 0


@pytest.mark.parametrize("name", NAMES)
def test_an_error_within_a_point_leaves_nothing(name: str, files: pathlib.Path) -> None:
    kernel = usable(name)
    point = kernel.points(True)[0]
    block_of(name, point)
    before = children(), threading.active_count(), open_files()
    with pytest.raises(KeyboardInterrupt), kernel.prepared(point):
        raise KeyboardInterrupt
    kernel.release()
    gc.collect()
    assert (children(), threading.active_count(), open_files()) == before
    assert not list(files.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_heavy_packages_wait_until_a_kernel_runs(name: str, imported: set[str]) -> None:
    """Finding the kernels and listing their names imports none of the packages that only some of them need."""
    assert f"calibration.kernels.{name}" in imported
    assert not imported & {"torch", "torch_geometric", "dgl", "sympy", "pandas", "optuna"}


@pytest.fixture(scope="module")
def imported() -> set[str]:
    code = "from calibration.kernels._base import all_kernels; all_kernels(); import sys; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(process.stdout.split())


def test_kernels_are_chosen_by_name() -> None:
    assert [kernel.name for kernel in chosen_kernels([])] == NAMES
    assert [kernel.name for kernel in chosen_kernels(["page_reads"])] == ["page_reads"]
    with pytest.raises(SpecError, match="nearest valid choice: page_reads"):
        chosen_kernels(["page_read"])


# --- more work takes longer


def test_larger_copies_take_longer(files: pathlib.Path) -> None:
    """64 MiB are 4,096 times 16 KiB, and come from memory instead of the first cache."""
    small, large = ({"destination": "warm", "bytes": size} for size in (2**14, 2**26))
    copies = block_of("memory_copy", small)[0]["copies"]
    assert fastest("memory_copy", large) > 1000 * fastest("memory_copy", small) / copies


def test_a_fresh_destination_takes_longer() -> None:
    warm, fresh = ({"destination": kind, "bytes": 2**20} for kind in ("warm", "fresh"))
    assert fastest("memory_copy", fresh) > 1.3 * fastest("memory_copy", warm)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("name", ["recurrent_cells", "recurrent_cells_torch"])
def test_wider_cells_take_longer(name: str, cell: str) -> None:
    """A step of four times the width has 16 times the operations."""
    extra = {"direction": "forward"} if name.endswith("torch") else {}
    times = []
    for hidden in (64, 256, 1024):
        point: Point = {"cell": cell, "hidden": hidden, "batch": 16, **extra}
        times.append(fastest(name, point) / block_of(name, point)[0]["cells"])
    assert 2 * times[0] < times[1] < times[2] / 2


@pytest.mark.parametrize("layer", ["sage", "gcn"])
def test_a_backward_pass_takes_longer(layer: str) -> None:
    forward, both = (
        {"cell": "lstm", "hidden": 256, "batch": 128, "direction": way} for way in ("forward", "forward_backward")
    )
    assert fastest("recurrent_cells_torch", both) > 1.3 * fastest("recurrent_cells_torch", forward)
    small, large = ({"layer": layer, "nodes": 500 * k, "edges": 5000 * k, "width": 32} for k in (1, 10))
    assert fastest("gnn_layers_pyg", large) > 2 * fastest("gnn_layers_pyg", small)


def test_larger_messages_take_longer() -> None:
    small, large = ({"action": "message", "bytes": size} for size in (64, 2**20))
    messages = [block_of("process_handover", point)[0]["messages"] for point in (small, large)]
    times = [fastest("process_handover", point, 3) for point in (small, large)]
    assert times[1] / messages[1] > 2 * times[0] / messages[0]


# --- what is counted is what was done


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def products(
    weights: tuple[np.ndarray, ...], inputs: list[float], state: list[float]
) -> tuple[list[float], list[float]]:
    of_input, of_state, _ = weights
    parts = [(of_input, inputs), (of_state, state)]
    first, second = (
        [sum(vector[row] * float(matrix[row, column]) for row in range(2)) for column in range(matrix.shape[1])]
        for matrix, vector in parts
    )
    return first, second


def test_lstm_by_the_textbook() -> None:
    """Hochreiter and Schmidhuber with forget gates, one unit at a time; columns are keep, write, show, candidate."""
    inputs, state, memory = [0.5, -1.0], [0.25, 0.75], [-0.5, 2.0]
    weights = recurrent_cells._weights(2, 4, np.random.default_rng(0))
    step = recurrent_cells._lstm(2, np.random.default_rng(0))
    arrays = [np.array([values], dtype=np.float32) for values in (inputs, state, memory)]
    shown, kept = step(arrays[0], arrays[1:])
    first, second = products(weights, inputs, state)
    total = [a + b for a, b in zip(first, second, strict=True)]
    for unit in range(2):
        keep, write, show = (sigmoid(total[gate * 2 + unit]) for gate in range(3))
        cell = keep * memory[unit] + write * math.tanh(total[6 + unit])
        assert kept[0, unit] == pytest.approx(cell, rel=1e-5)
        assert shown[0, unit] == pytest.approx(show * math.tanh(cell), rel=1e-5)


def test_gru_by_the_textbook() -> None:
    """Cho et al. as in torch, with the reset gate behind the product; columns are reset, update, candidate."""
    inputs, state = [0.5, -1.0], [0.25, 0.75]
    weights = recurrent_cells._weights(2, 3, np.random.default_rng(0))
    step = recurrent_cells._gru(2, np.random.default_rng(0))
    arrays = [np.array([values], dtype=np.float32) for values in (inputs, state, state)]
    found = step(arrays[0], arrays[1:])[0]
    first, second = products(weights, inputs, state)
    for unit in range(2):
        reset, update = (sigmoid(first[gate * 2 + unit] + second[gate * 2 + unit]) for gate in range(2))
        candidate = math.tanh(first[4 + unit] + reset * second[4 + unit])
        assert found[0, unit] == pytest.approx((1 - update) * candidate + update * state[unit], rel=1e-5)


@pytest.mark.parametrize("name", ["recurrent_cells_torch", "gnn_layers_pyg"])
def test_operations_are_those_that_torch_counts(name: str) -> None:
    kernel = usable(name)
    from calibration.kernels._packages import load

    (counter,) = load("torch.utils.flop_counter")
    for point in kernel.points(True):
        with kernel.prepared(point) as block, counter.FlopCounterMode(display=False) as counted:
            sample = block()
        assert counted.get_total_flops() == pytest.approx(sample["flop"], rel=1e-9), point


@pytest.mark.parametrize("name", ["neighbor_sampling_pyg", "neighbor_sampling_dgl"])
def test_samplers_draw_what_the_graph_has(name: str) -> None:
    kernel = usable(name)
    for point in kernel.points(True):
        (sample,) = block_of(name, point)
        seeds, most = float(point["batch"]), 0.0
        frontier = seeds
        for width in fanout_of(point):
            frontier *= width
            most += frontier if name.endswith("pyg") else (frontier + most + seeds * width)
        assert seeds <= sample["nodes"] <= float(point["nodes"])
        assert sample["nodes"] - seeds <= sample["edges"] <= most


@pytest.mark.parametrize("name", ["neighbor_sampling_pyg", "neighbor_sampling_dgl"])
def test_edges_and_nodes_do_not_go_together(name: str) -> None:
    """Otherwise no fit could tell the cost of one from that of the other."""
    kernel = usable(name)
    try:
        ratios = []
        for point in kernel.points(True):
            with kernel.prepared(point) as block:
                sample = block()
                ratios.append(sample["edges"] / sample["nodes"])
        assert max(ratios) > 2 * min(ratios)
    finally:
        kernel.release()


def test_threads_of_torch_are_given_back() -> None:
    usable("gnn_layers_pyg")
    import torch

    before = torch.get_num_threads()
    for name in ("gnn_layers_pyg", "recurrent_cells_torch", "neighbor_sampling_pyg"):
        block_of(name, all_kernels()[name].points(True)[0])
        assert torch.get_num_threads() == before


def test_the_graph_has_heavy_tails_and_stays_the_same() -> None:
    graph = power_law_graph(20_000, 10)
    assert (graph.nodes, graph.edges) == (20_000, 200_000)
    for degree in (graph.in_degree, graph.out_degree):
        assert degree.mean() == 10
        assert degree.max() > 30 * degree.mean()
    power_law_graph.cache_clear()
    np.testing.assert_array_equal(power_law_graph(20_000, 10).indices, graph.indices)


# --- pages


@pytest.fixture
def pages() -> Iterator[page_reads.PageReads]:
    kernel = page_reads.PageReads()
    if reason := kernel.unavailable():
        pytest.skip(reason)
    yield kernel
    kernel.release()


def test_every_queue_depth_reads_all_its_pages(
    pages: page_reads.PageReads, files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    def counted(file: int, buffers: list[memoryview], place: int) -> int:
        seen.append((threading.get_ident(), place))
        return preadv(file, buffers, place)

    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", counted)
    for depth, reads in ((1, 1024), (4, 4096)):
        with pages.prepared({"cache": "buffered", "page": 4096, "depth": depth, "file": 2**24}) as block:
            seen.clear()
            sample = block()
        assert len(seen) == sample["pages"] == sample["bytes"] / 4096 == reads
        assert 1 <= len({thread for thread, _ in seen}) <= depth
        assert all(place % 4096 == 0 and 0 <= place < 2**24 for _, place in seen)
        assert len({place for _, place in seen}) > len(seen) / 4


def test_the_file_has_no_name_and_is_written_once(pages: page_reads.PageReads, files: pathlib.Path) -> None:
    opened = []
    for page in (4096, 65536):
        with pages.prepared({"cache": "buffered", "page": page, "depth": 1, "file": 2**22}):
            opened += [file.buffered for file in pages._files.values()]
            assert not list(files.iterdir())
    assert opened[0] == opened[1]
    assert os.fstat(opened[0]).st_nlink == 0
    assert os.fstat(opened[0]).st_size == 2**22
    pages.release()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_slow_disk_is_asked_for_less(
    pages: page_reads.PageReads, files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if pages.left_out():
        pytest.skip(pages.left_out())
    monkeypatch.setattr(page_reads, "_SLOW", 0.0)
    with pages.prepared({"cache": "direct", "page": 4096, "depth": 2, "file": 2**22}) as block:
        assert block()["pages"] == 8


def test_direct_reads_are_left_out_with_a_reason(
    pages: page_reads.PageReads, files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_reads, "_file_system", lambda folder: "tmpfs")
    assert "lies in memory (tmpfs)" in pages.left_out()
    for quick in (True, False):
        assert {point["cache"] for point in pages.points(quick)} == {"buffered"}
    with pages.prepared(pages.points(True)[0]) as block:
        assert block()["pages"] > 0


def test_a_file_system_that_refuses_direct_reads(
    pages: page_reads.PageReads, files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(page_reads, "_file_system", lambda folder: "odd")
    monkeypatch.setattr(os, "preadv", refuse)
    assert "refuses them (Invalid argument)" in pages.left_out()
    assert not list(files.iterdir())


FULL = """
import resource, tempfile
from calibration.kernels.page_reads import KERNEL
from perfmodel.errors import SpecError
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    with KERNEL.prepared({"cache": "buffered", "page": 4096, "depth": 1, "file": 2**24}):
        print("prepared")
except SpecError as error:
    print(error, KERNEL._files)
"""


def test_a_full_disk_is_a_sentence_and_leaves_no_file(tmp_path: pathlib.Path) -> None:
    """A limit on file sizes fails the write as a full disk does."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL],
        capture_output=True, text=True, check=True, timeout=60, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert "needs 17 MB of free room for a file to read pages from, got File too large" in process.stdout
    assert process.stdout.rstrip().endswith("{}")
    assert not list(tmp_path.iterdir())


def test_too_little_room_is_seen_before_writing(
    pages: page_reads.PageReads, files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fstatvfs", lambda file: types.SimpleNamespace(f_bavail=10, f_frsize=4096))
    with (
        pytest.raises(SpecError, match="less than that; nearest valid choice: a folder named by TMPDIR"),
        pages.prepared({"cache": "buffered", "page": 4096, "depth": 1, "file": 2**24}),
    ):
        pass
    assert not list(files.iterdir())
    assert not pages._files


# --- processes


def test_the_child_that_answers_has_a_core_of_its_own() -> None:
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core only")
    with one_core() as core:
        assert other_core() not in (None, core)
        with all_kernels()["process_handover"].prepared({"action": "message", "bytes": 64}) as block:
            (child,) = children()
            assert os.sched_getaffinity(child) == {other_core()}
            assert block()["cores"] == 2.0
    assert other_core() is None


def test_a_child_ends_with_its_parent() -> None:
    """Also where the parent is killed: the child reads the end of the pipe."""
    code = (
        "import os, time\n"
        "from calibration.kernels.process_handover import KERNEL\n"
        "with KERNEL.prepared({'action': 'message', 'bytes': 64}) as block:\n"
        "    import multiprocessing\n"
        "    print(multiprocessing.active_children()[0].pid, flush=True)\n"
        "    while True:\n"
        "        block()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            child = int(parent.stdout.readline())
        finally:
            parent.kill()
    end = time.monotonic() + 10
    while alive(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(child)


def alive(process: int) -> bool:
    """Say whether a process runs; one that ended and that nobody has asked how doesn't."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_what_is_missing_is_a_sentence() -> None:
    for name in NAMES:
        package = {"pyg": "torch_geometric", "dgl": "dgl", "torch": "torch"}.get(name.rpartition("_")[2])
        if package and importlib.util.find_spec(package) is None:
            assert all_kernels()[name].unavailable().startswith("needs ")
