"""A measured graph: its statistics, its classes and its correction, held against exact counts and real batches."""

from __future__ import annotations

import dataclasses
import hashlib
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.classes import joint_classes
from perfmodel.graph.measure import MeasuredGraph, measure_graph
from perfmodel.graph.minibatch import Seeds, expected_minibatch
from perfmodel.graph.profile import DegreeProfile, homogeneous
from perfmodel.graph.tally import NodeLabels

Ids = NDArray[np.int64]


def heavy(nodes: int, edges: int, seed: int = 0) -> tuple[Ids, Ids]:
    """Return distinct edges between nodes of lognormal weight."""
    rng = np.random.default_rng(seed)
    weight = rng.lognormal(0.0, 1.2, size=nodes)
    weight /= weight.sum()
    pairs = np.unique(rng.choice(nodes, size=(edges, 2), p=weight), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs[:, 0], pairs[:, 1]


def saved(path: Path, source: Ids, target: Ids) -> Path:
    np.save(path, np.stack([source, target]))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("graph") / "heavy.npy", *heavy(4000, 30000))


@pytest.fixture(scope="module")
def measured(file: Path) -> MeasuredGraph:
    return measure_graph(file, batch=128, fanout=(10, 5))


def test_statistics_are_exact(file: Path, measured: MeasuredGraph) -> None:
    source, target = np.load(file)
    nodes = int(max(source.max(), target.max())) + 1
    degree = np.bincount(target, minlength=nodes)
    assert (measured.nodes, measured.edges) == (nodes, source.size)
    assert measured.mean_degree == pytest.approx(degree.mean())
    assert measured.degree_cv == pytest.approx(degree.std() / degree.mean())
    assert measured.max_degree == degree.max()
    assert measured.isolated == int(((degree + np.bincount(source, minlength=nodes)) == 0).sum())
    assert (measured.self_loops, measured.repeated_edges, measured.symmetric) == (0, 0, False)
    assert measured.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert measured.warnings == ()


def exact(source: Ids, target: Ids, nodes: int) -> DegreeProfile:
    inward, outward = (np.bincount(ids, minlength=nodes).astype(float) for ids in (target, source))
    return homogeneous(nodes, np.full(nodes, 1.0 / nodes), inward, outward)


@pytest.mark.parametrize("fanout", [(10, 5), (25, 10), (-1, -1), (15, 10, 5)])
def test_classes_keep_the_expected_batch(file: Path, measured: MeasuredGraph, fanout: tuple[int, ...]) -> None:
    source, target = np.load(file)
    profile = dataclasses.replace(measured.profile, reach=())
    assert profile.node_types["node"].share.size <= 300
    assert profile.total_edges == pytest.approx(source.size)
    few = expected_minibatch(profile, Seeds("node"), 128, fanout)
    all_nodes = expected_minibatch(exact(source, target, measured.nodes), Seeds("node"), 128, fanout)
    assert few.nodes == pytest.approx(all_nodes.nodes, rel=0.005)
    assert few.edges == pytest.approx(all_nodes.edges, rel=0.005)


def test_every_format_gives_the_same_profile(file: Path, measured: MeasuredGraph, tmp_path: Path) -> None:
    source, target = np.load(file)
    size = measured.nodes
    np.savetxt(tmp_path / "edges.txt", np.stack([source, target], axis=1), fmt="%d")
    matrix = scipy.sparse.coo_array((np.ones(source.size), (source, target)), shape=(size, size))
    scipy.sparse.save_npz(tmp_path / "matrix.npz", matrix.tocsr())
    (tmp_path / "names.csv").write_text("\n".join(f"n{s},n{t}" for s, t in zip(source, target, strict=True)))
    np.save(tmp_path / "sparse.npy", np.stack([source, target]) * 2**40)
    for name in ("edges.txt", "matrix.npz", "names.csv", "sparse.npy"):
        other = measure_graph(tmp_path / name, batch=128, fanout=(10, 5))
        without_ids = measured.isolated if name in ("names.csv", "sparse.npy") else 0
        assert other.nodes == measured.nodes - without_ids
        assert (other.edges, other.max_degree) == (measured.edges, measured.max_degree)
        ours, known = (found.profile.node_types["node"] for found in (other, measured))
        for slot, degree in known.degree.items():
            assert ours.edges(slot) == pytest.approx(known.edges(slot))
            if not without_ids:
                assert ours.degree[slot] == pytest.approx(degree)
        assert without_ids or other.hops == measured.hops


def ring_of_cliques(cliques: int, size: int) -> tuple[Ids, Ids]:
    inside = np.array([(a, b) for a in range(size) for b in range(size) if a != b])
    pairs = np.concatenate([inside + size * clique for clique in range(cliques)])
    start = np.arange(cliques) * size
    bridge = np.stack([start, np.roll(start, 1) + 1], axis=1)
    pairs = np.concatenate([pairs, bridge, bridge[:, ::-1]])
    return pairs[:, 0], pairs[:, 1]


def test_clustering_is_corrected(tmp_path: Path) -> None:
    path = saved(tmp_path / "cliques.npy", *ring_of_cliques(400, 12))
    found = measure_graph(path, batch=64, fanout=(5, 5))
    assert found.symmetric
    assert set(found.profile.node_types["node"].degree) == {"in"}
    last = found.hops[-1]
    assert last.mean_field_nodes > 1.3 * last.nodes
    assert last.corrected_nodes == pytest.approx(last.nodes, rel=1e-6)
    assert np.isfinite(found.reach[1])
    expected = expected_minibatch(found.profile, Seeds("node"), 64, (5, 5))
    assert expected.nodes == pytest.approx(sum(hop.nodes for hop in found.hops), rel=0.005)


def test_random_graph_needs_little_correction(measured: MeasuredGraph) -> None:
    for hop in measured.hops:
        assert hop.mean_field_nodes == pytest.approx(hop.nodes, rel=0.05)
        assert hop.corrected_edges == pytest.approx(hop.edges, rel=0.05, abs=1)


def test_memory_limit_leaves_out_the_correction(file: Path, measured: MeasuredGraph) -> None:
    counted = measure_graph(file, max_edges_in_memory=1000)
    assert counted.reach == ()
    assert counted.hops == ()
    assert counted.repeated_edges is None
    assert "no correction for clustering" in counted.warnings[0]
    assert (counted.nodes, counted.edges, counted.degree_cv) == (measured.nodes, measured.edges, measured.degree_cv)


def test_symmetrize_keeps_edges_single(file: Path, tmp_path: Path) -> None:
    source, target = np.load(file)
    both = np.unique(np.concatenate([np.stack([source, target], 1), np.stack([target, source], 1)]), axis=0)
    turned = measure_graph(file, symmetrize=True, fanout=(5,))
    stored = measure_graph(saved(tmp_path / "both.npy", both[:, 0], both[:, 1]), fanout=(5,))
    assert turned.symmetric
    assert stored.symmetric
    assert turned.edges == stored.edges == len(both)
    assert turned.degree_cv == pytest.approx(stored.degree_cv)


def test_loops_repeats_and_isolated(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("0 0\n0 1\n0 1\n0 1\n5 1\n")
    found = measure_graph(path, batch=2, fanout=(2,))
    assert (found.nodes, found.self_loops, found.repeated_edges, found.isolated) == (6, 1, 2, 3)
    assert "repeats" in found.warnings[-1]


@pytest.mark.parametrize(("content", "nodes"), [("1 2\n2 3\n", 3), ("0 2\n", 3), ("7 4611686018427387904\n", 2)])
def test_which_ids_are_nodes(tmp_path: Path, content: str, nodes: int) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(content)
    assert measure_graph(path, fanout=(1,)).nodes == nodes


def test_huge_ids_and_shapes_take_no_memory(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ids = saved(tmp_path / "huge.npy", np.array([0, 2**62, 5]), np.array([2**62, 1, 2**61]))
    assert measure_graph(ids, fanout=(2,)).nodes == 5
    shape = tmp_path / "huge.mtx"
    shape.write_text(f"%%MatrixMarket matrix coordinate pattern general\n{2**61} {2**61} 1\n1 {2**60}\n")
    found = measure_graph(shape, fanout=(2,))
    assert (found.nodes, found.isolated) == (2**61, 2**61 - 2)
    assert found.profile.total_edges == pytest.approx(1.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_relations_have_slots_and_reverses_share_them(tmp_path: Path) -> None:
    path = tmp_path / "triples.csv"
    rows = [f"{s},likes,{t}\n{t},liked_by,{s}\n" for s, t in zip(*heavy(50, 200), strict=True)]
    path.write_text("source,relation,target\n" + "".join(rows) + "0,knows,1\n")
    found = measure_graph(path, batch=8, fanout=(3, 3))
    by_name = {relation.name: relation for relation in found.profile.relations}
    assert by_name["likes"].source_slot == by_name["liked_by"].target_slot
    assert by_name["likes"].target_slot == by_name["liked_by"].source_slot
    assert found.profile.edges(by_name["knows"]) == pytest.approx(1.0)
    assert found.profile.total_edges == pytest.approx(found.edges)
    assert not found.symmetric
    assert len(found.hops) == 3


def test_progress_ends_at_the_size(file: Path) -> None:
    seen: list[tuple[int, int]] = []
    measure_graph(file, progress=lambda done, total: seen.append((done, total)), fanout=(2,))
    assert seen[-1] == (file.stat().st_size, file.stat().st_size)


def test_arguments_that_do_not_fit(file: Path) -> None:
    with pytest.raises(SpecError, match="batch: must be a whole number of at least 1"):
        measure_graph(file, batch=0)
    with pytest.raises(SpecError, match="fanout: must be whole numbers"):
        measure_graph(file, fanout=())
    with pytest.raises(SpecError, match="semantics: must be pyg or dgl"):
        measure_graph(file, semantics="dlg")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"seed_type.*nearest valid choice: node"):
        measure_graph(file, seed_type="nod")


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    degrees=st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=1, max_size=60),
    most=st.integers(1, 40),
    bare=st.integers(0, 5),
)
def test_classes_keep_nodes_and_edges(degrees: list[tuple[int, ...]], most: int, bare: int) -> None:
    columns = [np.array(column, dtype=np.uint32) for column in zip(*degrees, strict=True)]
    nodes = len(degrees) + bare
    share, mean = joint_classes(columns, nodes, most)
    assert share.size <= most
    assert share.sum() == pytest.approx(1.0)
    for column, values in enumerate(columns):
        assert nodes * float(share @ mean[:, column]) == pytest.approx(float(values.sum(dtype=float)), abs=1e-6)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.sampled_from([0, 1, 5, 2**40, 2**61, 2**62 + 3]), max_size=9), max_size=6))
def test_labels_are_one_to_one(parts: list[list[int]]) -> None:
    labels = NodeLabels()
    known: dict[int, int] = {}
    for part in parts:
        for key, label in zip(part, labels.label(np.array(part, dtype=np.int64)).tolist(), strict=True):
            assert known.setdefault(key, label) == label
            assert label < labels.size <= 6 + len(known)
    assert len(set(known.values())) == len(known)


@pytest.mark.slow
def test_ten_million_edges_pass_in_bounded_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = saved(tmp_path / "big.npy", *(rng.integers(0, 10**6, size=(2, 10**7))))
    code = (
        "import resource; from perfmodel.graph.measure import measure_graph;"
        f"print(measure_graph({str(path)!r}, max_edges_in_memory=10**6).edges);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    edges, kilobytes = map(int, ran.stdout.split())
    assert edges == 10**7
    assert kilobytes < 600_000
