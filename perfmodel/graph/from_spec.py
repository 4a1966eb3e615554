"""From a workload's spec to the quantities that phases ask for: the expected mini-batch, counted tensor by tensor."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.degrees import degree_classes
from perfmodel.graph.minibatch import MiniBatch, Seeds, expected_minibatch
from perfmodel.graph.profile import DegreeProfile, NodeClasses, Relation, independent
from perfmodel.spec.families.sampled_training import Workload
from perfmodel.spec.graph import DegreeStatistics, Graph, NodeType
from perfmodel.spec.precision import PRECISIONS

_ENTRY = 8.0  # bytes of a node id in a neighbor list
TensorKind = Literal["features", "edge_index", "labels"]


@dataclasses.dataclass(frozen=True)
class TypeNodes:
    """Nodes of one type: in the mini-batch and in the graph [node]."""

    name: str
    nodes: float
    all_nodes: float


@dataclasses.dataclass(frozen=True)
class RelationEdges:
    """Edges of one relation in the mini-batch, and those of them that were chosen from lists above the fanout [edge]."""

    name: str
    edges: float
    chosen: float


@dataclasses.dataclass(frozen=True)
class Table:
    """What a mini-batch gathers from one table: rows [node], their bytes, and the bytes of the whole table [B]."""

    name: str
    rows: float
    gathered: float
    table: float


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One tensor of a mini-batch.

    Attributes
    ----------
    name : str
        Kind and node type or relation.
    kind : str
        ``features``, ``edge_index`` or ``labels``.
    elements, rows : float
        Elements in all, and rows that carry a scale when features are quantized.
    """

    name: str
    kind: TensorKind
    elements: float
    rows: float


Item = TypeNodes | RelationEdges | Table | Tensor


@dataclasses.dataclass(frozen=True)
class BatchQuantities:
    """What phases need to know of a mini-batch, in all and by node type, relation, table and tensor."""

    nodes: float
    edges: float
    expanded: float
    scanned: float
    elements: float
    rows: float
    gathered_bytes: float
    relation_hops: float
    choosing_hops: float
    stored_bytes: float
    node_types: tuple[TypeNodes, ...]
    relations: tuple[RelationEdges, ...]
    tables: tuple[Table, ...]
    tensors: tuple[Tensor, ...]
    minibatch: MiniBatch

    def values(self) -> dict[str, float]:
        """Return the numbers by the names that spec keys use."""
        names = (
            "nodes", "edges", "expanded", "scanned", "elements", "rows", "gathered_bytes", "relation_hops",
            "choosing_hops", "stored_bytes",
        )  # fmt: skip
        return {name: float(getattr(self, name)) for name in names} | {
            "tensors": float(len(self.tensors)),
            "edge_entries": self.edges + self.scanned * (self.edges == 0.0),
            "node_entries": self.nodes,
        }

    def items(self, each: str) -> tuple[Item, ...]:
        """Return the parts that a phase runs for: ``node_type``, ``relation``, ``table`` or ``tensor``."""
        parts: dict[str, tuple[Item, ...]] = {
            "node_type": self.node_types,
            "relation": self.relations,
            "table": self.tables,
            "tensor": self.tensors,
        }
        return parts[each]


def degree_profile(graph: Graph) -> DegreeProfile:
    """Return the degree profile of a graph, built once for each content."""
    return _degree_profile(_content(graph))


def _content(graph: Graph) -> str:
    """Return what the profile depends on, as text that can be a key."""
    return json.dumps(graph.model_dump(include={"node_types", "relations", "reach", "common_reach"}), sort_keys=True)


@functools.lru_cache(maxsize=64)
def _degree_profile(content: str) -> DegreeProfile:
    graph = Graph.model_validate({"name": "graph", **json.loads(content)})
    slot_edges = {}
    opposite = {}
    for relation in graph.relations:
        for node_type, slot, other in (
            (relation.source, relation.source_slot, relation.target),
            (relation.target, relation.target_slot, relation.source),
        ):
            slot_edges[node_type, slot] = relation.edges
            opposite[node_type, slot] = graph.node_types[other].nodes
    node_types = {name: _classes(name, spec, slot_edges, opposite) for name, spec in graph.node_types.items()}
    relations = tuple(Relation(r.source, r.name, r.target, r.source_slot, r.target_slot) for r in graph.relations)
    return DegreeProfile(node_types, relations, _reach(graph))


def _reach(graph: Graph) -> tuple[float, ...]:
    """Return the reach by hop; neighbors of a seed are distinct, so a common reach starts at the second hop."""
    if graph.reach or graph.common_reach is None:
        return graph.reach
    return (float("inf"), *[graph.common_reach] * 15)


def _classes(
    name: str,
    spec: NodeType,
    slot_edges: dict[tuple[str, str], float],
    opposite: dict[tuple[str, str], float],
) -> NodeClasses:
    if spec.classes is not None:
        degree = {slot: np.asarray(values, float) for slot, values in spec.classes.degree.items()}
        return NodeClasses(spec.nodes, np.asarray(spec.classes.share, float), degree)
    slots = {}
    for slot, statistics in spec.degrees.items():
        mean = slot_edges.get((name, slot), 0.0) / spec.nodes
        slots[slot] = _slot_classes(statistics, mean, opposite.get((name, slot), spec.nodes), spec.nodes)
    return independent(spec.nodes, slots)


def _slot_classes(
    statistics: DegreeStatistics, mean: float, others: float, nodes: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    largest = statistics.largest if statistics.largest is not None else max(others, mean)
    return degree_classes(mean, statistics.cv, largest, statistics.edge_share_above_mean, statistics.classes, nodes)


def sampled_batch(workload: Workload) -> BatchQuantities:
    """Return the mini-batch that the workload's sampler draws."""
    return _quantities(workload, tuple(workload.sampling.fanout))


def neighborhood(workload: Workload) -> BatchQuantities:
    """Return all that the workload's hops can reach: what ships when nothing is sampled before the link."""
    return _quantities(workload, (-1,) * len(workload.sampling.fanout))


def frontier(workload: Workload) -> BatchQuantities:
    """Return what a sampler on the far side fetches: neighbor lists of the frontier, rows of the nodes it drew."""
    drawn = sampled_batch(workload)
    lists = tuple(
        Tensor(f"edge_index {relation}", "edge_index", entries, 0.0)
        for relation, entries in drawn.minibatch.adjacency_by_relation.items()
    )
    others = tuple(tensor for tensor in drawn.tensors if tensor.kind != "edge_index")
    entries = sum(tensor.elements for tensor in lists)
    profile = degree_profile(workload.graph)
    fetched = tuple(
        Table(
            f"lists {relation.key}",
            sum(hop.frontier.get(relation.target, 0.0) for hop in drawn.minibatch.hops),
            _ENTRY * drawn.minibatch.adjacency_by_relation[relation.key],
            _ENTRY * max(profile.edges(relation), 1.0),
        )
        for relation in profile.relations
    )
    return dataclasses.replace(
        drawn,
        nodes=0.0,
        edges=0.0,
        scanned=entries,
        gathered_bytes=drawn.gathered_bytes + _ENTRY * entries,
        choosing_hops=0.0,
        node_types=(),
        relations=(),
        tables=(*drawn.tables, *fetched),
        tensors=(*others, *lists),
    )


def _quantities(workload: Workload, fanout: tuple[int, ...]) -> BatchQuantities:
    drawn = expected_batch(workload, fanout)
    given = workload.sampling.seeds
    seeds = min(workload.sampling.batch, given.nodes, workload.graph.node_types[given.node_type].nodes)
    stored_width, stored_scale = PRECISIONS[workload.graph.feature_precision]
    tensors: list[Tensor] = []
    for name, count in drawn.nodes_by_type.items():
        dimension = workload.graph.node_types[name].feature_dimension
        if dimension:
            tensors.append(Tensor(f"features {name}", "features", count * dimension, count))
    tensors.append(Tensor(f"labels {workload.sampling.seeds.node_type}", "labels", seeds, 0.0))
    tensors += [
        Tensor(f"edge_index {relation}", "edge_index", 2.0 * count, 0.0)
        for relation, count in drawn.edges_by_relation.items()
    ]
    features = [tensor for tensor in tensors if tensor.kind == "features"]
    gathered = sum(tensor.elements * stored_width + tensor.rows * stored_scale for tensor in features)
    ids = sum(tensor.elements for tensor in tensors if tensor.kind == "edge_index")
    return BatchQuantities(
        nodes=drawn.nodes,
        edges=drawn.edges,
        expanded=drawn.expanded,
        scanned=sum(drawn.adjacency_by_relation.values()),
        elements=sum(tensor.elements for tensor in features),
        gathered_bytes=gathered,
        rows=sum(tensor.rows for tensor in features),
        relation_hops=float(len(fanout) * len(workload.graph.relations)),
        choosing_hops=float(sum(neighbors > 0 for neighbors in fanout) * len(workload.graph.relations)),
        node_types=tuple(
            TypeNodes(f"nodes {name}", count, workload.graph.node_types[name].nodes)
            for name, count in drawn.nodes_by_type.items()
        ),
        relations=tuple(
            RelationEdges(f"edges {name}", count, drawn.chosen_by_relation[name])
            for name, count in drawn.edges_by_relation.items()
        ),
        tables=tuple(_table(workload, tensor) for tensor in features),
        stored_bytes=gathered + 8.0 * ids + workload.label_width * seeds,
        tensors=tuple(tensors),
        minibatch=drawn,
    )


def _table(workload: Workload, features: Tensor) -> Table:
    """Return the feature table of one node type, of which a mini-batch gathers some rows."""
    node_type = workload.graph.node_types[features.name.removeprefix("features ")]
    width, scale = PRECISIONS[workload.graph.feature_precision]
    row = node_type.feature_dimension * width + scale
    return Table(features.name, features.rows, features.rows * row, node_type.nodes * row)


def expected_batch(workload: Workload, fanout: tuple[int, ...]) -> MiniBatch:
    """Return the expected mini-batch of a workload under another fanout."""
    sampling = workload.sampling
    seeds = sampling.seeds
    return _expected(
        _content(workload.graph), seeds.node_type, seeds.degree_bias, seeds.nodes, seeds.share,
        sampling.batch, fanout, sampling.semantics, sampling.replace,
    )  # fmt: skip


@functools.lru_cache(maxsize=4096)
def _expected(
    content: str,
    node_type: str,
    degree_bias: float,
    training_nodes: float,
    share: tuple[float, ...],
    batch: float,
    fanout: tuple[int, ...],
    semantics: Literal["pyg", "dgl"],
    replace: bool,
) -> MiniBatch:
    seeds = Seeds(node_type, degree_bias, training_nodes, np.asarray(share) if share else None)
    return expected_minibatch(_degree_profile(content), seeds, batch, fanout, semantics, replace)
