"""Graphs: node types, relations, degree statistics; published ones or measured from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from perfmodel.errors import nearest
from perfmodel.spec._base import (
    EdgeCount,
    NamedSpec,
    Number,
    Share,
    Spec,
    Within,
    pydantic_error,
)


class DegreeStatistics(Spec):
    """What is known of the degrees at one end of a relation; the mean follows from nodes and edges.

    Attributes
    ----------
    cv : float
        Standard deviation over mean.
    largest : float, optional
        Largest degree [edge/node]; the number of nodes at the other end where it is not known.
    edge_share_above_mean : float, optional
        Share of the edges at nodes above the mean degree.
    classes : int
        Classes that the distribution is cut into.
    """

    cv: Annotated[float, Within("", high=1000.0)]
    largest: Annotated[float, Within("", above=True)] | None = None
    edge_share_above_mean: Share | None = None
    classes: Annotated[int, Field(ge=1, le=2000)] = 160


class DegreeClasses(Spec):
    """Measured degree classes of a node type: a share of the nodes and a degree in every slot."""

    share: tuple[Share, ...]
    degree: Mapping[str, tuple[Number, ...]]

    @model_validator(mode="after")
    def _as_many_as_classes(self) -> DegreeClasses:
        for slot, values in self.degree.items():
            if len(values) != len(self.share):
                raise pydantic_error(
                    f"degree.{slot} must have one value for each share", f"{len(values)} values", str(len(self.share))
                )
        if not self.share or abs(sum(self.share) - 1.0) > 1e-6:
            raise pydantic_error("shares must sum to 1", f"{sum(self.share):g}", None)
        return self


class NodeType(Spec):
    """Nodes of one type.

    Attributes
    ----------
    nodes : float
        How many there are [node].
    feature_dimension : float
        Elements of a feature row; 0 for a type without features.
    degrees : mapping of slot to DegreeStatistics
        By slot, joined as if independent.
    classes : DegreeClasses, optional
        Measured classes, in place of ``degrees``.
    """

    nodes: Annotated[float, Within("node", low=1.0, high=1e15)]
    feature_dimension: Number = 0.0
    degrees: Mapping[str, DegreeStatistics] = {}
    classes: DegreeClasses | None = None


class RelationSpec(Spec):
    """Edges of one kind; a hop draws sources for the targets it stands on."""

    source: str
    name: str
    target: str
    edges: EdgeCount
    source_slot: str
    target_slot: str


class Graph(NamedSpec):
    """A graph as the expected mini-batch needs it.

    Attributes
    ----------
    feature_precision : str
        How features are stored.
    directed : bool
        False where each edge is stored in both directions; edge counts are of directed edges either way.
    reach : tuple of float
        Measured correction for clustering, by hop: nodes that one seed's neighborhood can lead to [node/seed].
    common_reach : float, optional
        One reach for every hop after the first, where hops were not measured one by one [node/seed].
    """

    node_types: Mapping[str, NodeType]
    relations: tuple[RelationSpec, ...]
    feature_precision: Literal["fp32", "fp16", "bf16", "fp8", "int8", "int4"] = "fp32"
    directed: bool = False
    reach: tuple[Annotated[float, Within("", above=True, infinite=True)], ...] = ()
    common_reach: Annotated[float, Within("", above=True)] | None = None
    profile: str | None = None

    @model_validator(mode="after")
    def _relations_join_known_slots(self) -> Graph:
        for number, relation in enumerate(self.relations):
            for end, node_type, slot in (
                ("source", relation.source, relation.source_slot),
                ("target", relation.target, relation.target_slot),
            ):
                if node_type not in self.node_types:
                    raise pydantic_error(
                        f"relations.{number}.{end} must be a node type", node_type, nearest(node_type, self.node_types)
                    )
                found = self.node_types[node_type]
                slots = set(found.classes.degree) if found.classes is not None else set(found.degrees)
                if slot not in slots:
                    raise pydantic_error(
                        f"relations.{number}.{end}_slot must be a slot of {node_type}", slot, nearest(slot, slots)
                    )
                mean, known = relation.edges / found.nodes, found.degrees.get(slot)
                if found.classes is None and known is not None and known.largest is not None and mean > known.largest:
                    raise pydantic_error(
                        f"relations.{number}.edges must make a mean degree of at most the largest, {known.largest:g}",
                        f"{mean:g}",
                        f"{known.largest * found.nodes:g} edges",
                    )
        return self
