"""A plain neighbor sampler: real mini-batches from real adjacency, to hold the expected ones against and to train on.

Neighbors are drawn uniformly; without replacement a node of at most ``fanout`` neighbors keeps all of them. With
replacement every node that has neighbors draws exactly ``fanout``, and repeated edges count, as in both libraries. The
two semantics are those of ``minibatch``: PyG expands what the last hop found and lists fanouts from the seeds outward,
DGL expands all nodes so far again and lists them from the input side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perfmodel.errors import SpecError

Ids = NDArray[np.integer]
RelationKey = tuple[str, str, str]

_KEYED = 4  # up to this many times the fanout, a row's neighbors are ranked by random keys; above, drawn and redrawn
_CELLS = 1 << 22  # random keys held at a time
_ONLY: RelationKey = ("node", "edge", "node")


@dataclasses.dataclass(frozen=True, eq=False)
class Csc:
    """Adjacency by target: the neighbors of node ``v`` are ``indices[indptr[v]:indptr[v + 1]]``.

    Attributes
    ----------
    indptr : array of shape (targets + 1,)
    indices : array of shape (edges,)
        Source node of each edge; repeated edges are kept.
    sources : int
        Number of source nodes.
    """

    indptr: Ids
    indices: Ids
    sources: int

    @classmethod
    def from_edges(cls, source: ArrayLike, target: ArrayLike, nodes: int, sources: int | None = None) -> Csc:
        """Sort an edge list by target, with 8 bytes per edge beside the result.

        Parameters
        ----------
        source, target : array of shape (edges,)
        nodes : int
            Number of target nodes.
        sources : int, optional
            Number of source nodes where they are of another type.

        Examples
        --------
        >>> Csc.from_edges([2, 1, 0], [0, 0, 1], 3).indices.tolist()
        [1, 2, 0]
        """
        sources = nodes if sources is None else sources
        key = np.array(target, dtype=np.int64).ravel()
        counts = np.bincount(key, minlength=nodes)
        if counts.size > nodes:
            raise SpecError("target", f"node ids must be below the number of nodes, {nodes}", int(key.max()))
        key *= sources
        key += np.asarray(source).ravel()
        key.sort()
        np.remainder(key, max(sources, 1), out=key)
        indptr = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(counts, out=indptr[1:])
        return cls(indptr, key.astype(np.int32 if sources < 2**31 else np.int64), sources)

    @property
    def nodes(self) -> int:
        """Return the number of target nodes."""
        return int(self.indptr.size) - 1

    @property
    def edges(self) -> int:
        """Return the number of edges."""
        return int(self.indices.size)

    @property
    def in_degree(self) -> NDArray[np.int64]:
        """Return the number of neighbors of every target node [edge/node]."""
        return np.diff(self.indptr).astype(np.int64, copy=False)

    @property
    def out_degree(self) -> NDArray[np.int64]:
        """Return how often every source node is a neighbor [edge/node]."""
        return np.bincount(self.indices, minlength=self.sources)


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """A sampled mini-batch of a graph with one node type.

    Attributes
    ----------
    nodes : array
        Global id of every node, in the order found: local id ``i`` is ``nodes[i]``, seeds first.
    source, target : array
        Local ids of every drawn edge, hop after hop; grouped by target within a hop.
    nodes_per_hop : tuple of int
        Nodes seen for the first time; the seeds come first, so it is one longer than ``edges_per_hop`` [node].
    edges_per_hop : tuple of int
        Edges drawn [edge].
    adjacency_per_hop : tuple of int
        Length of the neighbor lists of all nodes that the hop expanded [edge].
    """

    nodes: Ids
    source: Ids
    target: Ids
    nodes_per_hop: tuple[int, ...]
    edges_per_hop: tuple[int, ...]
    adjacency_per_hop: tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnTyped:
    """A sampled mini-batch of a heterogeneous graph: the fields of ``Drawn`` by node type and by relation."""

    nodes: Mapping[str, Ids]
    source: Mapping[RelationKey, Ids]
    target: Mapping[RelationKey, Ids]
    nodes_per_hop: Mapping[str, tuple[int, ...]]
    edges_per_hop: Mapping[RelationKey, tuple[int, ...]]
    adjacency_per_hop: Mapping[RelationKey, tuple[int, ...]]


def sample(
    csc: Csc,
    seeds: ArrayLike,
    fanout: Sequence[int],
    semantics: Literal["pyg", "dgl"] = "pyg",
    replace: bool = False,
    *,
    rng: np.random.Generator,
) -> Drawn:
    """Draw one mini-batch.

    Parameters
    ----------
    csc : Csc
        The graph.
    seeds : array of int
        Global ids to start from, each once.
    fanout : sequence of int
        Neighbors per node and hop in the order of ``semantics``; -1 keeps all.
    semantics : {"pyg", "dgl"}
        Whose sampler.
    replace : bool
        Draw neighbors with replacement.
    rng : numpy.random.Generator

    Returns
    -------
    Drawn

    Raises
    ------
    SpecError
        A fanout below -1 or a seed given twice.

    Examples
    --------
    >>> ring = Csc.from_edges([1, 2, 3, 0], [0, 1, 2, 3], 4)
    >>> sample(ring, [0], [5, 5], rng=np.random.default_rng(0)).nodes.tolist()
    [0, 1, 2]
    """
    return NeighborSampler(csc).sample(seeds, fanout, semantics, replace, rng=rng)


class NeighborSampler:
    """Draws mini-batches of one graph after another, and keeps its renaming table (8 bytes a node) between them."""

    def __init__(self, csc: Csc) -> None:
        self._relations = {_ONLY: csc}
        self._found = {name: _Found(size) for name, size in _sizes(self._relations).items()}

    def sample(
        self,
        seeds: ArrayLike,
        fanout: Sequence[int],
        semantics: Literal["pyg", "dgl"] = "pyg",
        replace: bool = False,
        *,
        rng: np.random.Generator,
    ) -> Drawn:
        """Draw one mini-batch, as the function `sample` does."""
        drawn = _walked(self._relations, self._found, {"node": seeds}, fanout, semantics, replace, rng)
        return Drawn(
            drawn.nodes["node"],
            drawn.source[_ONLY],
            drawn.target[_ONLY],
            drawn.nodes_per_hop["node"],
            drawn.edges_per_hop[_ONLY],
            drawn.adjacency_per_hop[_ONLY],
        )


def sample_heterogeneous(
    relations: Mapping[RelationKey, Csc],
    seeds: Mapping[str, ArrayLike],
    fanout: Sequence[int] | Mapping[RelationKey, Sequence[int]],
    semantics: Literal["pyg", "dgl"] = "pyg",
    replace: bool = False,
    *,
    rng: np.random.Generator,
) -> DrawnTyped:
    """Draw one mini-batch of a graph with several node types; the fanout applies to each relation.

    Parameters
    ----------
    relations : mapping of (source type, name, target type) to Csc
    seeds : mapping of node type to array of int
    fanout : sequence of int, or one per relation
        Neighbors per node, relation and hop in the order of ``semantics``; -1 keeps all.
    semantics, replace, rng
        As in `sample`.

    Returns
    -------
    DrawnTyped
    """
    found = {name: _Found(size) for name, size in _sizes(relations).items()}
    return _walked(relations, found, seeds, fanout, semantics, replace, rng)


def _walked(
    relations: Mapping[RelationKey, Csc],
    found: Mapping[str, _Found],
    seeds: Mapping[str, ArrayLike],
    fanout: Sequence[int] | Mapping[RelationKey, Sequence[int]],
    semantics: Literal["pyg", "dgl"],
    replace: bool,
    rng: np.random.Generator,
) -> DrawnTyped:
    plan = _walking_order(relations, fanout, semantics)
    for nodes in found.values():
        nodes.clear()
    for name, ids in seeds.items():
        found[name].start(np.asarray(ids))
    for nodes in found.values():
        nodes.close_hop()
    edges: dict[RelationKey, list[tuple[Ids, Ids]]] = {key: [] for key in relations}
    adjacency: dict[RelationKey, list[int]] = {key: [] for key in relations}
    for depth in range(len(next(iter(plan.values()), []))):
        expanded = {name: nodes.frontier(semantics) for name, nodes in found.items()}
        for key, csc in relations.items():
            first, last = expanded[key[2]]
            rows = found[key[2]].ids[first:last]
            neighbors, counts = _neighbors(csc, rows, plan[key][depth], replace, rng)
            target = np.repeat(np.arange(first, last), counts)
            edges[key].append((found[key[0]].local(neighbors), target))
            adjacency[key].append(int((csc.indptr[rows + 1] - csc.indptr[rows]).sum()))
        for nodes in found.values():
            nodes.close_hop()
    empty = np.zeros(0, dtype=np.int64)
    return DrawnTyped(
        {name: nodes.ids for name, nodes in found.items()},
        {key: np.concatenate([empty, *(source for source, _ in parts)]) for key, parts in edges.items()},
        {key: np.concatenate([empty, *(target for _, target in parts)]) for key, parts in edges.items()},
        {name: tuple(np.diff(nodes.bounds).tolist()) for name, nodes in found.items()},
        {key: tuple(int(source.size) for source, _ in parts) for key, parts in edges.items()},
        {key: tuple(lengths) for key, lengths in adjacency.items()},
    )


class _Found:
    """The nodes of one type found so far, their local ids, and where each hop ends."""

    def __init__(self, size: int) -> None:
        self.ids = np.zeros(0, dtype=np.int64)
        self.bounds = [0]
        self._local = np.zeros(size, dtype=np.int64)  # local id + 1; pages that stay zero are never touched
        self._fresh: list[Ids] = []
        self._count = 0

    def clear(self) -> None:
        """Forget the nodes of the last mini-batch, also where drawing it was broken off."""
        for touched in (self.ids, *self._fresh):
            self._local[touched] = 0
        self.ids, self.bounds, self._fresh, self._count = np.zeros(0, dtype=np.int64), [0], [], 0

    def start(self, seeds: Ids) -> None:
        if np.unique(seeds).size != seeds.size:
            raise SpecError("seeds", "every seed must be given once", f"{seeds.size - np.unique(seeds).size} repeats")
        self.local(seeds.astype(np.int64))

    def local(self, ids: Ids) -> Ids:
        """Return local ids; nodes not seen before get the next ones, in the order they first appear."""
        fresh = ids[self._local[ids] == 0]
        if fresh.size:
            self._fresh.append(fresh)  # noted before the table is written to, for `clear` to find
            order = np.arange(fresh.size, 0, -1)
            self._local[fresh[::-1]] = order[::-1]
            fresh = fresh[self._local[fresh] == order]
            self._local[fresh] = np.arange(self._count + 1, self._count + fresh.size + 1)
            self._count += int(fresh.size)
            self._fresh[-1] = fresh
        return self._local[ids] - 1

    def close_hop(self) -> None:
        self.ids = np.concatenate([self.ids, *self._fresh])
        self.bounds.append(self._count)
        self._fresh = []

    def frontier(self, semantics: str) -> tuple[int, int]:
        """Return the local ids to expand, from and to."""
        return (self.bounds[-2] if semantics == "pyg" else 0), self.bounds[-1]


def _walking_order(
    relations: Mapping[RelationKey, Csc], fanout: Sequence[int] | Mapping[RelationKey, Sequence[int]], semantics: str
) -> dict[RelationKey, list[int]]:
    if semantics not in ("pyg", "dgl"):
        raise SpecError("semantics", "must be pyg or dgl", semantics)
    plan = {key: list(fanout[key] if isinstance(fanout, Mapping) else fanout) for key in relations}
    if len({len(hops) for hops in plan.values()}) > 1:
        raise SpecError("fanout", "every relation must have as many hops", {k: len(v) for k, v in plan.items()})
    for hops in plan.values():
        if min(hops, default=0) < -1:
            raise SpecError("fanout", "must be -1 (all neighbors) or at least 0", min(hops))
    return plan if semantics == "pyg" else {key: hops[::-1] for key, hops in plan.items()}


def _sizes(relations: Mapping[RelationKey, Csc]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for (source, _, target), csc in relations.items():
        for name, size in ((source, csc.sources), (target, csc.nodes)):
            if sizes.setdefault(name, size) != size:
                raise SpecError(f"relations.{name}", f"must have {sizes[name]} nodes in every relation", size)
    return sizes


def _neighbors(csc: Csc, rows: Ids, fanout: int, replace: bool, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Draw neighbors of every row; returns their global ids, row after row, and how many each row has."""
    start = csc.indptr[rows]
    degree = csc.indptr[rows + 1] - start
    if fanout < 0:
        counts, partial = degree, np.zeros(rows.size, dtype=bool)
    elif replace:
        counts, partial = np.where(degree > 0, fanout, 0), degree > 0
    else:
        counts, partial = np.minimum(degree, fanout), degree > fanout
    position = np.cumsum(counts) - counts
    offset = np.arange(int(counts.sum())) - np.repeat(position, counts)
    if partial.any() and fanout > 0:
        pick = _with_replacement if replace else _without_replacement
        offset[position[partial][:, None] + np.arange(fanout)] = pick(degree[partial], fanout, rng)
    return csc.indices[np.repeat(start, counts) + offset].astype(np.int64, copy=False), counts


def _with_replacement(degree: Ids, fanout: int, rng: np.random.Generator) -> Ids:
    return (rng.random((degree.size, fanout)) * degree[:, None]).astype(np.int64)


def _without_replacement(degree: Ids, fanout: int, rng: np.random.Generator) -> Ids:
    """Draw ``fanout`` distinct offsets below each degree, every subset as likely; needs ``degree > fanout``."""
    picked = np.empty((degree.size, fanout), dtype=np.int64)
    keyed = np.flatnonzero(degree <= _KEYED * fanout)
    width = _KEYED * fanout
    for rows in np.array_split(keyed, max(1, -(-keyed.size * width // _CELLS))):
        keys = rng.random((rows.size, width), dtype=np.float32)
        keys[np.arange(width) >= degree[rows, None]] = 2.0
        picked[rows] = np.argpartition(keys, fanout - 1, axis=1)[:, :fanout]
    drawn = np.flatnonzero(degree > _KEYED * fanout)
    picked[drawn] = _redrawn(degree[drawn], fanout, rng)
    return picked


def _redrawn(degree: Ids, fanout: int, rng: np.random.Generator) -> Ids:
    """Draw with replacement, then draw repeats anew until none is left: by symmetry every subset is as likely."""
    picked = _with_replacement(degree, fanout, rng)
    rows = np.arange(degree.size)
    while rows.size:
        part = np.sort(picked[rows], axis=1)
        repeat = np.zeros(part.shape, dtype=bool)
        repeat[:, 1:] = part[:, 1:] == part[:, :-1]
        again = repeat.any(axis=1)
        rows, part, repeat = rows[again], part[again], repeat[again]
        part[repeat] = (rng.random(int(repeat.sum())) * np.repeat(degree[rows], repeat.sum(axis=1))).astype(np.int64)
        picked[rows] = part
    return picked
