"""The expected mini-batch: how many nodes and edges a neighbor sampler draws, hop by hop.

A configuration model with degree classes. A hop draws ``min(fanout, degree)`` edges at every frontier node; the drawn
edges fall on free edge ends at random, so a node of degree ``d`` stays unseen with probability ``(1 - p)**d``, where
``p`` is the share of the free ends that were drawn. Four things are kept that a plain mean field loses: a node's
edge back to where it was found from finds nothing new; ends used by earlier hops are no longer free; a node drawn
from again (DGL) finds little new among neighbors it has drawn already; and two nodes are joined at most once, which
keeps hubs from one another (``mixing``).

The two samplers differ (PyG docs/source/advanced/hgam.rst; DGL dataloading/neighbor_sampler.py):

``pyg``
    expands the nodes that the previous hop found, and lists fanouts from the seeds outward;
``dgl``
    expands the whole frontier again, seeds included, and lists fanouts from the input side: the last one belongs to
    the seeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.mixing import Mixing, mixing
from perfmodel.graph.profile import DegreeProfile, NodeClasses, Relation

Array = NDArray[np.float64]
Semantics = Literal["pyg", "dgl"]
Slot = tuple[str, str]  # node type, slot


@dataclasses.dataclass(frozen=True)
class Seeds:
    """Where training starts.

    Attributes
    ----------
    node_type : str
        Node type of the seeds.
    degree_bias : float
        Seeds are drawn in proportion to ``degree**degree_bias``: 0 is uniform.
    nodes : float
        Number of training nodes; with a bias, the classes they come from can't hold more of them. Infinite where not
        known: the bias then acts on the batch itself.
    share : array of shape (classes,), optional
        Measured share of the training nodes in each degree class; takes the place of the bias.
    """

    node_type: str
    degree_bias: float = 0.0
    nodes: float = float("inf")
    share: Array | None = None


@dataclasses.dataclass(frozen=True)
class Hop:
    """What one hop draws.

    Attributes
    ----------
    nodes : mapping of node type to float
        Nodes seen for the first time.
    edges : mapping of relation key to float
        Edges drawn.
    frontier : mapping of node type to float
        Nodes that the hop expanded.
    adjacency : mapping of relation key to float
        Length of all neighbor lists of those nodes: what a sampler on the far side has to fetch.
    chosen : mapping of relation key to float
        Those of the edges that were chosen at random, from lists above the fanout.
    """

    nodes: Mapping[str, float]
    edges: Mapping[str, float]
    frontier: Mapping[str, float]
    adjacency: Mapping[str, float]
    chosen: Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class MiniBatch:
    """The expected mini-batch; ``hops[0]`` holds the seeds."""

    hops: tuple[Hop, ...]

    @property
    def nodes_by_type(self) -> dict[str, float]:
        """Return the distinct nodes of each type."""
        return _added(hop.nodes for hop in self.hops)

    @property
    def edges_by_relation(self) -> dict[str, float]:
        """Return the edges of each relation."""
        return _added(hop.edges for hop in self.hops)

    @property
    def adjacency_by_relation(self) -> dict[str, float]:
        """Return the lengths of the neighbor lists of all expanded nodes, by relation."""
        return _added(hop.adjacency for hop in self.hops)

    @property
    def chosen_by_relation(self) -> dict[str, float]:
        """Return the edges of each relation that were chosen from lists above the fanout."""
        return _added(hop.chosen for hop in self.hops)

    @property
    def nodes(self) -> float:
        """Return the distinct nodes of all types."""
        return sum(self.nodes_by_type.values())

    @property
    def edges(self) -> float:
        """Return the edges of all relations."""
        return sum(self.edges_by_relation.values())

    @property
    def expanded(self) -> float:
        """Return the nodes whose neighbors were drawn, each as often as that happened."""
        return sum(sum(hop.frontier.values()) for hop in self.hops)


@dataclasses.dataclass
class _Cohort:
    """Nodes found in one hop: how likely each class is among them, and the share of their ends not yet followed."""

    found: dict[str, Array]
    fresh: dict[Slot, Array]


@dataclasses.dataclass
class _Walk:
    """What the hops so far have left: chance of each class to be seen, cohorts to expand, edges not yet followed."""

    seen: dict[str, Array]
    frontier: list[_Cohort]
    free: dict[frozenset[Slot], float]


def expected_minibatch(
    profile: DegreeProfile,
    seeds: Seeds,
    batch: float,
    fanout: Sequence[int],
    semantics: Semantics = "pyg",
    replace: bool = False,
    repeated_edges: bool = False,
) -> MiniBatch:
    """Walk the hops of a sampler in expectation.

    Parameters
    ----------
    profile : DegreeProfile
        The graph.
    seeds : Seeds
        Which nodes a batch starts from.
    batch : float
        Seeds per mini-batch [node].
    fanout : sequence of int
        Neighbors drawn per node, relation and hop in the order of ``semantics``; -1 keeps all.
    semantics : {"pyg", "dgl"}
        Whose sampler.
    replace : bool
        Draw neighbors with replacement.
    repeated_edges : bool
        The graph may join two nodes more than once (a plain configuration model); real graphs are coalesced, and
        then hubs meet each other less often than at random (`perfmodel.graph.mixing`).

    Returns
    -------
    MiniBatch

    Examples
    --------
    >>> import numpy as np
    >>> from perfmodel.graph.profile import homogeneous
    >>> graph = homogeneous(1e6, np.ones(1), np.full(1, 10.0), np.full(1, 10.0))
    >>> drawn = expected_minibatch(graph, Seeds("node"), 100, [5, 5])
    >>> round(drawn.edges), round(drawn.nodes)
    (2999, 3095)
    """
    in_walking_order = list(fanout) if semantics == "pyg" else list(reversed(fanout))
    tables = {} if repeated_edges else mixing(profile)
    found = _seed_cohort(profile, seeds, batch)
    walk = _Walk(dict(found), [_Cohort(found, {})], _free_edges(profile))
    hops = [Hop(_counted(profile, found), {}, {}, {}, {})]
    started = min(batch, seeds.nodes, profile.node_types[seeds.node_type].nodes)
    for depth, neighbors in enumerate(in_walking_order):
        drawn = {r.key: _draw(profile, r, walk.frontier, neighbors, replace) for r in profile.relations}
        frontier = _added(_counted(profile, cohort.found) for cohort in walk.frontier)
        cohort = _find(profile, walk, drawn, tables, _leading_out(profile, drawn, started, depth))
        walk.frontier = [cohort] if semantics == "pyg" else [*walk.frontier, cohort]
        hops.append(
            Hop(
                _counted(profile, cohort.found),
                {key: hop.edges for key, hop in drawn.items()},
                frontier,
                {key: hop.adjacency for key, hop in drawn.items()},
                {key: hop.chosen for key, hop in drawn.items()},
            )
        )
    return MiniBatch(tuple(hops))


def _free_edges(profile: DegreeProfile) -> dict[frozenset[Slot], float]:
    return {_ends(relation): profile.edges(relation) for relation in profile.relations}


def _ends(relation: Relation) -> frozenset[Slot]:
    """Return the two slots that the relation's edges join; it shares them with its reverse."""
    return frozenset({(relation.source, relation.source_slot), (relation.target, relation.target_slot)})


@dataclasses.dataclass(frozen=True)
class _Drawn:
    """One relation's draw: edges, length of the neighbor lists, edges chosen at random, and by class the new ones."""

    edges: float
    adjacency: float
    chosen: float
    outward: Array


def _draw(
    profile: DegreeProfile, relation: Relation, active: Sequence[_Cohort], neighbors: int, replace: bool
) -> _Drawn:
    """Draw one relation's edges at the cohorts that the hop expands; the ends drawn are no longer fresh."""
    classes = profile.node_types[relation.target]
    slot = (relation.target, relation.target_slot)
    degree = classes.degree[relation.target_slot]
    drawn, distinct = _per_node(degree, neighbors, replace)
    share = distinct / np.maximum(degree, 1e-300)
    here = np.zeros_like(degree)
    unfollowed = np.zeros_like(degree)
    for cohort in active:
        here = here + cohort.found[relation.target]
        unfollowed = unfollowed + cohort.found[relation.target] * cohort.fresh.get(slot, 1.0)
    nodes = classes.nodes * classes.share
    here, outward = nodes * here, nodes * unfollowed * distinct
    for cohort in active:
        cohort.fresh[slot] = cohort.fresh.get(slot, 1.0) * (1.0 - share)
    chooses = (degree > neighbors) | replace if neighbors >= 0 else np.zeros(degree.shape, dtype=bool)
    return _Drawn(float(here @ drawn), float(here @ degree), float(here @ (drawn * chooses)), outward)


def _per_node(degree: Array, neighbors: int, replace: bool) -> tuple[Array, Array]:
    """Return the edges drawn at a node of each degree, and how many of them differ."""
    if neighbors < 0:
        return degree, degree
    if not replace:
        drawn = np.minimum(degree, float(neighbors))
        return drawn, drawn
    drawn = neighbors * np.minimum(degree, 1.0)  # a degree below 1 is a share of nodes that have a neighbor
    distinct = degree * -np.expm1(neighbors * np.log1p(-1.0 / np.maximum(degree, 1.0 + 1e-9)))
    return drawn, np.where(degree > 1.0, distinct, np.minimum(degree, drawn))


def _find(
    profile: DegreeProfile,
    walk: _Walk,
    drawn: Mapping[str, _Drawn],
    tables: Mapping[str, Mixing | None],
    leading_out: float,
) -> _Cohort:
    """Let the outward edges fall on free ends; returns the nodes seen for the first time and updates ``walk``."""
    log_missed = {name: np.zeros_like(chance) for name, chance in walk.seen.items()}
    hit: dict[Slot, Array] = {}
    left = dict(walk.free)
    for relation in profile.relations:
        outward, ends = drawn[relation.key].outward, _ends(relation)
        followed = min(float(outward.sum()) / max(walk.free[ends], 1e-300), 1.0)
        left[ends] *= 1.0 - followed
        if len(ends) == 1:  # both ends of an edge lie in one slot, and either may have drawn it
            left[ends] *= 1.0 - followed
        table = tables.get(relation.key)
        slot = (relation.source, relation.source_slot)
        degree = _degree(profile, slot)
        tilt = np.ones_like(degree) if table is None else table.tilt(outward)
        chance = np.minimum(followed * tilt, 1.0 - 1e-12)
        log_missed[relation.source] += degree * np.log1p(-chance * leading_out)
        hit[slot] = chance
    walk.free = left
    found: dict[str, Array] = {}
    fresh: dict[Slot, Array] = {}
    for name, seen in walk.seen.items():
        hit_chance = -np.expm1(log_missed[name])
        found[name] = (1.0 - seen) * hit_chance
        walk.seen[name] = seen + found[name]
        for slot in ((name, slot) for slot in profile.node_types[name].degree):
            if slot in hit:
                fresh[slot] = 1.0 - np.minimum(hit[slot] / np.maximum(hit_chance, 1e-300), 1.0)
                for cohort in walk.frontier:
                    cohort.fresh[slot] = cohort.fresh.get(slot, 1.0) * (1.0 - hit[slot])
    return _Cohort(found, fresh)


def _degree(profile: DegreeProfile, slot: Slot) -> Array:
    return profile.node_types[slot[0]].degree[slot[1]]


def _leading_out(profile: DegreeProfile, drawn: Mapping[str, _Drawn], batch: float, depth: int) -> float:
    """Return the share of the drawn edges that lead out of what their own seed has seen.

    The draws of one seed's neighborhood meet again in the pool of nodes that it can lead to, whatever other seeds the
    batch holds: of ``m`` draws into a pool of ``reach`` nodes, ``m / sqrt(1 + m / reach)`` count.
    """
    reach = profile.reach[depth] if depth < len(profile.reach) else float("inf")
    per_seed = sum(float(hop.outward.sum()) for hop in drawn.values()) / batch
    return float((1.0 + per_seed / reach) ** -0.5)


def _counted(profile: DegreeProfile, chance: Mapping[str, Array]) -> dict[str, float]:
    return {name: classes.nodes * float(classes.share @ chance[name]) for name, classes in profile.node_types.items()}


def _added(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def _seed_cohort(profile: DegreeProfile, seeds: Seeds, batch: float) -> dict[str, Array]:
    found = {name: np.zeros_like(classes.share) for name, classes in profile.node_types.items()}
    classes = profile.node_types[seeds.node_type]
    size = min(batch, seeds.nodes, classes.nodes)
    if np.isinf(seeds.nodes):  # the training nodes are not known: the bias acts on the batch itself
        seeds = dataclasses.replace(seeds, nodes=size)
    room = np.maximum(classes.share * classes.nodes, 1e-300)
    found[seeds.node_type] = np.minimum(size * seed_shares(classes, seeds) / room, 1.0)
    return found


def seed_shares(classes: NodeClasses, seeds: Seeds) -> Array:
    """Return the share of the training nodes in each degree class.

    Nodes drawn one after the other in proportion to a weight ``w``, each at most once, are in with a chance of about
    ``1 - exp(-rate * w)``: a class can't hold more training nodes than it has nodes.

    Parameters
    ----------
    classes : NodeClasses
    seeds : Seeds
        ``nodes`` says how many are drawn; infinitely many leave the plain weights.

    Returns
    -------
    array of shape (classes,)
        Sums to 1.
    """
    if seeds.share is not None:
        return seeds.share
    if not seeds.degree_bias or (seeds.nodes >= classes.nodes and np.isfinite(seeds.nodes)):
        return classes.share
    degree = np.sum(list(classes.degree.values()), axis=0)
    weight = np.maximum(degree, 1e-12) ** seeds.degree_bias
    weight = weight / float(classes.share @ weight)
    share = seeds.nodes / classes.nodes
    if np.isinf(share):
        return np.asarray(classes.share * weight)
    rate = share
    for _ in range(100):  # Newton, from below: the chance is concave in the rate
        excess = share + float(classes.share @ np.expm1(-rate * weight))
        rate += excess / float(classes.share @ (weight * np.exp(-rate * weight)))
        if excess < 1e-12 * share:
            break
    return np.asarray(classes.share * -np.expm1(-rate * weight) / share)
