"""From a graph file to its degree profile, with the clustering correction that real batches ask for."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError, nearest
from perfmodel.graph.classes import joint_classes
from perfmodel.graph.clustering import Drawing, MeasuredHop, measure_reach
from perfmodel.graph.minibatch import Semantics
from perfmodel.graph.profile import DegreeProfile, NodeClasses, Relation
from perfmodel.graph.readers._base import EdgeStream, RelationKey, checked_file, open_edges
from perfmodel.graph.sampler import Csc
from perfmodel.graph.tally import DENSE_LIMIT, Counts, Numbering, Tally, number_nodes

MAX_EDGES_IN_MEMORY = 60_000_000
_PIECE = 1 << 22
_FEW_RELATIONS = 8
_MOST_DEGREES = 100_000_000  # of more relations than a few: nodes at either end, over all relations
Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class MeasuredGraph:
    """A real graph, as far as the model needs it.

    Attributes
    ----------
    nodes, edges : int
        Of all types and relations; every edge is counted in the direction that it is stored in [node], [edge].
    mean_degree, degree_cv, max_degree : float
        Of the in-degree, from which a sampler draws: mean [edge/node], standard deviation over mean, maximum.
    profile : DegreeProfile
        Joint degree classes by node type and relation, ``reach`` included.
    symmetric : bool
        Every relation is stored in both directions, by itself or as another relation.
    self_loops, isolated : int
        Edges from a node to itself [edge]; nodes without edges [node].
    repeated_edges : int or None
        Edges that are there already [edge]; not known of graphs above the memory limit.
    reach : tuple of float
        Correction for clustering by hop [node/seed]; empty where it was not measured.
    hops : tuple of MeasuredHop
        What it was measured on; empty likewise.
    sha256 : str
        Of the file.
    warnings : tuple of str
    """

    nodes: int
    edges: int
    mean_degree: float
    degree_cv: float
    max_degree: int
    profile: DegreeProfile
    symmetric: bool
    self_loops: int
    isolated: int
    repeated_edges: int | None
    reach: tuple[float, ...]
    hops: tuple[MeasuredHop, ...]
    sha256: str
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class _Graph:
    """Degrees by relation end, and the adjacency where it fits."""

    nodes: Mapping[str, int]
    targets: Mapping[RelationKey, Counts]
    sources: Mapping[RelationKey, Counts]
    twins: Mapping[RelationKey, RelationKey]
    loops: int
    adjacency: Mapping[RelationKey, Csc] | None


def measure_graph(
    path: str | Path,
    *,
    progress: Progress | None = None,
    batch: int = 1024,
    fanout: Sequence[int] = (15, 10, 5),
    semantics: Semantics = "pyg",
    symmetrize: bool = False,
    seed: int = 0,
    max_edges_in_memory: int = MAX_EDGES_IN_MEMORY,
    seed_type: str | None = None,
) -> MeasuredGraph:
    """Profile a graph file and measure its correction for clustering.

    Parameters
    ----------
    path : str or Path
        In any format of ``readers``.
    progress : callable of (done bytes, total bytes), optional
    batch : int
        Seeds of the batches that the correction is measured on [node].
    fanout : sequence of int
        Their neighbors per node, relation and hop, in the order of ``semantics``.
    semantics : {"pyg", "dgl"}
    symmetrize : bool
        Add the reverse of every edge to a graph of one relation; edges that are there already stay single.
    seed : int
        Of the random batches.
    max_edges_in_memory : int
        Above it the graph is only counted, and the correction is left out [edge].
    seed_type : str, optional
        Node type of the seeds; the target type of most edges where not given.

    Returns
    -------
    MeasuredGraph

    Raises
    ------
    SpecError
        A file that can't be read, or arguments that don't fit the graph.
    """
    drawing = _drawing(batch, fanout, semantics, seed)
    file = checked_file(path)
    stream = open_edges(file)
    tally = _count(stream, max_edges_in_memory, progress, str(path))
    warnings = list(stream.warnings)
    graph = _number(tally, stream, warnings, str(path))
    if symmetrize:
        graph = _symmetrized(graph, str(path), max_edges_in_memory, warnings)
    profile = _profile(graph)
    reach: tuple[float, ...] = ()
    hops: tuple[MeasuredHop, ...] = ()
    if graph.adjacency is not None:
        drawing = dataclasses.replace(drawing, node_type=_seed_type(graph, seed_type))
        reach, hops = measure_reach(profile, graph.adjacency, drawing)
    return _summary(graph, dataclasses.replace(profile, reach=reach), hops, _sha256(file), warnings)


def _drawing(batch: int, fanout: Sequence[int], semantics: Semantics, seed: int) -> Drawing:
    hops = tuple(fanout)
    for name, value, least in (("batch", batch, 1), ("seed", seed, 0), ("fanout", min(hops, default=-2), -1)):
        if not isinstance(value, int) or value < least:
            got = hops if name == "fanout" else value
            rule = "must be whole numbers of at least -1 (all neighbors), one per hop" if name == "fanout" else None
            raise SpecError(name, rule or f"must be a whole number of at least {least}", got, str(least))
    if semantics not in get_args(Semantics):
        raise SpecError("semantics", "must be pyg or dgl", semantics, nearest(semantics, get_args(Semantics)))
    return Drawing("", batch, hops, semantics, seed)


def _count(stream: EdgeStream, held: int, progress: Progress | None, where: str) -> Tally:
    tally = Tally(held if stream.least_edges <= held else 0)
    for chunk in stream.chunks:
        tally.add(chunk)
        places = sum(tally.labels[key[end]].size for key in tally.relations for end in (0, 2))
        if len(tally.relations) > _FEW_RELATIONS and places > _MOST_DEGREES:
            rule = f"all relations together must have at most {_MOST_DEGREES:.0e} degrees; drop the relation column"
            raise SpecError(where, rule, f"{len(tally.relations)} relations and {places} degrees so far")
        if progress is not None:
            progress(chunk.done_bytes, stream.total_bytes)
    if not tally.edges:
        raise SpecError(where, "must hold edges", "none")
    if progress is not None:
        progress(stream.total_bytes, stream.total_bytes)
    return tally


def _number(tally: Tally, stream: EdgeStream, warnings: list[str], where: str) -> _Graph:
    numbering: dict[str, Numbering] = {}
    for name, labels in tally.labels.items():
        ends = [part.sources for key, part in tally.relations.items() if key[0] == name]
        ends += [part.targets for key, part in tally.relations.items() if key[2] == name]
        numbering[name] = number_nodes(labels, ends, stream.node_counts.get(name))
    nodes = {name: number.nodes for name, number in numbering.items()}
    nodes |= {name: count for name, count in stream.node_counts.items() if name not in nodes}
    held = tally.held
    if held is None:
        warnings.append(f"{where}: {tally.edges} edges are above the memory limit: no correction for clustering")
    elif max(nodes.values()) > DENSE_LIMIT:
        warnings.append(f"{where}: {max(nodes.values())} nodes are too many to draw from: no correction for clustering")
        held = None
    adjacency = None if held is None else {key: _csc(held.pop(key), key, numbering) for key in list(held)}
    return _Graph(
        nodes,
        {key: _degrees(part.targets.counts, numbering[key[2]]) for key, part in tally.relations.items()},
        {key: _degrees(part.sources.counts, numbering[key[0]]) for key, part in tally.relations.items()},
        _twins(tally),
        sum(part.loops for part in tally.relations.values()),
        adjacency,
    )


def _degrees(counts: Callable[[int], Counts], number: Numbering) -> Counts:
    labeled = counts(number.labels)
    return labeled if number.kept is None else labeled[number.kept]


def _csc(
    held: list[tuple[NDArray[np.int32], NDArray[np.int32]]], key: RelationKey, numbering: Mapping[str, Numbering]
) -> Csc:
    source = numbering[key[0]].renumber(np.concatenate([part[0] for part in held]))
    target = numbering[key[2]].renumber(np.concatenate([part[1] for part in held]))
    held.clear()
    return Csc.from_edges(source, target, numbering[key[2]].nodes, numbering[key[0]].nodes)


def _twins(tally: Tally) -> dict[RelationKey, RelationKey]:
    """Map every relation that is stored in reverse as well to the one it is the reverse of, maybe itself."""
    twins: dict[RelationKey, RelationKey] = {}
    for key, part in tally.relations.items():
        for other, reverse in tally.relations.items():
            fits = (other[0], other[2]) == (key[2], key[0]) and part.edges == reverse.edges
            if fits and part.forward == reverse.backward and twins.get(other, key) == key and key not in twins:
                twins[key] = other
                twins[other] = key
    return twins


def _symmetrized(graph: _Graph, where: str, limit: int, warnings: list[str]) -> _Graph:
    if len(graph.targets) != 1 or len(graph.nodes) != 1:
        raise SpecError("symmetrize", "must be left out for several relations", f"{len(graph.targets)} relations")
    (key,), (nodes,) = graph.targets, graph.nodes.values()
    if graph.twins.get(key) == key:
        return graph
    twins = {key: key}
    if graph.adjacency is None or 2 * graph.adjacency[key].edges > limit:
        warnings.append(f"{where}: above the memory limit, edges stored in both directions are counted twice")
        counts = graph.targets[key] + graph.sources[key]
        return dataclasses.replace(graph, targets={key: counts}, sources={key: counts}, twins=twins, adjacency=None)
    csc = graph.adjacency[key]
    source, target = csc.indices.astype(np.int64), np.repeat(np.arange(nodes), csc.in_degree)
    pairs = np.concatenate([source * nodes + target, target * nodes + source])
    pairs.sort()
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    both = Csc.from_edges(pairs // nodes, pairs % nodes, nodes)
    degree = both.in_degree.astype(np.uint32)
    loops = int((pairs // nodes == pairs % nodes).sum())
    return _Graph(graph.nodes, {key: degree}, {key: degree}, twins, loops, {key: both})


def _slots(graph: _Graph) -> dict[RelationKey, tuple[str, str]]:
    """Name the source and target slot of every relation; a relation and its reverse share theirs."""
    slots: dict[RelationKey, tuple[str, str]] = {}
    alone = len(graph.targets) == 1 and len(graph.nodes) == 1
    for key in graph.targets:
        twin = graph.twins.get(key)
        if twin is not None and twin in slots:
            slots[key] = (slots[twin][1], slots[twin][0])
            continue
        name = "" if alone else f"{key[1]}:" if key[0] == key[2] else f"{key[0]}-{key[1]}-{key[2]}:"
        slots[key] = (f"{name}in", f"{name}in") if twin == key else (f"{name}out", f"{name}in")
    return slots


def _profile(graph: _Graph) -> DegreeProfile:
    slots = _slots(graph)
    relations = tuple(Relation(key[0], key[1], key[2], *slots[key]) for key in graph.targets)
    columns: dict[str, dict[str, Counts]] = {name: {} for name in graph.nodes}
    for key, (source_slot, target_slot) in slots.items():
        columns[key[2]].setdefault(target_slot, graph.targets[key])
        columns[key[0]].setdefault(source_slot, graph.sources[key])
    types = {}
    for name, degrees in columns.items():
        if not degrees:
            types[name] = NodeClasses(float(graph.nodes[name]), np.ones(1), {})
            continue
        share, mean = joint_classes(list(degrees.values()), graph.nodes[name])
        by_slot = {slot: np.ascontiguousarray(mean[:, column]) for column, slot in enumerate(degrees)}
        types[name] = NodeClasses(float(graph.nodes[name]), share, by_slot)
    return DegreeProfile(types, relations)


def _seed_type(graph: _Graph, asked: str | None) -> str:
    entered: dict[str, int] = {}
    for key, counts in graph.targets.items():
        entered[key[2]] = entered.get(key[2], 0) + int(counts.sum(dtype=np.int64))
    if asked is not None and asked not in entered:
        raise SpecError("seed_type", "must be a node type that edges lead to", asked, nearest(asked, entered))
    return asked or max(entered, key=lambda name: entered[name])


def _summary(
    graph: _Graph, profile: DegreeProfile, hops: tuple[MeasuredHop, ...], sha256: str, warnings: list[str]
) -> MeasuredGraph:
    nodes = sum(graph.nodes.values())
    edges = sum(int(counts.sum(dtype=np.int64)) for counts in graph.targets.values())
    squares, largest, connected = 0.0, 0, 0
    for name in graph.nodes:
        entering = [counts for key, counts in graph.targets.items() if key[2] == name]
        leaving = [counts for key, counts in graph.sources.items() if key[0] == name]
        inward = _total(entering)
        squares += sum(float(np.square(part, dtype=float).sum()) for part in _pieces(inward))
        largest = max(largest, int(inward.max(initial=0)))
        connected += _with_edges([*entering, *leaving])
    mean = edges / nodes
    repeated = None if graph.adjacency is None else sum(_repeats(csc) for csc in graph.adjacency.values())
    if repeated and repeated > 0.01 * edges:
        warnings.append(f"{repeated} of {edges} edges are repeats: a batch holds fewer nodes than expected")
    return MeasuredGraph(
        nodes=nodes,
        edges=edges,
        mean_degree=mean,
        degree_cv=float(np.sqrt(max(squares / nodes / mean**2 - 1.0, 0.0))),
        max_degree=largest,
        profile=profile,
        symmetric=set(graph.twins) == set(graph.targets),
        self_loops=graph.loops,
        isolated=nodes - connected,
        repeated_edges=repeated,
        reach=tuple(profile.reach),
        hops=hops,
        sha256=sha256,
        warnings=tuple(warnings),
    )


def _total(parts: Iterable[Counts]) -> Counts:
    """Add degrees of one node type; arrays may differ in how many edgeless nodes they leave out."""
    given = list(parts)
    if len(given) == 1:
        return given[0]
    total = np.zeros(max((counts.size for counts in given), default=0), dtype=np.uint32)
    for counts in given:
        total[: counts.size] += counts
    return total


def _with_edges(parts: Sequence[Counts]) -> int:
    some = np.zeros(max((counts.size for counts in parts), default=0), dtype=bool)
    for counts in parts:
        some[: counts.size] |= counts > 0
    return int(np.count_nonzero(some))


def _pieces(values: Counts) -> Iterator[Counts]:
    """Walk an array in pieces, so that a wider copy of it stays small."""
    return (values[first : first + _PIECE] for first in range(0, values.size, _PIECE))


def _repeats(csc: Csc) -> int:
    """Count edges equal to the one before; ``Csc`` keeps the neighbors of a node sorted."""
    same = csc.indices[1:] == csc.indices[:-1]
    starts = csc.indptr[1:-1]
    starts = starts[(starts > 0) & (starts < csc.edges)]
    same[starts - 1] = False
    return int(np.count_nonzero(same))


def _sha256(file: Path) -> str:
    with open(file, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()
