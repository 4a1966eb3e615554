"""The degree profile: all that the expected mini-batch needs to know of a graph.

Nodes of one type fall into classes; a class has a share of the nodes and one degree for every *slot*. A slot is one end
of the edges of a relation: the paper end and the author end of "writes" are two slots. A relation drawn against its
direction (``rev_writes``) shares the slots of its original, which is how a hop knows that one of the neighbors it draws
is the node it came from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class NodeClasses:
    """Degree classes of one node type.

    Attributes
    ----------
    nodes : float
        Number of nodes of this type.
    share : array of shape (classes,)
        Share of the nodes in each class; sums to 1.
    degree : mapping of slot to array of shape (classes,)
        Edges at a node of the class, by slot [edge/node].
    """

    nodes: float
    share: Array
    degree: Mapping[str, Array]

    def edges(self, slot: str) -> float:
        """Return the number of edges that end in ``slot``."""
        return float(self.nodes * (self.share * self.degree[slot]).sum())


@dataclasses.dataclass(frozen=True)
class Relation:
    """A kind of edge: a hop draws source nodes for the target nodes it stands on.

    ``target_slot`` says how many a target node may draw, ``source_slot`` how often a source node is drawn.
    """

    source: str
    name: str
    target: str
    source_slot: str
    target_slot: str

    @property
    def key(self) -> str:
        """Return the relation's name with both its ends."""
        return f"{self.source}-{self.name}-{self.target}"


@dataclasses.dataclass(frozen=True)
class DegreeProfile:
    """Classes of every node type, and the relations between them.

    Attributes
    ----------
    node_types : mapping of node type to NodeClasses
    relations : sequence of Relation
    reach : sequence of float
        Measured correction for clustering, by hop: how many nodes one seed's neighborhood can lead to [node/seed];
        infinite where it was not measured (the mean field).
    """

    node_types: Mapping[str, NodeClasses]
    relations: Sequence[Relation]
    reach: Sequence[float] = ()

    @property
    def nodes(self) -> float:
        """Return the number of nodes of all types."""
        return sum(classes.nodes for classes in self.node_types.values())

    def edges(self, relation: Relation) -> float:
        """Return the number of directed edges of one relation."""
        return self.node_types[relation.target].edges(relation.target_slot)

    @property
    def total_edges(self) -> float:
        """Return the number of directed edges of all relations."""
        return sum(self.edges(relation) for relation in self.relations)


def homogeneous(
    nodes: float, share: Array, in_degree: Array, out_degree: Array | None = None, reach: Sequence[float] = ()
) -> DegreeProfile:
    """Build the profile of a graph with one node type; symmetrized where ``out_degree`` is left out.

    Examples
    --------
    >>> ring = homogeneous(100, np.ones(1), np.full(1, 2.0))
    >>> ring.total_edges
    200.0
    """
    degree = {"in": in_degree} if out_degree is None else {"in": in_degree, "out": out_degree}
    relation = Relation("node", "edge", "node", "in" if out_degree is None else "out", "in")
    return DegreeProfile({"node": NodeClasses(float(nodes), share, degree)}, (relation,), tuple(reach))


def independent(nodes: float, slots: Mapping[str, tuple[Array, Array]]) -> NodeClasses:
    """Join slots known one by one into one class table, as if a node's degrees in them were independent.

    Parameters
    ----------
    nodes : float
        Number of nodes of the type.
    slots : mapping of slot to (share, degree)
        The classes of each slot by itself.

    Returns
    -------
    NodeClasses
        One class for each combination.
    """
    share = np.ones(1)
    degree: dict[str, Array] = {}
    for slot, (slot_share, slot_degree) in slots.items():
        degree = {name: np.repeat(values, slot_degree.size) for name, values in degree.items()}
        degree[slot] = np.tile(slot_degree, share.size)
        share = np.repeat(share, slot_share.size) * np.tile(slot_share, share.size)
    return NodeClasses(float(nodes), share, degree)
