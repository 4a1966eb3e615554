"""PyG's NeighborLoader and DGL's NeighborSampler against our sampler and the expected mini-batch.

Skipped where they are not installed; with PERFMODEL_REQUIRE_SAMPLERS=1 a missing package fails.
"""

from __future__ import annotations

import importlib
import os
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfmodel.graph.minibatch import Seeds, Semantics, expected_minibatch
from perfmodel.graph.profile import DegreeProfile
from perfmodel.graph.sampler import Csc, sample, sample_heterogeneous

NODES = 20_000
BATCH = 256
Counts = NDArray[np.float64]  # one row per batch: nodes, edges


def installed(*names: str) -> list[Any]:
    """Import modules that warn while they load."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [importlib.import_module(name) for name in names]
    except ImportError as error:
        if os.environ.get("PERFMODEL_REQUIRE_SAMPLERS") == "1":
            raise
        pytest.skip(f"not installed: {error.name}")


@pytest.fixture(scope="module")
def pyg() -> types.SimpleNamespace:
    """Return torch and PyG's data and loader, drawing by torch_sparse."""
    torch, data, loader, _ = installed("torch", "torch_geometric.data", "torch_geometric.loader", "torch_sparse")
    return types.SimpleNamespace(torch=torch, data=data, loader=loader)


@pytest.fixture(scope="module")
def dgl() -> types.SimpleNamespace:
    """Return torch and DGL."""
    torch, package = installed("torch", "dgl")
    return types.SimpleNamespace(torch=torch, package=package)


@pytest.fixture(scope="module", params=["symmetrized pareto-2.1", "directed pareto-2.5", "directed lognormal-1.6"])
def graph(request: pytest.FixtureRequest, random_graphs: types.SimpleNamespace) -> tuple[Csc, DegreeProfile]:
    """Return a random graph and its profile."""
    shape, tail = request.param.split()
    rng = np.random.default_rng(11)
    if shape == "symmetrized":
        csc = random_graphs.symmetrized(tail, NODES, 15, rng)
    else:
        csc = random_graphs.directed(tail, NODES, 15, False, rng)
    return csc, random_graphs.exact_profile(csc, shape == "symmetrized")


def edge_index(csc: Csc) -> NDArray[np.int64]:
    """Return source and target of every edge."""
    target = np.repeat(np.arange(csc.nodes), csc.in_degree)
    return np.stack([csc.indices.astype(np.int64), target])


def epochs(batches: int, seed: int = 5) -> Iterator[NDArray[np.int64]]:
    """Yield seeds, each node about as often as every other."""
    rng = np.random.default_rng(seed)
    while batches > 0:
        order = rng.permutation(NODES)
        for first in range(0, min(NODES // BATCH, batches) * BATCH, BATCH):
            yield order[first : first + BATCH]
        batches -= NODES // BATCH


def own(csc: Csc, fanout: list[int], semantics: Semantics, replace: bool, batches: int) -> Counts:
    """Draw batches with our sampler, from the same seeds as the real one."""
    rng = np.random.default_rng(6)
    drawn = [sample(csc, seeds, fanout, semantics, replace, rng=rng) for seeds in epochs(batches)]
    return np.array([(sum(d.nodes_per_hop), sum(d.edges_per_hop)) for d in drawn], dtype=float)


def draw_pyg(pyg: types.SimpleNamespace, csc: Csc, fanout: list[int], replace: bool, batches: int) -> Counts:
    """Draw batches with PyG's loader."""
    torch = pyg.torch
    torch.manual_seed(0)
    graph = pyg.data.Data(edge_index=torch.from_numpy(edge_index(csc)), num_nodes=csc.nodes)
    order = torch.from_numpy(np.concatenate(list(epochs(batches))))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pyg-lib.*")
        loader = pyg.loader.NeighborLoader(
            graph, num_neighbors=fanout, batch_size=BATCH, input_nodes=order, replace=replace
        )
        return np.array([(batch.num_nodes, batch.num_edges) for batch in loader], dtype=float)


def draw_dgl(dgl: types.SimpleNamespace, csc: Csc, fanout: list[int], replace: bool, batches: int) -> Counts:
    """Draw batches with DGL's sampler."""
    torch = dgl.torch
    dgl.package.seed(0)
    source, target = torch.from_numpy(edge_index(csc))
    graph = dgl.package.graph((source, target), num_nodes=csc.nodes)
    sampler = dgl.package.dataloading.NeighborSampler(fanout, replace=replace)
    counts = []
    for seeds in epochs(batches):
        inputs, _, blocks = sampler.sample_blocks(graph, torch.from_numpy(seeds))
        counts.append((len(inputs), sum(block.num_edges() for block in blocks)))
    return np.array(counts, dtype=float)


def assert_alike(real: Counts, ours: Counts, expected: tuple[float, float], bound: float) -> None:
    """Hold ours to the real sampler by 1 % or three standard errors, and the expectation to ``bound``."""
    error = 3.0 * np.sqrt(real.var(axis=0) / len(real) + ours.var(axis=0) / len(ours))
    mean = real.mean(axis=0)
    assert (np.abs(ours.mean(axis=0) - mean) <= np.maximum(0.01 * mean, error)).all()
    assert expected == pytest.approx(tuple(mean), rel=bound)


CASES = [([10, 10], False), ([15, 10, 5], False), ([5, 5, 5, 5], False), ([10, 10], True), ([5, 5, 5], True)]
FULL_CASES = [([-1], False), ([-1, -1], False), ([-1, 10], False)]


@pytest.mark.parametrize(("fanout", "replace"), CASES + FULL_CASES, ids=str)
def test_pyg_loader(
    pyg: types.SimpleNamespace, graph: tuple[Csc, DegreeProfile], fanout: list[int], replace: bool
) -> None:
    csc, profile = graph
    real = draw_pyg(pyg, csc, fanout, replace, 156)
    ours = own(csc, fanout, "pyg", replace, 156)
    expected = expected_minibatch(profile, Seeds("node"), BATCH, fanout, "pyg", replace)
    assert_alike(real, ours, (expected.nodes, expected.edges), 0.06 if -1 in fanout else 0.02)


@pytest.mark.parametrize(("fanout", "replace"), CASES + FULL_CASES, ids=str)
def test_dgl_sampler(
    dgl: types.SimpleNamespace, graph: tuple[Csc, DegreeProfile], fanout: list[int], replace: bool
) -> None:
    csc, profile = graph
    fanout = fanout[::-1]
    real = draw_dgl(dgl, csc, fanout, replace, 156)
    ours = own(csc, fanout, "dgl", replace, 156)
    expected = expected_minibatch(profile, Seeds("node"), BATCH, fanout, "dgl", replace)
    assert_alike(real, ours, (expected.nodes, expected.edges), 0.06 if -1 in fanout else 0.02)


@pytest.mark.parametrize("fanout", [[10, 10], [5, 5, 5], [-1, 10]], ids=str)
@pytest.mark.parametrize("reverse", [True, False])
def test_pyg_loader_applies_the_fanout_to_each_relation(
    pyg: types.SimpleNamespace, random_graphs: types.SimpleNamespace, reverse: bool, fanout: list[int]
) -> None:
    relations, profile = random_graphs.typed("pareto-2.3", np.random.default_rng(3), reverse)
    data = pyg.data.HeteroData()
    for name, classes in profile.node_types.items():
        data[name].num_nodes = int(classes.nodes)
    for key, csc in relations.items():
        data[key].edge_index = pyg.torch.from_numpy(edge_index(csc))
    seeds = list(epochs(78))
    pyg.torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pyg-lib.*")
        loader = pyg.loader.NeighborLoader(
            data,
            num_neighbors=fanout,
            batch_size=BATCH,
            input_nodes=("paper", pyg.torch.from_numpy(np.concatenate(seeds))),
        )
        real = np.array([(batch.num_nodes, batch.num_edges) for batch in loader], dtype=float)
    rng = np.random.default_rng(6)
    drawn = [sample_heterogeneous(relations, {"paper": ids}, fanout, rng=rng) for ids in seeds]
    ours = np.array(
        [[sum(map(sum, part.values())) for part in (d.nodes_per_hop, d.edges_per_hop)] for d in drawn], dtype=float
    )
    expected = expected_minibatch(profile, Seeds("paper"), BATCH, fanout)
    assert_alike(real, ours, (expected.nodes, expected.edges), 0.06 if -1 in fanout else 0.02)


def test_own_sampler_draws_real_edges_once(graph: tuple[Csc, DegreeProfile]) -> None:
    csc, _ = graph
    drawn = sample(csc, np.arange(100), [10, 5], rng=np.random.default_rng(0))
    key = drawn.nodes[drawn.target] * NODES + drawn.nodes[drawn.source]
    source, target = edge_index(csc)
    assert np.isin(key, target * NODES + source).all()
    assert np.unique(key).size == key.size == sum(drawn.edges_per_hop)
    assert np.unique(drawn.nodes).size == drawn.nodes.size == sum(drawn.nodes_per_hop)
    assert drawn.nodes[:100].tolist() == list(range(100))
    assert drawn.target[: drawn.edges_per_hop[0]].max() < 100
    per_target = np.bincount(drawn.target[: drawn.edges_per_hop[0]], minlength=100)
    assert per_target.tolist() == np.minimum(csc.in_degree[:100], 10).tolist()


@pytest.mark.parametrize(("degree", "fanout"), [(6, 5), (12, 3), (20, 5), (21, 5), (400, 5)])
def test_own_sampler_is_uniform_without_replacement(degree: int, fanout: int) -> None:
    """Every neighbor is drawn as often; the count of each is binomial, so chi-square has mean about 1 per freedom."""
    seeds = np.arange(20_000)
    source = np.tile(np.arange(degree), seeds.size) + seeds.size
    csc = Csc.from_edges(source, np.repeat(seeds, degree), seeds.size + degree)
    drawn = sample(csc, seeds, [fanout], rng=np.random.default_rng(1))
    counts = np.bincount(drawn.nodes[drawn.source] - seeds.size, minlength=degree)
    chance = fanout / degree
    chi_square = ((counts - seeds.size * chance) ** 2).sum() / (seeds.size * chance * (1 - chance))
    assert abs(chi_square - (degree - 1)) < 5.0 * np.sqrt(2.0 * degree)
    pairs = drawn.target * degree + drawn.nodes[drawn.source]
    assert np.unique(pairs).size == pairs.size == seeds.size * fanout
