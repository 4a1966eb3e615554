"""Degree classes from the statistics that papers print: mean, spread, maximum, share of edges at high-degree nodes.

The family is the generalized gamma distribution (Stacy 1962), which holds the lognormal and the gamma as limits: two
graphs of one mean and one spread still differ in how many of the edges sit at nodes above the mean, and that share
decides how many distinct nodes a hop finds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOGNORMAL = float("inf")  # the generalized gamma's limit of a large shape


@functools.lru_cache(maxsize=512)
def degree_classes(
    mean: float,
    cv: float,
    largest: float,
    edge_share_above_mean: float | None = None,
    classes: int = 160,
    nodes: float = 1e6,
) -> tuple[Array, Array]:
    """Cut a degree distribution into classes.

    Parameters
    ----------
    mean : float
        Mean degree [edge/node].
    cv : float
        Standard deviation over mean; 0 gives a regular graph.
    largest : float
        Largest degree, where the tail is cut [edge/node].
    edge_share_above_mean : float, optional
        Share of the edges at nodes whose degree is above the mean; the lognormal's own when not known.
    classes : int
        How many classes.
    nodes : float
        How many nodes the graph has: the last class holds about one of them.

    Returns
    -------
    share, degree : arrays of shape (classes,)
        Share of the nodes in each class (sums to 1) and their degree; mean and cv are met exactly.

    Examples
    --------
    >>> share, degree = degree_classes(50.517, 1.898, 17481.0, 0.768)
    >>> round(float((share * degree).sum()), 3)
    50.517
    """
    if cv < 1e-6 or mean <= 0 or largest <= mean:
        return np.ones(1), np.full(1, float(mean))
    shape = LOGNORMAL if edge_share_above_mean is None else _shape_for(cv, edge_share_above_mean)
    share, middle = _cuts(classes, nodes)
    return share, _matched(share, middle, shape, mean, cv, largest)


def _cuts(classes: int, nodes: float) -> tuple[Array, Array]:
    """Cut [0, 1] evenly below 0.8 and ever finer towards 1, down to one node; returns shares and mid quantiles."""
    body = classes // 2
    tail = 1.0 - np.geomspace(0.2, 1.0 / max(nodes, 1e3), classes - body)
    edges = np.concatenate([np.linspace(0.0, 0.8, body, endpoint=False), tail, [1.0]])
    return np.diff(edges), (edges[1:] + edges[:-1]) / 2


def _quantile(middle: Array, shape: float, power: float) -> Array:
    """Return quantiles of the generalized gamma ``G**power`` (lognormal of log-deviation ``power`` in the limit)."""
    from scipy import special

    if np.isinf(shape):
        return np.asarray(np.exp(power * special.ndtri(middle)))
    return np.asarray(special.gammaincinv(shape, middle) ** power)


def _matched(share: Array, middle: Array, shape: float, mean: float, cv: float, largest: float) -> Array:
    """Find power and scale so that the cut classes have the asked mean and cv, the largest degree included."""

    def scaled(power: float) -> Array:
        raw = _quantile(middle, shape, power)
        scale = mean / float(share @ raw)
        for _ in range(
            100
        ):  # the cut at `largest` takes some mass away, which the scale gives back: Newton, from below
            short = mean - float(share @ np.minimum(raw * scale, largest))
            slope = float((share * raw)[raw * scale < largest].sum())
            if short <= 1e-14 * mean or slope <= 0:
                break
            scale += short / slope
        return np.minimum(raw * scale, largest)

    def excess(log_power: float) -> float:
        degree = scaled(float(np.exp(log_power)))
        return float(np.sqrt((share * degree**2).sum() / mean**2 - 1.0)) - cv

    # too wide a power piles the mass up at the cut, and the spread falls again: the first crossing is the one meant
    powers = np.linspace(np.log(1e-3), np.log(60.0), 41)
    for _ in range(4):
        excesses = [excess(power) for power in powers]
        above = next((number for number, value in enumerate(excesses) if value > 0), None)
        if above is not None:
            break
        widest = int(np.argmax(excesses))  # the crossing may hide beside the widest power tried
        powers = np.linspace(powers[max(widest - 1, 0)], powers[min(widest + 1, powers.size - 1)], 17)
    else:  # the cut leaves no room for so much spread: the widest that fits
        return scaled(float(np.exp(powers[powers.size // 2])))
    if above == 0:
        return scaled(float(np.exp(powers[0])))
    return scaled(float(np.exp(_crossing(excess, powers[above - 1], powers[above]))))


@functools.lru_cache(maxsize=256)
def _shape_for(cv: float, edge_share: float) -> float:
    """Find the shape of the generalized gamma of this cv whose nodes above the mean hold this share of the edges."""
    from scipy import special

    def power_for(shape: float) -> float:
        def excess(log_power: float) -> float:
            p = float(np.exp(log_power))
            logs = special.gammaln([shape + 2 * p, shape + p, shape])
            return float(logs[0] - 2 * logs[1] + logs[2] - np.log1p(cv * cv))

        return float(np.exp(_crossing(excess, np.log(1e-4), np.log(60.0))))

    def excess_share(log_shape: float) -> float:
        shape = float(np.exp(log_shape))
        p = power_for(shape)
        mean = np.exp(special.gammaln(shape + p) - special.gammaln(shape))
        return float(special.gammaincc(shape + p, mean ** (1.0 / p))) - edge_share

    low, high = np.log(0.05), np.log(200.0)
    if excess_share(high) >= 0:  # even flatter than a lognormal: the limit is the closest of the family
        return LOGNORMAL
    if excess_share(low) <= 0:
        return float(np.exp(low))
    return float(np.exp(_crossing(excess_share, low, high)))


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a continuous function changes sign, by the Illinois rule; scipy.optimize takes 0.3 s to import."""
    at_low, at_high = function(low), function(high)
    for _ in range(200):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = function(middle)
        if at_middle == 0.0 or abs(high - low) < 1e-13:
            break
        if (at_middle > 0) != (at_high > 0):
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = middle, at_middle
        if abs(at_middle) < 1e-14:
            break
    return float(middle)
