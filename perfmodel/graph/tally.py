"""Counting a stream of edges in bounded memory: degrees of both ends, loops, and whether edges run both ways."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.readers._base import Chunk, Ids, RelationKey

DENSE_LIMIT = 1 << 27  # ids below it index an array directly; larger ones are looked up
_SPARSE = 4  # ids that leave more than this many places per node seen are renumbered
_EDGE_ENDS = (0, 2)
Counts = NDArray[np.uint32]


class NodeLabels:
    """Labels 0, 1, 2, ... for the node keys of one type: small ids stand for themselves, others are numbered."""

    def __init__(self) -> None:
        self.size = 0
        self.looked_up = False
        self._direct = 0
        self._keys = np.zeros(0, dtype=np.int64)
        self._labels = np.zeros(0, dtype=np.int64)

    def label(self, keys: Ids) -> Ids:
        """Return the label of every key; keys not seen before get one."""
        if not keys.size:
            return keys
        if not self.looked_up:
            largest = int(keys.max())
            if largest < DENSE_LIMIT:
                self.size = max(self.size, largest + 1)
                return keys
            self.looked_up, self._direct = True, self.size
        direct = keys < self._direct
        labels = keys.copy()
        labels[~direct] = self._look_up(keys[~direct])
        return labels

    def _look_up(self, keys: Ids) -> Ids:
        distinct, inverse = np.unique(keys, return_inverse=True)
        place = np.searchsorted(self._keys, distinct)
        known = np.zeros(distinct.size, dtype=bool)
        inside = place < self._keys.size
        known[inside] = self._keys[place[inside]] == distinct[inside]
        labels = np.empty(distinct.size, dtype=np.int64)
        labels[known] = self._labels[place[known]]
        fresh = int((~known).sum())
        labels[~known] = np.arange(self.size, self.size + fresh)
        self.size += fresh
        if fresh:
            self._labels = np.insert(self._labels, place[~known], labels[~known])
            self._keys = np.insert(self._keys, place[~known], distinct[~known])
        return labels[inverse]


class Degrees:
    """How many edges end at every label; the array grows with the largest label."""

    def __init__(self) -> None:
        self._counts: Counts = np.zeros(0, dtype=np.uint32)

    def add(self, labels: Ids) -> None:
        """Count one edge at each label."""
        if not labels.size:
            return
        largest = int(labels.max())
        if largest >= self._counts.size:
            grown = np.zeros(max(largest + 1, min(2 * self._counts.size, DENSE_LIMIT)), dtype=np.uint32)
            grown[: self._counts.size] = self._counts
            self._counts = grown
        if largest < 4 * labels.size:
            self._counts[: largest + 1] += np.bincount(labels).astype(np.uint32)
        else:
            np.add.at(self._counts, labels, np.uint32(1))

    def counts(self, size: int) -> Counts:
        """Return the degrees of the first ``size`` labels [edge/node]."""
        if self._counts.size < size:
            self._counts = np.concatenate([self._counts, np.zeros(size - self._counts.size, dtype=np.uint32)])
        return self._counts[:size]


@dataclasses.dataclass
class RelationTally:
    """What is counted of one relation.

    Attributes
    ----------
    edges, loops : int
        ``loops`` counts edges from a node to itself.
    sources, targets : Degrees
    forward, backward : int
        Sum of a hash of (source, target), and of (target, source), modulo 2**64: equal sums mean that the edges are
        the same read in either direction.
    """

    edges: int = 0
    loops: int = 0
    sources: Degrees = dataclasses.field(default_factory=Degrees)
    targets: Degrees = dataclasses.field(default_factory=Degrees)
    forward: int = 0
    backward: int = 0


class Tally:
    """Counts of all relations of a graph.

    Parameters
    ----------
    held_edges : int
        Edges are also kept as long as there are no more than this many [edge].
    """

    def __init__(self, held_edges: int) -> None:
        self.labels: dict[str, NodeLabels] = {}
        self.relations: dict[RelationKey, RelationTally] = {}
        self.held: dict[RelationKey, list[tuple[NDArray[np.int32], NDArray[np.int32]]]] | None = {}
        self._held_edges = held_edges

    @property
    def edges(self) -> int:
        """Return the edges of all relations."""
        return sum(part.edges for part in self.relations.values())

    def add(self, chunk: Chunk) -> None:
        """Count the edges of one chunk."""
        key = chunk.relation
        source, target = (
            self.labels.setdefault(key[end], NodeLabels()).label(ids)
            for end, ids in zip(_EDGE_ENDS, (chunk.source, chunk.target), strict=True)
        )
        part = self.relations.setdefault(key, RelationTally())
        part.edges += source.size
        part.sources.add(source)
        part.targets.add(target)
        part.forward = (part.forward + _hash_sum(source, target)) % 2**64
        part.backward = (part.backward + _hash_sum(target, source)) % 2**64
        if key[0] == key[2]:
            part.loops += int((source == target).sum())
        if self.held is not None and self.edges > self._held_edges:
            self.held = None
        if self.held is not None:
            self.held.setdefault(key, []).append((source.astype(np.int32), target.astype(np.int32)))


def _hash_sum(first: Ids, second: Ids) -> int:
    """Return the sum of a hash of every ordered pair (the finalizer of MurmurHash3 over a mix of both)."""
    mixed = first.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += second.view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(33)
    return int(mixed.sum(dtype=np.uint64))


@dataclasses.dataclass(frozen=True, eq=False)
class Numbering:
    """The nodes of one type.

    Attributes
    ----------
    nodes : int
    kept : array of shape (labels,) or None
        Which labels are nodes; all where None.
    labels : int
        Number of labels; nodes without a label have no edges.
    """

    nodes: int
    kept: NDArray[np.bool_] | None
    labels: int

    def renumber(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return node numbers of labels."""
        if self.kept is None:
            return ids
        places = np.cumsum(self.kept, dtype=np.int32) - np.int32(1)
        return np.asarray(places[ids])


def number_nodes(labels: NodeLabels, degrees: Iterable[Degrees], known: int | None) -> Numbering:
    """Decide which labels are nodes.

    Where the file tells the number of nodes, ids are what they are. Otherwise ids from 0 (or from 1, where 0 never
    occurs) up to the largest are nodes, unless that leaves more than four places for each node with an edge: then
    only nodes with edges count.
    """
    size = labels.size
    if known is not None and not labels.looked_up:
        return Numbering(known, None, size)
    used = np.zeros(size, dtype=bool)
    for degree in degrees:
        used |= degree.counts(size) > 0
    count = int(used.sum())
    if known is not None:
        return Numbering(known, used, size)
    if labels.looked_up or size > _SPARSE * count:
        return Numbering(count, used, size)
    if size > 1 and used[1] and not used[0]:
        return Numbering(size - 1, np.arange(size) > 0, size)
    return Numbering(size, None, size)
