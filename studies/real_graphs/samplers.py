"""Draws the same batches with our sampler, with PyG's NeighborLoader and with DGL's NeighborSampler."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.sampler import Csc, RelationKey, sample_heterogeneous

Ids = NDArray[np.int64]
Counts = NDArray[np.float64]  # one row per batch: nodes, edges
Edges = Mapping[RelationKey, tuple[Ids, Ids]]
Semantics = Literal["pyg", "dgl"]
SEMANTICS: Final[tuple[Semantics, ...]] = ("pyg", "dgl")


def numbered(rows: Sequence[tuple[str, str, str]]) -> tuple[Edges, int]:
    """Give the nodes of (source, relation, target) rows numbers; returns edges by relation, and how many nodes."""
    names = sorted({name for source, _, target in rows for name in (source, target)})
    place = {name: index for index, name in enumerate(names)}
    by_relation: dict[str, list[tuple[int, int]]] = {}
    for source, relation, target in rows:
        by_relation.setdefault(relation, []).append((place[source], place[target]))
    arrays = {relation: np.array(pairs, dtype=np.int64).T for relation, pairs in sorted(by_relation.items())}
    return {("node", name, "node"): (pairs[0], pairs[1]) for name, pairs in arrays.items()}, len(names)


def both_ways(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Add the reverse of every row; rows that are there already stay single."""
    return sorted({*rows, *((target, relation, source) for source, relation, target in rows)})


def seed_sets(nodes: int, batch: int, batches: int) -> Iterator[Ids]:
    """Yield the seeds of every batch, uniform over the nodes."""
    rng = np.random.default_rng(1)
    for _ in range(batches):
        yield rng.choice(nodes, size=min(batch, nodes), replace=False, shuffle=False)


def draw_own(edges: Edges, nodes: int, seeds: Iterator[Ids], fanout: Sequence[int], semantics: Semantics) -> Counts:
    """Draw with the sampler of ``perfmodel.graph``."""
    relations = {key: Csc.from_edges(source, target, nodes) for key, (source, target) in edges.items()}
    rng = np.random.default_rng(2)
    drawn = [sample_heterogeneous(relations, {"node": ids}, fanout, semantics, rng=rng) for ids in seeds]
    return np.array([(len(one.nodes["node"]), sum(map(sum, one.edges_per_hop.values()))) for one in drawn], dtype=float)


def draw_pyg(edges: Edges, nodes: int, seeds: Iterator[Ids], fanout: Sequence[int]) -> Counts:
    """Draw with PyG's loader; a graph of several relations is a ``HeteroData``."""
    torch, data, loaders, _ = _modules("torch", "torch_geometric.data", "torch_geometric.loader", "torch_sparse")
    torch.manual_seed(0)
    ids = list(seeds)
    inputs: Any = torch.from_numpy(np.concatenate(ids))
    if len(edges) == 1:
        (pair,) = edges.values()
        graph = data.Data(edge_index=torch.from_numpy(np.stack(pair)), num_nodes=nodes)
    else:
        graph = data.HeteroData()
        graph["node"].num_nodes = nodes
        for key, pair in edges.items():
            graph[key].edge_index = torch.from_numpy(np.stack(pair))
        inputs = ("node", inputs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pyg-lib.*")
        loader = loaders.NeighborLoader(graph, num_neighbors=list(fanout), batch_size=len(ids[0]), input_nodes=inputs)
        return np.array([(batch.num_nodes, batch.num_edges) for batch in loader], dtype=float)


def draw_dgl(edges: Edges, nodes: int, seeds: Iterator[Ids], fanout: Sequence[int]) -> Counts:
    """Draw with DGL's sampler; ``fanout`` is listed from the input side."""
    torch, dgl = _modules("torch", "dgl")
    dgl.seed(0)
    ends = {key: (torch.from_numpy(source), torch.from_numpy(target)) for key, (source, target) in edges.items()}
    graph = dgl.heterograph(ends, num_nodes_dict={"node": nodes})
    sampler = dgl.dataloading.NeighborSampler(list(fanout))
    counts = []
    for ids in seeds:
        inputs, _, blocks = sampler.sample_blocks(graph, {"node": torch.from_numpy(ids)})
        found = inputs["node"] if isinstance(inputs, dict) else inputs
        counts.append((len(found), sum(block.num_edges() for block in blocks)))
    return np.array(counts, dtype=float)


DRAWS: Final[Mapping[str, Callable[[Edges, int, Iterator[Ids], Sequence[int]], Counts]]] = {
    "ours": lambda edges, nodes, seeds, fanout: draw_own(edges, nodes, seeds, fanout, "pyg"),
    "PyG (torch_sparse)": draw_pyg,
    "DGL": draw_dgl,
}


def last_neighbors(draw: Callable[[Edges, int, Iterator[Ids], Sequence[int]], Counts]) -> float:
    """Return how often a sampler draws the last 5 of 20 neighbors, over 5 draws without replacement being uniform.

    Every seed shares its first 15 neighbors with all others and has the last 5 for itself, so that the nodes of a batch
    count the draws of those.
    """
    seeds, shared, own, fanout, batches = 2000, 15, 5, 5, 50
    nodes = seeds + shared + own * seeds
    common = seeds + np.tile(np.arange(shared), (seeds, 1))
    private = seeds + shared + np.arange(own * seeds).reshape(seeds, own)
    source = np.concatenate([common, private], axis=1).ravel()
    edges: Edges = {("node", "edge", "node"): (source, np.repeat(np.arange(seeds), shared + own))}
    drawn = draw(edges, nodes, (np.arange(seeds) for _ in range(batches)), [fanout])
    private_drawn = drawn[:, 0].mean() - seeds - shared
    return float(private_drawn / (seeds * own * fanout / (shared + own)))


def _modules(*names: str) -> list[Any]:
    """Import modules that warn while they load."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [importlib.import_module(name) for name in names]
