"""A synthetic graph with heavy tails, the same for every sampler."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.sampler import Csc

_EXPONENT = 2.3  # of the density of both degrees, about that of citation and social graphs


@functools.lru_cache(maxsize=4)
def power_law_graph(nodes: int, mean_degree: int, seed: int = 0) -> Csc:
    """Draw a directed graph whose in- and out-degrees are independent and Pareto; edges drawn twice are kept.

    Parameters
    ----------
    nodes : int
    mean_degree : int
        Edges per node [edge/node].
    seed : int

    Examples
    --------
    >>> graph = power_law_graph(1000, 10)
    >>> graph.nodes, graph.edges, bool(graph.in_degree.max() > 5 * graph.in_degree.mean())
    (1000, 10000, True)
    """
    random = np.random.default_rng(seed)
    edges = nodes * mean_degree
    source, target = (_ends(_weights(nodes, random), edges, random) for _ in range(2))
    return Csc.from_edges(source, target, nodes)


def _weights(nodes: int, random: np.random.Generator) -> NDArray[np.float64]:
    # no node gets more than a share of the edges that a real hub has
    drawn = (1.0 - random.random(nodes)) ** (-1.0 / (_EXPONENT - 1.0))
    return np.asarray(np.minimum(drawn, nodes**0.75), dtype=np.float64)


def _ends(weights: NDArray[np.float64], edges: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Draw one end of every edge in proportion to the weights."""
    sums = np.cumsum(weights)
    found = np.searchsorted(sums, random.random(edges) * sums[-1])
    return np.asarray(np.minimum(found, weights.size - 1), dtype=np.int64)
