"""Random graphs with heavy tails, and the exact profile of any graph."""

from __future__ import annotations

import types

import numpy as np
import pytest
from numpy.typing import NDArray

from perfmodel.graph.profile import DegreeProfile, NodeClasses, Relation, homogeneous
from perfmodel.graph.sampler import Csc, RelationKey

Ids = NDArray[np.int64]


def weights(tail: str, nodes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw weights of mean 1: ``pareto-2.1`` by the exponent of the density, ``lognormal-1.6`` by the log-deviation."""
    family, value = tail.split("-")
    if family == "pareto":
        drawn = np.minimum((1.0 - rng.random(nodes)) ** (-1.0 / (float(value) - 1.0)), nodes**0.75)
    else:
        drawn = np.exp(float(value) * rng.standard_normal(nodes))
    return np.asarray(drawn / drawn.mean())


def pairs(source: NDArray[np.float64], target: NDArray[np.float64], edges: int, rng: np.random.Generator) -> Csc:
    """Draw edges in proportion to the weights of both ends; edges drawn twice count once."""
    tail = rng.choice(source.size, edges, p=source / source.sum())
    head = rng.choice(target.size, edges, p=target / target.sum())
    key = np.unique(head * source.size + tail)
    return Csc.from_edges(key % source.size, key // source.size, target.size, source.size)


def directed(tail: str, nodes: int, mean: float, correlated: bool, rng: np.random.Generator) -> Csc:
    """Draw a directed graph whose in- and out-degrees are independent or go together."""
    inward, outward = weights(tail, nodes, rng), weights(tail, nodes, rng)
    if correlated:
        outward = inward * np.exp(0.3 * rng.standard_normal(nodes))
    return pairs(outward, inward, int(nodes * mean), rng)


def symmetrized(tail: str, nodes: int, mean: float, rng: np.random.Generator, repeated_edges: bool = False) -> Csc:
    """Join the ends of a degree sequence at random and keep both directions."""
    degree = np.maximum(1, rng.poisson(mean * weights(tail, nodes, rng)))
    degree[0] += degree.sum() % 2
    ends = rng.permutation(np.repeat(np.arange(nodes), degree))
    one, other = ends[::2], ends[1::2]
    if not repeated_edges:
        apart = one != other
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        key = np.unique(low * nodes + high)
        one, other = key // nodes, key % nodes
    return Csc.from_edges(np.concatenate([one, other]), np.concatenate([other, one]), nodes)


def exact_profile(csc: Csc, both_ways: bool) -> DegreeProfile:
    """Return one class for each degree, or for each pair of in- and out-degree of a directed graph."""
    columns = [csc.in_degree] if both_ways else [csc.in_degree, csc.out_degree]
    degree, count = np.unique(np.stack(columns), axis=1, return_counts=True)
    degrees = [row.astype(np.float64) for row in degree]
    return homogeneous(csc.nodes, count / csc.nodes, *degrees)


def typed(tail: str, rng: np.random.Generator, reverse: bool) -> tuple[dict[RelationKey, Csc], DegreeProfile]:
    """Draw papers, authors and a few large fields, with or without the reversed relations."""
    papers, authors, fields = 20_000, 30_000, 500
    ends = {
        ("author", "writes", "paper"): ("written", "authors"),
        ("field", "rev_topic", "paper"): ("papers", "topics"),
        ("paper", "cites", "paper"): ("cited", "citing"),
    }
    relations: dict[RelationKey, Csc] = {
        ("author", "writes", "paper"): pairs(weights(tail, authors, rng), np.ones(papers), 70_000, rng),
        ("field", "rev_topic", "paper"): pairs(weights("lognormal-1.2", fields, rng), np.ones(papers), 60_000, rng),
        ("paper", "cites", "paper"): pairs(
            weights(tail, papers, rng), weights("lognormal-1.0", papers, rng), 120_000, rng
        ),
    }
    if reverse:
        for source, name, target in (("author", "writes", "paper"), ("field", "rev_topic", "paper")):
            csc = relations[source, name, target]
            back = (target, "back_" + name, source)
            owner = np.repeat(np.arange(csc.nodes), csc.in_degree)
            relations[back] = Csc.from_edges(owner, csc.indices, csc.sources, csc.nodes)
            ends[back] = ends[source, name, target][::-1]
    degrees: dict[str, dict[str, Ids]] = {"paper": {}, "author": {}, "field": {}}
    for (source, name, target), csc in relations.items():
        source_slot, target_slot = ends[source, name, target]
        degrees[source][source_slot], degrees[target][target_slot] = csc.out_degree, csc.in_degree
    types_of_node = {}
    for name, slots in degrees.items():
        degree, count = np.unique(np.stack(list(slots.values())), axis=1, return_counts=True)
        table = {slot: row.astype(np.float64) for slot, row in zip(slots, degree, strict=True)}
        types_of_node[name] = NodeClasses(float(count.sum()), count / count.sum(), table)
    return relations, DegreeProfile(types_of_node, [Relation(*key, *ends[key]) for key in relations])


@pytest.fixture(scope="session")
def random_graphs() -> types.SimpleNamespace:
    """Return the generators above, for tests that can't import this file."""
    return types.SimpleNamespace(
        directed=directed, symmetrized=symmetrized, typed=typed, exact_profile=exact_profile, weights=weights
    )
