"""Real graphs: Debian's rebuilt where apt has package lists; elsewhere the answer's inner consistency."""

from __future__ import annotations

import hashlib
import pathlib

import numpy as np
import pytest

from studies._base import Answer, rounded
from studies.real_graphs import samplers
from studies.real_graphs.study import LARGE, SEMANTICS, STUDY, Graph, debian_graph, expectation, facts, measure


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


@pytest.fixture(scope="module")
def debian() -> Graph:
    graph = debian_graph(symmetrize=True)
    if graph is None:
        pytest.skip("no package lists of apt")
    return graph


def test_debian_is_measured_and_drawn_as_the_answer_says(debian: Graph, answer: Answer, tmp_path: pathlib.Path) -> None:
    """The same lists give the same numbers; others, of another day, keep to the words."""
    path = debian.write(tmp_path)
    batch, fanout = LARGE[0]
    measured = measure(debian, path, LARGE[0])
    edges, nodes = debian.edges()
    drawn = samplers.draw_own(edges, nodes, samplers.seed_sets(nodes, batch, 16), fanout, "pyg")
    expected = expectation(measured.profile, batch, fanout, "pyg", drawn)
    assert (measured.nodes, measured.edges) == (nodes, sum(pair[0].size for pair in edges.values()))
    assert abs(expected["nodes_off"]) < 0.02
    assert abs(expected["edges_off"]) < 0.03
    known = answer["graphs"]["debian"]
    if hashlib.sha256(path.read_bytes()).hexdigest() == known["sha256"]:
        assert {name: known[name] for name in facts(measured)} == rounded(facts(measured))
        assert drawn[:, 0].mean() == pytest.approx(known["settings"][0]["pyg"]["own"]["nodes"], rel=0.01)


def test_both_readings_of_every_file_agree(answer: Answer) -> None:
    for found in answer["graphs"].values():
        assert found["counted_apart"] == {"nodes": found["nodes"], "edges": found["edges"]}
        assert found["mean_degree"] == pytest.approx(found["edges"] / found["nodes"], rel=1e-3)


def test_own_sampler_agrees_with_the_libraries(answer: Answer) -> None:
    for name, found in answer["graphs"].items():
        for setting in found["settings"]:
            for semantics in SEMANTICS:
                library, own = setting[semantics]["library"], setting[semantics]["own"]
                for quantity in ("nodes", "edges"):
                    error = 3.0 * np.hypot(library[f"{quantity}_error"], own[f"{quantity}_error"])
                    bound = max(0.01 * library[quantity], error)
                    assert abs(own[quantity] - library[quantity]) <= bound, (name, setting["batch"], semantics)


def test_errors_are_those_of_the_means(answer: Answer) -> None:
    for found in answer["graphs"].values():
        for setting in found["settings"]:
            for semantics in SEMANTICS:
                part = setting[semantics]
                off = part["corrected"]["nodes"] / part["library"]["nodes"] - 1
                # both counts are kept to four digits, so that each may be off by half a thousandth
                assert part["corrected"]["nodes_off"] == pytest.approx(off, abs=1.1e-3)


def test_words_of_the_answer(answer: Answer) -> None:
    summary = answer["summary"]
    assert all(found["first"]["nodes"] < 0.035 for found in summary.values())
    assert summary["debian"]["corrected"]["nodes"] < 0.2
    assert max(abs(window["corrected_here"]["nodes_off"]) for window in answer["windows"]) < 0.02
    ratios = answer["last_neighbors"]
    assert ratios["ours"] == pytest.approx(1.0, abs=0.01)
    assert ratios["DGL"] == pytest.approx(1.0, abs=0.01)
    assert ratios["PyG (torch_sparse)"] < 0.95


def test_own_sampler_draws_the_last_neighbors_as_often() -> None:
    assert samplers.last_neighbors(samplers.DRAWS["ours"]) == pytest.approx(1.0, abs=0.01)
