"""``perfmodel graph``: from a file of edges to a workload that predicts."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import numpy as np
import pytest
from scipy import io, sparse

KEYS = {"schema", "perfmodel", "inputs", "nodes", "edges", "mean_degree", "degree_cv", "max_degree", "expected"}
NODES = 2000


@pytest.fixture(scope="module")
def ends() -> Any:
    """Return both ends of 20,000 different random edges."""
    code = np.random.default_rng(7).choice(NODES * NODES, 20_000, replace=False)
    return code // NODES, code % NODES


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: pathlib.Path, ends: Any) -> str:
    """Write the edges in one format."""
    kind = getattr(request, "param", "graph.txt")
    path = tmp_path / kind
    tails, heads = ends
    lines = "".join(f"{tail}{',' if 'csv' in kind else ' '}{head}\n" for tail, head in zip(tails, heads, strict=True))
    matrix = sparse.coo_matrix((np.ones(tails.size), (tails, heads)), shape=(NODES, NODES))
    match kind:
        case "graph.txt" | "graph.csv":
            path.write_text(lines, encoding="utf-8")
        case "graph.csv.gz":
            path.write_bytes(gzip.compress(lines.encode()))
        case "graph.mtx":
            io.mmwrite(path, matrix)
        case "graph.npz":
            sparse.save_npz(path, matrix.tocsr())
        case "graph.npy":
            np.save(path, np.stack([tails, heads]))
    return str(path)


@pytest.mark.parametrize(
    "file", ["graph.txt", "graph.csv", "graph.csv.gz", "graph.mtx", "graph.npz", "graph.npy"], indirect=True
)
def test_every_format(command: Any, file: str, ends: Any) -> None:
    found = command("graph", file, "--batch", "64", "--fanout", "5,5", "--json").document
    assert set(found) >= KEYS
    degrees = np.bincount(ends[1], minlength=NODES)
    assert (found["nodes"], found["edges"]) == (NODES, 20_000)
    assert found["mean_degree"] == pytest.approx(10.0)
    assert found["max_degree"] == degrees.max()
    assert found["degree_cv"] == pytest.approx(degrees.std() / degrees.mean(), rel=1e-3)
    expected = found["expected"]
    assert len(expected["per_hop"]) == 3
    assert expected["nodes"] == pytest.approx(sum(hop["nodes"] for hop in expected["per_hop"]))
    assert expected["edges"] == pytest.approx(sum(hop["edges"] for hop in expected["per_hop"]))
    assert 64 < expected["nodes"] <= NODES
    assert len(found["inputs"][file]) == 64


def test_the_workload_that_it_writes_predicts_the_same_batch(command: Any, file: str, tmp_path: pathlib.Path) -> None:
    out = str(tmp_path / "workload.toml")
    found = command(
        "graph", file, "--batch", "64", "--fanout", "5,5", "--features", "32", "--out", out, "--json"
    ).document
    predicted = command("predict", out, "--system", "lgnnic-doca-dma", "--json").document
    assert predicted["nodes"] == pytest.approx(found["expected"]["nodes"], rel=1e-9)
    assert predicted["edges"] == pytest.approx(found["expected"]["edges"], rel=1e-9)
    assert predicted["bytes"]["features"] == pytest.approx(predicted["nodes"] * 32 * 4)


def test_symmetrize(command: Any, file: str) -> None:
    found = command("graph", file, "--symmetrize", "--json").document
    assert found["symmetric"]
    assert 30_000 < found["edges"] <= 40_000


def test_semantics(command: Any, file: str) -> None:
    several = ("--batch", "64", "--fanout", "10,2", "--json")
    pyg = command("graph", file, *several).document["expected"]
    dgl = command("graph", file, "--semantics", "dgl", *several).document["expected"]
    assert pyg["edges"] != dgl["edges"]


def test_people_get_a_table(command: Any, file: str, tmp_path: pathlib.Path) -> None:
    out = str(tmp_path / "w.toml")
    shown = command("graph", file, "--out", out)
    assert shown.status == 0
    assert shown.out.startswith("2,000 nodes, 20,000 edges, directed")
    assert f"perfmodel predict {out}" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--batch", "0"], "batch"),
        (["--batch", "abc"], "batch"),
        (["--batch", "nan"], "batch"),
        (["--batch", "1e13"], "batch"),
        (["--fanout", ""], "fanout"),
        (["--fanout", "a,b"], "fanout"),
        (["--fanout", "0"], "fanout"),
        (["--fanout", "-2"], "fanout"),
        (["--fanout", "100000000000"], "fanout"),
        (["--semantics", "quiver"], "semantics"),
        (["--features", "-1"], "--features"),
        (["--features", "many"], "--features"),
        (["--seed", "-1"], "seed"),
        (["--seed", "x"], "--seed"),
        (["--out", ""], "--out"),
        (["--out", "a\0b"], "--out"),
        (["--out", "no/such/folder/w.toml"], "no/such/folder/w.toml"),
        (["--out", "."], "a directory"),
    ],
)
def test_bad_arguments(command: Any, file: str, arguments: list[str], words: str) -> None:
    assert words in command("graph", file, *arguments).sentence


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\xff", b"1\n", b"1 2\n3\n", b"-1 2\n"])
@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.mtx", "g.npz", "g.npy", "g.csv.gz", "g.unknown"])
def test_files_that_are_no_graphs(command: Any, tmp_path: pathlib.Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert name in command("graph", str(path)).sentence


@pytest.mark.parametrize("path", ["no-such-file.txt", "", "."])
def test_files_that_are_not_there(command: Any, path: str) -> None:
    assert "must be" in command("graph", path).sentence
