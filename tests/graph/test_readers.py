"""Graph file readers: every format gives the same edges of the same graph, and a bad file gives a sentence."""

from __future__ import annotations

import gzip
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.readers import _text
from perfmodel.graph.readers._base import NAMED, all_readers, open_edges, pick_reader

Ids = NDArray[np.int64]
NODES = 60


def graph() -> tuple[Ids, Ids]:
    """Return an edge list without repeats in which every node has an edge."""
    rng = np.random.default_rng(7)
    pairs = np.unique(rng.integers(0, NODES, size=(400, 2)), axis=0)
    pairs = np.concatenate([pairs, np.stack([np.arange(NODES), (np.arange(NODES) + 1) % NODES], axis=1)])
    pairs = np.unique(pairs, axis=0)
    return pairs[:, 0], pairs[:, 1]


SOURCE, TARGET = graph()


def edges(path: Path) -> dict[tuple[str, str, str], list[tuple[int, int]]]:
    """Read all edges, sorted, by relation."""
    found: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for chunk in open_edges(path).chunks:
        found.setdefault(chunk.relation, []).extend(zip(chunk.source.tolist(), chunk.target.tolist(), strict=True))
    return {key: sorted(pairs) for key, pairs in found.items()}


def lines(separator: str, end: str = "\n", extra: str = "") -> str:
    return end.join(f"{s}{separator}{t}{extra}" for s, t in zip(SOURCE, TARGET, strict=True))


def matrix() -> scipy.sparse.coo_array:
    return scipy.sparse.coo_array((np.ones(SOURCE.size), (SOURCE, TARGET)), shape=(NODES, NODES))


def raw(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def text(content: str) -> Callable[[Path], None]:
    return raw(content.encode())


def gzipped(content: str) -> Callable[[Path], None]:
    return raw(gzip.compress(content.encode()))


def written_mtx(path: Path, **options: Any) -> None:
    with open(path, "wb") as file:
        scipy.io.mmwrite(file, matrix(), **options)


WRITERS: dict[str, Callable[[Path], None]] = {
    "space.txt": text("# a comment\n" + lines(" ") + "\n"),
    "no_last_newline.txt": text(lines(" ")),
    "padded.txt": text("\n".join(f"  {s}   {t}  " for s, t in zip(SOURCE, TARGET, strict=True))),
    "windows.csv": text("source,target\r\n" + lines(",", "\r\n") + "\r\n"),
    "marked.csv": text("\ufeff" + lines(",")),
    "spaced.csv": text(lines(", ")),
    "weighted.csv": text("a,b,weight\n" + lines(",", extra=",0.5")),
    "konect.tsv": text("% sym unweighted\n% 3 4\n" + lines("\t", extra="\t1\t1230000000") + "\n\n"),
    "inner_comment.txt": text(lines(" ") + "\n# the end\n"),
    "turned.csv": text("time,target,source\n" + "\n".join(f"9.5,{t},{s}" for s, t in zip(SOURCE, TARGET, strict=True))),
    "semicolon.csv": text(lines(";")),
    "edges.txt.gz": gzipped("# c\n" + lines(" ")),
    "no_suffix": text(lines(" ")),
    "real.mtx": written_mtx,
    "pattern.mtx": lambda path: written_mtx(path, field="pattern"),
    "integer.mtx": lambda path: written_mtx(path, field="integer"),
    "csr.npz": lambda path: scipy.sparse.save_npz(path, matrix().tocsr()),
    "csc.npz": lambda path: scipy.sparse.save_npz(path, matrix().tocsc()),
    "coo.npz": lambda path: scipy.sparse.save_npz(path, matrix(), compressed=False),
    "bsr.npz": lambda path: scipy.sparse.save_npz(path, matrix().tobsr(blocksize=(1, 1))),
    "two_by_e.npy": lambda path: np.save(path, np.stack([SOURCE, TARGET])),
    "e_by_two.npy": lambda path: np.save(path, np.stack([SOURCE, TARGET], axis=1)),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(np.stack([SOURCE, TARGET]))),
    "big_endian.npy": lambda path: np.save(path, np.stack([SOURCE, TARGET]).astype(">i4")),
    "whole_floats.npy": lambda path: np.save(path, np.stack([SOURCE, TARGET]).astype(float)),
    "edge_index.npz": lambda path: np.savez(path, x=np.ones((NODES, 2)), edge_index=np.stack([SOURCE, TARGET])),
    "pair.npz": lambda path: np.savez_compressed(path, src=SOURCE, dst=TARGET),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even the small files of these tests into several pieces."""
    monkeypatch.setattr(_text, "BLOCK_BYTES", 256)
    for name in ("numpy_edges", "scipy_sparse", "pyg"):
        monkeypatch.setattr(f"perfmodel.graph.readers.{name}.CHUNK_EDGES", 37)


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_edges(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    assert edges(path) == {("node", "edge", "node"): list(zip(SOURCE.tolist(), TARGET.tolist(), strict=True))}


def test_contract_of_every_reader(tmp_path: Path) -> None:
    assert set(all_readers()) >= {"edge_list", "matrix_market", "numpy_edges", "scipy_sparse", "pyg"}
    used = set()
    for name, write in WRITERS.items():
        path = tmp_path / name
        write(path)
        used.add(pick_reader(path).name)
        stream = open_edges(path)
        chunks = list(stream.chunks)
        reached = [chunk.done_bytes for chunk in chunks]
        assert stream.least_edges <= sum(chunk.source.size for chunk in chunks)
        assert reached == sorted(reached)
        assert reached[-1] <= stream.total_bytes == path.stat().st_size
    for reader in all_readers().values():
        assert reader.meaning
        assert all(suffix.startswith(".") for suffix in reader.suffixes)
        assert reader.name in used | {"pyg"}
        nonsense = tmp_path / f"nonsense{reader.suffixes[0]}"
        nonsense.write_bytes(bytes(range(256)) * 20)
        with pytest.raises(SpecError):
            edges(nonsense)
        nonsense.write_bytes(b"")
        with pytest.raises(SpecError, match="an empty file"):
            edges(nonsense)


def test_symmetric_matrix_market_runs_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "symmetric.mtx"
    both = scipy.sparse.coo_array((matrix() + matrix().T) > 0).astype(float)
    scipy.io.mmwrite(path, both, symmetry="symmetric", field="pattern")
    assert edges(path)["node", "edge", "node"] == sorted(zip(both.row.tolist(), both.col.tolist(), strict=True))


@pytest.mark.parametrize("name", ["oblong.mtx", "oblong.npz"])
def test_oblong_matrix_has_two_node_types(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    oblong = scipy.sparse.coo_array((np.ones(2), ([0, 2], [4, 1])), shape=(3, 5))
    scipy.io.mmwrite(path, oblong) if name.endswith("mtx") else scipy.sparse.save_npz(path, oblong)
    assert open_edges(path).node_counts == {"row": 3, "column": 5}
    assert edges(path) == {("row", "edge", "column"): [(0, 4), (2, 1)]}


def test_names_get_one_key_each(tmp_path: Path) -> None:
    path = tmp_path / "names.tsv"
    path.write_text("libc6\tgcc 12\ng++\tlibc6\n12\tlibc6\n" * 40)
    (found,) = edges(path).values()
    keys = {key for pair in found for key in pair}
    assert len(keys) == 4
    assert 12 in keys
    assert sum(key >= NAMED for key in keys) == 3


def test_relations_by_header(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("head\trelation\ttail\n1\tlikes\t2\n2\tknows\t3\n1\tlikes\t3\n")
    assert edges(path) == {("node", "likes", "node"): [(1, 2), (1, 3)], ("node", "knows", "node"): [(2, 3)]}


def test_triples_without_header_warn(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("ann\tlikes\tbob\n")
    assert "source,relation,target" in open_edges(path).warnings[0]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)), min_size=1, max_size=40),
    separator=st.sampled_from([" ", ",", "\t", ";", "  "]),
    header=st.booleans(),
)
def test_text_round_trip(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]], separator: str, header: bool
) -> None:
    path = tmp_path_factory.mktemp("trip") / "edges.txt"
    rows = ([f"source{separator}target"] if header else []) + [f"{s}{separator}{t}" for s, t in pairs]
    path.write_text("\n".join(rows))
    (found,) = edges(path).values()
    assert found == sorted(pairs)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(pairs=st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)), min_size=3, max_size=40))
def test_array_round_trip(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]) -> None:
    path = tmp_path_factory.mktemp("trip") / "edges.npz"
    np.savez_compressed(path, edge_index=np.array(pairs))
    (found,) = edges(path).values()
    assert found == sorted(pairs)


def cut(writer: Callable[[Path], None], share: float) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        writer(path)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])

    return write


MTX = "%%MatrixMarket matrix coordinate pattern general\n"
BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "binary.txt": (raw(bytes(range(128)) + b"\0\n" * 9), "must be text"),
    "unknown.bin": (raw(b"\0\1\2" * 99), "binary data of an unknown format"),
    "workload.toml": (text('name = "reddit"\nfanout = [25, 10]\n'), "text of an unknown format, suffix '.toml'"),
    "infinite.txt": (text("1 2\ninf 4\n"), r"line 2: node ids must be integers or names, got inf"),
    "layout.npz": (lambda path: np.savez(path, format=3, shape=[3, 3]), "must be one of csr, csc, coo"),
    "shape.npz": (lambda path: np.savez(path, format=np.bytes_("coo"), shape=[np.nan, 3], row=[0], col=[1]), "got nan"),
    "one_column.txt": (text("1 2\n# c\n3\n4 5\n"), r"line 3: must have at least 2 columns, got 1: 3"),
    "late.txt": (text("1 2\n" * 300 + "7\n"), r"line 301: must have at least 2 columns"),
    "one_column.csv": (text("source,target\n1,2\n3\n"), r"line 3: must have at least 2 columns"),
    "missing_end.csv": (text("1,2\n3,\n"), r"line 2: must have a node id at both ends"),
    "negative.txt": (text("1 2\n3 -4\n"), r"line 2: node ids must be at least 0, got -4; nearest valid choice: 0"),
    "fraction.txt": (text("1 2\n3 4.5\n"), r"line 2: node ids must be integers or names, got 4.5"),
    "nan.txt": (text("1 2\nnan 4\n"), r"line 2: node ids must be integers or names, got nan"),
    "comments.txt": (text("# only\n% comments\n"), "must hold edges, got comments only"),
    "header.csv": (text("source,target\n"), "must hold edges, got a header only"),
    "no_relation.csv": (text("source,relation,target\n1,a,2\n1,,2\n"), r"line 3: must name the relation"),
    "broken.txt.gz": (cut(gzipped(lines(" ") * 30), 0.5), "must be a whole gzip file"),
    "head_only.txt.gz": (raw(b"\x1f\x8bnonsense"), "must be a whole gzip file"),
    "truncated.npz": (cut(WRITERS["csr.npz"], 0.6), "must be a whole .npz file"),
    "truncated.npy": (cut(WRITERS["two_by_e.npy"], 0.6), "truncated array"),
    "cube.npy": (lambda path: np.save(path, np.ones((2, 3, 4), int)), r"shape \(2, edges\).*\(2, 3, 4\)"),
    "square.npy": (lambda path: np.save(path, np.ones((5, 4), int)), r"shape \(2, edges\)"),
    "no_edges.npy": (lambda path: np.save(path, np.ones((2, 0), int)), "must hold edges"),
    "negative.npy": (lambda path: np.save(path, np.array([[0, 1], [2, -3]])), "at least 0, got -3"),
    "nan.npy": (lambda path: np.save(path, np.array([[0, 1], [2, np.nan]])), "integers, got nan at edge 1"),
    "fraction.npy": (lambda path: np.save(path, np.array([[0, 1.5], [2, 3]])), "integers, got 1.5"),
    "names.npy": (lambda path: np.save(path, np.array([["a", "b"], ["c", "d"]])), "must be integers"),
    "unsigned.npy": (lambda path: np.save(path, np.full((2, 3), 2**64 - 1, np.uint64)), r"below 2\*\*63"),
    "objects.npy": (lambda path: np.save(path, np.array([[{}, 1], [2, 3]], object)), "pickled Python objects"),
    "objects.npz": (lambda path: np.savez(path, edge_index=np.array([[{}, 1], [2, 3]], object)), "pickled"),
    "other.npz": (lambda path: np.savez(path, a=np.ones(3), b=np.ones(4)), "one edge index.*got arrays a, b"),
    "uneven.npz": (lambda path: np.savez(path, src=np.arange(3), dst=np.arange(4)), "must have one length"),
    "header.mtx": (text("%%MatrixMarket graph\n1 1 1\n1 1\n"), "line 1: must be a Matrix Market header"),
    "dense.mtx": (text("%%MatrixMarket matrix array real general\n1 1\n1\n"), "must be a sparse matrix, got array"),
    "field.mtx": (text(MTX.replace("pattern", "patern") + "1 1 1\n1 1\n"), "nearest valid choice: pattern"),
    "sizes.mtx": (text(MTX + "4 4\n1 1\n"), "line 2: must give rows, columns and entries, got 4 4"),
    "short.mtx": (text(MTX + "4 4 3\n1 1\n"), "must hold the 3 entries that its header gives, got 1"),
    "outside.mtx": (text(MTX + "4 4 1\n1 5\n"), "must be below the file's node count, 4"),
    "zero.mtx": (text(MTX + "4 4 1\n0 3\n"), "numbered from 1"),
    "word.mtx": (text(MTX + "4 4 2\n1 2\n1 x\n"), "line 4: node ids must be integers, got x"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_a_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write, sentence = BAD[name]
    write(path)
    with pytest.raises(SpecError, match=sentence) as caught:
        edges(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n")
    with pytest.raises(SpecError, match=r"nearest valid choice: edges\.txt"):
        open_edges(tmp_path / "edge.txt")
    with pytest.raises(SpecError, match="got a directory"):
        open_edges(tmp_path)


def test_matrix_pointer_must_rise(tmp_path: Path) -> None:
    path = tmp_path / "pointer.npz"
    np.savez(path, format=np.bytes_("csr"), shape=[3, 3], indices=[0, 1], indptr=[0, 2, 1, 2], data=[1, 1])
    with pytest.raises(SpecError, match="indptr must rise from 0 to 2 in 3 steps"):
        edges(path)


@pytest.fixture
def torch() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("torch_geometric")
        return pytest.importorskip("torch")


def test_pyg_data(tmp_path: Path, torch: Any) -> None:
    from torch_geometric.data import Data

    path = tmp_path / "data.pt"
    index = torch.from_numpy(np.stack([SOURCE, TARGET]))
    torch.save(Data(edge_index=index, num_nodes=NODES + 5), path)
    assert open_edges(path).node_counts == {"node": NODES + 5}
    assert edges(path) == {("node", "edge", "node"): list(zip(SOURCE.tolist(), TARGET.tolist(), strict=True))}
    for saved in ({"edge_index": index}, index):
        torch.save(saved, path)
        assert len(edges(path)["node", "edge", "node"]) == SOURCE.size


def test_pyg_hetero_data(tmp_path: Path, torch: Any) -> None:
    from torch_geometric.data import HeteroData

    path = tmp_path / "hetero.pt"
    data = HeteroData()
    data["author"].num_nodes = 4
    data["paper"].x = torch.ones(6, 3)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 3], [5, 1]])
    torch.save(data, path)
    assert open_edges(path).node_counts == {"author": 4, "paper": 6}
    assert edges(path) == {("author", "writes", "paper"): [(0, 5), (3, 1)]}


class Malicious:
    """Would make a folder where it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("kind", ["saved", "bare"])
def test_malicious_pickle_is_refused(tmp_path: Path, torch: Any, kind: str) -> None:
    path = tmp_path / "malicious.pt"
    content = {"edge_index": Malicious(str(tmp_path / "made"))}
    torch.save(content, path) if kind == "saved" else path.write_bytes(pickle.dumps(content, protocol=2))
    with pytest.raises(SpecError, match=r"malicious\.pt: must hold tensors and PyG graphs only"):
        edges(path)
    assert not (tmp_path / "made").exists()


def test_bad_pyg_files(tmp_path: Path, torch: Any) -> None:
    path = tmp_path / "bad.pt"
    torch.save({"x": torch.ones(3)}, path)
    with pytest.raises(SpecError, match="must hold an edge_index"):
        edges(path)
    torch.save([{"edge_index": torch.ones(2, 3)}] * 2, path)
    with pytest.raises(SpecError, match="must hold one graph, got several"):
        edges(path)
    torch.save({"edge_index": torch.ones(3, 3)}, path)
    with pytest.raises(SpecError, match=r"must have the shape \(2, edges\)"):
        edges(path)
    torch.save({"edge_index": torch.ones(2, 3000)}, path)
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(SpecError, match="must be a whole file"):
        edges(path)


def test_missing_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    path = tmp_path / "data.pt"
    path.write_bytes(b"PK\x03\x04 whatever")
    with pytest.raises(SpecError, match=r"pip install 'perfmodel\[pyg\]'"):
        open_edges(path)
