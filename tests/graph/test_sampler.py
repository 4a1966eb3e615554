"""A sampler that keeps its renaming table between mini-batches draws what one that starts anew would draw."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from perfmodel.errors import SpecError
from perfmodel.graph import sampler as module
from perfmodel.graph.minibatch import Semantics
from perfmodel.graph.sampler import Csc, Drawn, NeighborSampler, sample

PLANS: list[tuple[list[int], Semantics, bool]] = [
    ([10, 10], "pyg", False), ([5, 10, 15], "dgl", False), ([-1], "pyg", False), ([5, 5], "pyg", True), ([3, 3], "dgl", True),
    ([-1, -1, -1], "pyg", False), ([], "pyg", False),
]  # fmt: skip


@pytest.fixture(scope="module")
def csc(random_graphs: types.SimpleNamespace) -> Csc:
    graph: Csc = random_graphs.symmetrized("pareto-2.5", 3000, 8, np.random.default_rng(2))
    return graph


def batches(csc: Csc, count: int) -> list[NDArray[np.int64]]:
    """Return seeds of mini-batches that overlap, some of which are large, one empty."""
    rng = np.random.default_rng(3)
    sizes = [1, 100, 2000, 0, 64]
    return [rng.choice(csc.nodes, sizes[number % len(sizes)], replace=False) for number in range(count)]


def assert_same(one: Drawn, other: Drawn) -> None:
    for field in ("nodes", "source", "target", "nodes_per_hop", "edges_per_hop", "adjacency_per_hop"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


def assert_draws_anew(kept: NeighborSampler, csc: Csc, seeds: ArrayLike, fanout: list[int]) -> None:
    """Hold the next mini-batch to what a sampler draws that has drawn nothing before."""
    anew = sample(csc, seeds, fanout, rng=np.random.default_rng(9))
    assert_same(kept.sample(seeds, fanout, rng=np.random.default_rng(9)), anew)


def test_kept_tables_draw_what_new_ones_draw(csc: Csc) -> None:
    kept, (one, other) = NeighborSampler(csc), (np.random.default_rng(4) for _ in range(2))
    for number, seeds in enumerate(batches(csc, 25)):
        fanout, semantics, replace = PLANS[number % len(PLANS)]
        new = sample(csc, seeds, fanout, semantics, replace, rng=one)
        assert_same(kept.sample(seeds, fanout, semantics, replace, rng=other), new)
    assert one.bit_generator.state == other.bit_generator.state


def test_local_ids_are_those_of_the_batch_alone(csc: Csc) -> None:
    """Each node once, seeds first, and every drawn edge is an edge of the graph."""
    kept, rng = NeighborSampler(csc), np.random.default_rng(5)
    for seeds in batches(csc, 10):
        drawn = kept.sample(seeds, [5, 5], rng=rng)
        assert np.unique(drawn.nodes).size == drawn.nodes.size == sum(drawn.nodes_per_hop)
        np.testing.assert_array_equal(drawn.nodes[: seeds.size], seeds)
        assert drawn.source.size == drawn.target.size == sum(drawn.edges_per_hop)
        for source, target in zip(drawn.nodes[drawn.source][:50], drawn.nodes[drawn.target][:50], strict=True):
            assert source in csc.indices[csc.indptr[target] : csc.indptr[target + 1]]


def test_a_batch_stays_as_it_was_when_the_next_is_drawn(csc: Csc) -> None:
    kept, rng = NeighborSampler(csc), np.random.default_rng(6)
    first = kept.sample([1, 2, 3], [5, 5], rng=rng)
    held = [first.nodes.copy(), first.source.copy(), first.target.copy()]
    kept.sample([3, 2, 7], [5, 5], rng=rng)
    for before, after in zip(held, (first.nodes, first.source, first.target), strict=True):
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_after_a_broken_batch_the_next_is_right(csc: Csc, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing is broken off at some hop, or between finding new nodes and closing the hop."""
    kept = NeighborSampler(csc)
    kept.sample(np.arange(50), [5, 5, 5], rng=np.random.default_rng(7))
    whole, calls = module._neighbors, []

    def broken(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) > depth:
            raise MemoryError
        return whole(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_neighbors", broken)
        with pytest.raises(MemoryError):
            kept.sample(np.arange(100, 400), [5, 5, 5], rng=np.random.default_rng(8))
    assert len(calls) == depth + 1
    seeds = np.arange(80, 200)
    assert_draws_anew(kept, csc, seeds, [5, 5])


def test_after_nodes_found_but_not_kept_the_next_batch_is_right(csc: Csc, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = NeighborSampler(csc)
    close, calls = module._Found.close_hop, []

    def broken(found: Any) -> None:
        calls.append(None)
        if len(calls) > 1:
            raise KeyboardInterrupt
        close(found)

    with monkeypatch.context() as patch:
        patch.setattr(module._Found, "close_hop", broken)
        with pytest.raises(KeyboardInterrupt):
            kept.sample(np.arange(300), [5, 5], rng=np.random.default_rng(1))
    seeds = np.arange(150, 450)
    assert_draws_anew(kept, csc, seeds, [5, 5])


@pytest.mark.parametrize(
    ("seeds", "fanout", "semantics"),
    [([1, 2, 1], [5], "pyg"), ([1, 2], [5, -2], "pyg"), ([1, 2], [5], "gyp")],
)
def test_after_a_refused_batch_the_next_is_right(csc: Csc, seeds: list[int], fanout: list[int], semantics: Any) -> None:
    kept = NeighborSampler(csc)
    kept.sample([1, 4], [5], rng=np.random.default_rng(1))
    with pytest.raises(SpecError):
        kept.sample(seeds, fanout, semantics, rng=np.random.default_rng(1))
    assert_draws_anew(kept, csc, [4, 2, 1], [5])


def test_after_a_seed_that_no_node_is_the_next_batch_is_right(csc: Csc) -> None:
    kept = NeighborSampler(csc)
    with pytest.raises(IndexError):
        kept.sample([1, 2, csc.nodes], [5], rng=np.random.default_rng(1))
    assert_draws_anew(kept, csc, [4, 2, 1], [5])


@pytest.mark.parametrize("number", range(16))
def test_after_a_batch_that_broke_off_anywhere_the_next_is_right(
    csc: Csc, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory runs out at one ``arange`` after another, also between writing to the table and noting what was written."""

    class Scarce:
        calls = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def arange(self, *arguments: Any) -> Any:
            self.calls += 1
            if self.calls > number:
                raise MemoryError
            return np.arange(*arguments)

    kept = NeighborSampler(csc)
    with monkeypatch.context() as patch:
        patch.setattr(module, "np", Scarce())
        with pytest.raises(MemoryError):
            kept.sample(np.arange(100, 400), [5, 5, 5, 5], rng=np.random.default_rng(8))
    seeds = np.arange(1000)
    assert_draws_anew(kept, csc, seeds, [5, 5])


def test_the_table_holds_the_batch_and_nothing_else(csc: Csc) -> None:
    kept = NeighborSampler(csc)
    found = kept._found["node"]
    for seeds in batches(csc, 5):
        kept.sample(seeds, [5], rng=np.random.default_rng(1))
        np.testing.assert_array_equal(np.flatnonzero(found._local), np.sort(found.ids))
    found.clear()
    assert not found._local.any()
