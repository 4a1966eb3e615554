"""Who neighbors whom in a graph without repeated edges.

Free edge ends joined at random would join two hubs many times over; a graph whose repeated edges were dropped joins
them once, so a hub's other edges must go to nodes of lower degree. The chance of an edge from a source ``u`` to a
target ``v`` is then

    P = 1 - exp(-x(v) * y(u))

with weights ``x`` and ``y`` that give every node its degree (the erased configuration model: Britton, Deijfen,
Martin-Loef, J. Stat. Phys. 2006). ``P * edges / (in_degree * out_degree)`` says how much more or less often a pair
meets than at random; it is tabulated once for each profile over bins of degree.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.profile import DegreeProfile, Relation

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_BINS = 32
_NEGLIGIBLE = 1e-3  # expected edges between the two largest nodes, below which no pair is worth a table


@dataclasses.dataclass(frozen=True)
class Mixing:
    """How often sources of each degree class are met from targets of each degree class, over what is random.

    Attributes
    ----------
    target_bin : array of shape (target classes,)
        Bin of every target class.
    factor : array of shape (target bins, source bins)
        Chance of an edge over that of random ends [1].
    below : array of shape (source classes,)
        Source bin at or below the class, and
    weight : array of shape (source classes,)
        how far it is on its way to the next.
    ends : array of shape (source classes,)
        Share of all edge ends at the class [1].
    """

    target_bin: Index
    factor: Array
    below: Index
    weight: Array
    ends: Array

    def tilt(self, draws: Array) -> Array:
        """Return how much more often than at random an end of each source class is drawn.

        Parameters
        ----------
        draws : array of shape (target classes,)
            Edges drawn at the targets of each class [edge].
        """
        by_bin = np.bincount(self.target_bin, draws, self.factor.shape[0]) @ self.factor
        tilt = by_bin[self.below] * (1.0 - self.weight) + by_bin[self.below + 1] * self.weight
        total = float(tilt @ self.ends)
        return np.asarray(tilt / total) if total > 0 else np.ones_like(tilt)


_known: dict[int, tuple[weakref.ref[DegreeProfile], dict[str, Mixing | None]]] = {}


def mixing(profile: DegreeProfile) -> Mapping[str, Mixing | None]:
    """Tabulate every relation's mixing, once for each profile.

    Returns
    -------
    mapping of relation key to Mixing
        None where even the largest nodes would hardly be joined twice.

    Examples
    --------
    >>> from perfmodel.graph.profile import homogeneous
    >>> star = homogeneous(1000, np.array([0.99, 0.01]), np.array([1.0, 200.0]))
    >>> factor = mixing(star)["node-edge-node"].factor
    >>> bool(factor[-1, -1] < factor[-1, 0])
    True
    """
    known = _known.get(id(profile))
    if known is not None and known[0]() is profile:
        return known[1]
    tables = {relation.key: _table(profile, relation) for relation in profile.relations}
    name = id(profile)
    _known[name] = (weakref.ref(profile, lambda _: _known.pop(name, None) and None), tables)
    return tables


def _table(profile: DegreeProfile, relation: Relation) -> Mixing | None:
    target, source = profile.node_types[relation.target], profile.node_types[relation.source]
    in_degree, out_degree = target.degree[relation.target_slot], source.degree[relation.source_slot]
    edges = profile.edges(relation)
    if edges <= 0 or float(in_degree.max()) * float(out_degree.max()) < _NEGLIGIBLE * edges:
        return None
    in_bin, targets, low = _binned(in_degree, target.nodes * target.share)
    _, sources, high = _binned(out_degree, source.nodes * source.share)
    chance = _edge_chance(targets, low, sources, high)
    factor = chance * edges / np.outer(low, high)
    position = np.interp(np.log(np.maximum(out_degree, 1e-9)), np.log(high), np.arange(high.size))
    below = np.minimum(position.astype(np.intp), max(high.size - 2, 0))
    if high.size == 1:
        factor, position = np.repeat(factor, 2, axis=1), np.zeros_like(position)
    return Mixing(in_bin, factor, below, position - below, source.share * out_degree * source.nodes / edges)


_CERTAIN = 1e100  # weight of a node that meets everyone: more edges than there are pairs


def _binned(degree: Array, nodes: Array) -> tuple[Index, Array, Array]:
    """Put classes into bins of degree; returns each class's bin, and the nodes and mean degree of every bin."""
    logs = np.log(np.maximum(degree, 1e-9))
    low = float(logs[degree > 0].min())
    step = (float(logs.max()) - low) / _BINS or 1.0
    rough = np.clip((logs - low) / step, 0, _BINS - 1).astype(np.intp)
    _, index = np.unique(rough, return_inverse=True)
    nodes = np.where(degree > 0, nodes, 0.0)  # a node without such edges meets nobody
    weight = np.asarray(np.bincount(index, nodes), dtype=np.float64)
    mean = np.asarray(np.bincount(index, nodes * degree), dtype=np.float64) / np.maximum(weight, 1e-300)
    return index, weight, np.maximum(mean, 1e-9)


def _edge_chance(targets: Array, in_degree: Array, sources: Array, out_degree: Array) -> Array:
    """Fit the weights until every bin has its degree; returns the chance of an edge for each pair of bins."""
    edges = float(targets @ in_degree)
    x, y = in_degree / np.sqrt(edges), out_degree / np.sqrt(edges)
    chance = -np.expm1(-np.outer(x, y))
    for _ in range(200):
        x = np.minimum(x * np.minimum(in_degree / (chance @ sources), 10.0), _CERTAIN)
        chance = -np.expm1(-np.outer(x, y))
        step = np.minimum(out_degree / (targets @ chance), 10.0)
        y = np.minimum(y * step, _CERTAIN)
        chance = -np.expm1(-np.outer(x, y))
        if float(np.abs(step - 1.0).max()) < 1e-6:
            break
    return np.asarray(chance)
