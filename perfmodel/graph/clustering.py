"""The measured correction for clustering: how far real batches fall short of the mean field, hop by hop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perfmodel.graph.minibatch import MiniBatch, Seeds, Semantics, expected_minibatch
from perfmodel.graph.profile import DegreeProfile
from perfmodel.graph.sampler import Csc, RelationKey, sample_heterogeneous

_FEWEST, _MOST = 8, 64
_PRECISION = 0.004  # batches are drawn until each hop's standard error is this share of its mean
_NOISE = 2.0  # standard errors that the mean field may be above the measured mean without a correction


@dataclasses.dataclass(frozen=True)
class MeasuredHop:
    """One hop: what real batches held beside what is expected; hop 0 is the seeds.

    Attributes
    ----------
    nodes, nodes_error : float
        Mean of the nodes seen for the first time, and its standard error [node].
    edges, edges_error : float
        Mean of the edges drawn, and its standard error [edge].
    mean_field_nodes, mean_field_edges : float
        Expected without the correction.
    corrected_nodes, corrected_edges : float
        Expected with the correction.
    """

    nodes: float
    nodes_error: float
    edges: float
    edges_error: float
    mean_field_nodes: float
    mean_field_edges: float
    corrected_nodes: float
    corrected_edges: float


@dataclasses.dataclass(frozen=True)
class Drawing:
    """How batches are drawn: seeds uniform over one node type, neighbors without replacement."""

    node_type: str
    batch: int
    fanout: tuple[int, ...]
    semantics: Semantics
    seed: int = 0


def measure_reach(
    profile: DegreeProfile, relations: Mapping[RelationKey, Csc], drawing: Drawing
) -> tuple[tuple[float, ...], tuple[MeasuredHop, ...]]:
    """Draw real batches and solve for the reach that makes the expected new nodes equal the measured ones.

    Parameters
    ----------
    profile : DegreeProfile
    relations : mapping of relation to Csc
        The graph that the profile is of.
    drawing : Drawing

    Returns
    -------
    reach : tuple of float
        By hop [node/seed]; infinite where the mean field is within two standard errors, or below what was measured.
    hops : tuple of MeasuredHop
    """
    nodes, edges = draw_batches(relations, drawing)
    measured, error = nodes.mean(axis=0), nodes.std(axis=0, ddof=1) / np.sqrt(len(nodes))
    plain = dataclasses.replace(profile, reach=())

    def expected(reach: Sequence[float]) -> MiniBatch:
        given = dataclasses.replace(plain, reach=tuple(reach))
        return expected_minibatch(
            given, Seeds(drawing.node_type), drawing.batch, drawing.fanout, drawing.semantics, False
        )

    reach: list[float] = []
    for hop in range(1, len(drawing.fanout) + 1):

        def excess(log_reach: float, hop: int = hop) -> float:
            return _new_nodes(expected([*reach, np.exp(log_reach)]), hop) - float(measured[hop])

        free = _new_nodes(expected(reach), hop) - float(measured[hop])
        reach.append(_solve(excess) if free > _NOISE * error[hop] and measured[hop] > 0 else float("inf"))
    return tuple(reach), _compare(nodes, edges, expected(()), expected(reach))


def draw_batches(
    relations: Mapping[RelationKey, Csc], drawing: Drawing
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw batches until their mean is precise; returns new nodes and edges, each of shape (batches, hops + 1)."""
    rng = np.random.default_rng(drawing.seed)
    size = next(csc.nodes for key, csc in relations.items() if key[2] == drawing.node_type)
    batch = min(drawing.batch, size)
    nodes: list[NDArray[np.float64]] = []
    edges: list[NDArray[np.float64]] = []
    while len(nodes) < _MOST:
        seeds = rng.choice(size, size=batch, replace=False, shuffle=False)
        drawn = sample_heterogeneous(relations, {drawing.node_type: seeds}, drawing.fanout, drawing.semantics, rng=rng)
        nodes.append(np.sum(list(drawn.nodes_per_hop.values()), axis=0).astype(float))
        edges.append(np.append(0.0, np.sum(list(drawn.edges_per_hop.values()), axis=0)))
        if len(nodes) >= _FEWEST:
            mean, error = np.mean(nodes, axis=0), np.std(nodes, axis=0, ddof=1) / np.sqrt(len(nodes))
            if (error <= _PRECISION * mean).all():
                break
    return np.array(nodes), np.array(edges)


def _new_nodes(batch: MiniBatch, hop: int) -> float:
    return sum(batch.hops[hop].nodes.values())


def _solve(excess: Callable[[float], float]) -> float:
    from scipy import optimize

    low, high = np.log(1e-9), np.log(1e15)
    if excess(high) <= 0 or excess(low) >= 0:
        return float("inf")
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-9)))


def _compare(
    nodes: NDArray[np.float64], edges: NDArray[np.float64], plain: MiniBatch, corrected: MiniBatch
) -> tuple[MeasuredHop, ...]:
    root = np.sqrt(len(nodes))
    return tuple(
        MeasuredHop(
            float(nodes[:, hop].mean()),
            float(nodes[:, hop].std(ddof=1) / root),
            float(edges[:, hop].mean()),
            float(edges[:, hop].std(ddof=1) / root),
            _new_nodes(plain, hop),
            sum(plain.hops[hop].edges.values()),
            _new_nodes(corrected, hop),
            sum(corrected.hops[hop].edges.values()),
        )
        for hop in range(nodes.shape[1])
    )
