"""Weighted least squares on log residuals, with the joint uncertainty of the constants.

Constants are positive and fitted as logs within their bounds. A residual is the log of predicted over measured, divided
by what is known of the measurement's own error. The covariance is that of the linearized problem, scaled by what the
fit left over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Array = NDArray[np.float64]

_STEP = (1e-2,)  # relative, of a log: chunks are counted in whole ones, so that smaller steps see jumps
_BOUNDS_REACH = 2 * 1.6449  # width of a 90 % interval, in standard deviations
_WIDE_STEP = 0.03  # of a log, for the covariance: about the width over which a constant is known


@dataclasses.dataclass(frozen=True)
class Constant:
    """One constant to fit.

    Attributes
    ----------
    entry : str
        Catalog entry that it belongs to.
    fields : tuple of str
        Dotted fields that it sets.
    start : float
        First guess [unit].
    bounds : tuple of float
        What is physically possible [unit].
    unit, meaning : str
    """

    entry: str
    fields: tuple[str, ...]
    start: float
    bounds: tuple[float, float]
    unit: str
    meaning: str


@dataclasses.dataclass(frozen=True)
class Fit:
    """Outcome of a fit.

    Attributes
    ----------
    values : array of shape (constants,)
    covariance : array of shape (constants, constants)
        Of the logs.
    residuals : array of shape (observations,)
        Log of predicted over measured.
    cost : float
    """

    values: Array
    covariance: Array
    residuals: Array
    cost: float

    def intervals(self, level: float = 0.9) -> list[tuple[float, float]]:
        """Return the interval of each constant."""
        degrees = max(self.residuals.size - self.values.size, 1)
        reach = float(stats.t.ppf((1 + level) / 2, degrees)) * np.sqrt(np.diag(self.covariance))
        return [
            (float(value * np.exp(-r)), float(value * np.exp(r))) for value, r in zip(self.values, reach, strict=True)
        ]


def fit(
    predicted: Callable[[Array], Array],
    measured: Array,
    error: Array,
    constants: Sequence[Constant],
    loss: Literal["linear", "soft_l1"] = "linear",
) -> Fit:
    """Fit constants to measurements; a constant that no prediction depends on stays at its first guess.

    Parameters
    ----------
    predicted : callable
        From an array of constants to predictions of shape (observations,).
    measured : array of shape (observations,)
        Positive measurements.
    error : array of shape (observations,)
        Standard deviation of the log of each measurement: scatter and print resolution.
    constants : sequence of Constant
    loss : {"linear", "soft_l1"}
        ``soft_l1`` lets measurements that are far off their error count less.

    Returns
    -------
    Fit

    Examples
    --------
    >>> size = np.array([1.0, 2.0, 4.0, 8.0])
    >>> slope = Constant("", ("",), 1.0, (0.1, 100.0), "s/B", "time per byte")
    >>> found = fit(lambda values: values[0] * size, 3.0 * size, np.full(4, 0.1), [slope])
    >>> round(float(found.values[0]), 6)
    3.0
    """
    start = np.log([constant.start for constant in constants])
    low, high = np.log(np.array([constant.bounds for constant in constants])).T

    def weighted(logs: Array) -> Array:
        return np.asarray(np.log(predicted(np.exp(logs)) / measured) / error)

    held = np.array([not _slope(weighted, start, index).any() for index in range(start.size)])

    def with_held(free: Array) -> Array:
        logs = start.copy()
        logs[~held] = free
        return logs

    def weighted_free(free: Array) -> Array:
        return weighted(with_held(free))

    found = optimize.least_squares(
        weighted_free,
        start[~held],
        bounds=(low[~held], high[~held]),
        x_scale="jac",
        jac="3-point",
        diff_step=_STEP * int((~held).sum()),
        loss=loss,
    )
    logs = with_held(found.x)
    left = weighted(logs)
    degrees = max(left.size - int((~held).sum()), 1)
    scale = max(float((left**2).sum()) / degrees, 1e-300)
    slopes = np.column_stack([_slope(weighted, logs, index) for index in range(start.size)])
    return Fit(np.exp(logs), _covariance(slopes, scale, high - low), left * error, float(found.cost))


def _covariance(slopes: Array, scale: float, width: Array) -> Array:
    """Return the covariance of the logs; the bounds, as a 90 % interval, are all that is known beside the data."""
    information = slopes.T @ slopes / scale + np.diag((_BOUNDS_REACH / width) ** 2)
    return np.asarray(np.linalg.inv(information), dtype=np.float64)


def _slope(function: Callable[[Array], Array], where: Array, index: int) -> Array:
    """Return the central difference of a function along one of its arguments."""
    shift = np.zeros_like(where)
    shift[index] = _WIDE_STEP
    return (function(where + shift) - function(where - shift)) / (2 * _WIDE_STEP)
