"""Fits one law to measurements: weighted by noise, robust to outliers, parameters within their bounds and with intervals.

Residuals are logs of predicted over measured, divided by what is known of each measurement's noise, so that a law meets
small values as well as large ones. The first guesses of the law are refined with a loss that grows with the absolute
residual only; then whatever lies further off than the scatter of the others explains is weighed down (Tukey's
biweight), and the rest is fitted by least squares. Intervals are Student's, from the linearized problem.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from calibration.laws._base import TINY, Array, Law, Points
from perfmodel.errors import SpecError

_STARTS: Final = 3  # guesses that are refined
_REJECTION: Final = (
    6.0  # standard deviations where Tukey's weight is 0; all but 2 % of the weight stays without outliers
)
_NORMAL: Final = 1.4826  # standard deviation of normal values over their median absolute one
_ROUNDS: Final = 6
_STEP: Final = 1e-6  # relative to a parameter's scale, for the slopes
_EXACT: Final = 1e-7  # scatter below which data count as noiseless
_TOLERANCE: Final = 1e-15
_ROUGH: Final = 1e-6  # of the soft loss, whose outcome is refined or compared only


@dataclasses.dataclass(frozen=True)
class Method:
    """How to fit.

    Attributes
    ----------
    relative : bool
        Residuals of logs; else differences of predicted and measured.
    robust : bool
        Outliers weigh less; else plain least squares.
    bounded : bool
        Parameters stay within what is physically possible.
    """

    relative: bool = True
    robust: bool = True
    bounded: bool = True


@dataclasses.dataclass(frozen=True)
class LawFit:
    """A fitted law.

    Attributes
    ----------
    law : Law
    method : Method
    values : array of shape (parameters,)
        In SI units.
    covariance : array of shape (parameters, parameters)
    residuals : array of shape (rows,)
        Log of predicted over measured, or predicted minus measured.
    error : array of shape (rows,)
        What was known of each measurement's own scatter, up to a common factor.
    weights : array of shape (rows,)
        0 for an outlier, about 1 for all else.
    scatter : float
        Standard deviation of the residuals, for an ``error`` of 1.
    degrees : float
        Of freedom.
    places : array of shape (distinct values,)
        Of the first input, sorted.
    """

    law: Law
    method: Method
    values: Array
    covariance: Array
    residuals: Array
    error: Array
    weights: Array
    scatter: float
    degrees: float
    places: Array

    @property
    def deviations(self) -> Array:
        """Return the standard deviation of each parameter."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def outliers(self) -> NDArray[np.bool_]:
        """Return the rows that were left aside or nearly so."""
        return self.weights < 0.05

    def intervals(self, level: float = 0.9) -> list[tuple[float, float]]:
        """Return the interval of each parameter, within its bounds."""
        reach = float(stats.t.ppf((1 + level) / 2, self.degrees)) * self.deviations
        found = []
        for value, own, parameter in zip(self.values, reach, self.law.parameters, strict=True):
            low, high = parameter.bounds if self.method.bounded else (-math.inf, math.inf)
            lower, upper = max(value - own, low), min(value + own, high)
            if parameter.located:
                lower = min([lower, *self.places[self.places <= value][-1:]])
                upper = max([upper, *self.places[self.places > value][:1]])
            found.append((float(lower), float(upper)))
        return found

    def predict(self, inputs: Array, level: float = 0.9) -> tuple[Array, Array, Array]:
        """Return what one more measurement would show, with the interval that holds it.

        Parameters
        ----------
        inputs : array of shape (inputs, places)
            In SI units.
        level : float

        Returns
        -------
        value, low, high : arrays of shape (places,)
        """
        value = self.law.value(inputs, self.values)
        slopes = _slopes(lambda parameters: self.law.value(inputs, parameters), self.values, _sizes(self.values))
        if self.method.relative:
            slopes = slopes / np.maximum(value, TINY)[:, None]
        spread = np.einsum("ij,jk,ik->i", slopes, self.covariance, slopes)
        typical = float(np.median(self.error)) * self.scatter
        reach = float(stats.t.ppf((1 + level) / 2, self.degrees)) * np.sqrt(np.maximum(spread, 0.0) + typical**2)
        if not self.method.relative:
            return value, value - reach, value + reach
        reach = np.minimum(reach, 300.0)  # an interval of a factor of 1e130 says "unknown" well enough
        return value, value * np.exp(-reach), value * np.exp(reach)


def fit_law(law: Law, points: Points, error: Array | None = None, method: Method | None = None) -> LawFit:
    """Fit a law.

    Parameters
    ----------
    law : Law
    points : Points
    error : array of shape (rows,), optional
        Standard deviation of each row's log (of the row itself where residuals are absolute), known up to a common
        factor; all the same by default.
    method : Method, optional

    Returns
    -------
    LawFit

    Raises
    ------
    SpecError
        The law does not apply to these points.

    Examples
    --------
    >>> from calibration.laws._base import law_named
    >>> size = np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])
    >>> points = Points(size, 3.0 + 2.0 * size[0], ("size", "time"), ("B", "s"))
    >>> fit_law(law_named("affine"), points).values.round(6).tolist()
    [3.0, 2.0]
    """
    method = method or Method()
    reason = law.applies(points)
    if reason is not None:
        raise SpecError(law.name, "must apply to the data", f"a law that {reason}", "auto")
    errors = np.ones_like(points.output) if error is None else error
    problem = _Problem(law, points, errors, method)
    values, weights = problem.solve()
    return problem.outcome(values, weights)


def quick_values(law: Law, points: Points, error: Array) -> Array:
    """Return parameters fitted with the robust loss alone: what cross-validation asks for again and again."""
    return _Problem(law, points, error, Method()).start()[0]


class _Problem:
    """One law, some points, and how to meet them."""

    def __init__(self, law: Law, points: Points, error: Array, method: Method) -> None:
        self.law, self.points, self.error, self.method = law, points, error, method
        self.logs = np.log(points.output) if method.relative else points.output
        bounds = np.array([parameter.bounds for parameter in law.parameters])
        unknown = np.full(len(bounds), math.inf)
        self.low: Array = bounds[:, 0] if method.bounded else -unknown
        self.high: Array = bounds[:, 1] if method.bounded else unknown

    def residuals(self, values: Array) -> Array:
        """Return the residuals [of the noise]."""
        predicted = self.law.value(self.points.inputs, values)
        seen = np.log(np.maximum(predicted, TINY)) if self.method.relative else predicted
        return np.asarray((seen - self.logs) / self.error)

    def start(self) -> tuple[Array, float]:
        """Return the best of the refined first guesses, and the scatter about it."""
        output = self.points.output if self.method.relative else np.maximum(self.points.output, TINY)
        guesses = np.clip(self.law.guess(self.points.inputs, output), self.low, self.high)
        ranked = sorted(guesses, key=lambda values: float(np.abs(self.residuals(values)).sum()))[:_STARTS]
        scale = max(_scatter(self.residuals(ranked[0]), ranked[0].size), _EXACT)
        found = [self.refine(values, np.ones_like(self.error), scale) for values in ranked]
        best = min(found, key=lambda values: float(np.abs(self.residuals(values)).sum()))
        return best, _scatter(self.residuals(best), best.size)

    def solve(self) -> tuple[Array, Array]:
        """Return the parameters and the weight of each row."""
        values, scatter = self.start()
        weights = np.ones_like(self.error)
        if not self.method.robust:
            return self.refine(values, weights), weights
        for _ in range(_ROUNDS):
            scatter = max(scatter, _EXACT)
            share = np.minimum(np.abs(self.residuals(values)) / (_REJECTION * scatter), 1.0)
            before, weights = weights, (1.0 - share**2) ** 2
            values = self.refine(values, weights)
            if np.abs(weights - before).max() < 1e-3:
                break
            scatter = _scatter(self.residuals(values), values.size)
        return values, weights

    def refine(self, values: Array, weights: Array, soft: float | None = None) -> Array:
        """Return the parameters of least squares, or of the soft loss from a scale on, starting from some."""
        sizes = _sizes(values, self.points.output if values.size else None)
        root = np.sqrt(weights)
        tolerance = _TOLERANCE if soft is None else _ROUGH

        def weighted(scaled: Array) -> Array:
            return np.asarray(root * self.residuals(scaled * sizes))

        def slopes(scaled: Array) -> Array:
            return np.asarray(root[:, None] * _slopes(self.residuals, scaled * sizes, sizes) * sizes)

        found = optimize.least_squares(
            weighted,
            np.clip(values, self.low, self.high) / sizes,
            jac=slopes,
            bounds=(self.low / sizes, self.high / sizes),
            loss="linear" if soft is None else "soft_l1",
            f_scale=1.0 if soft is None else 1.345 * soft,
            ftol=tolerance,
            xtol=tolerance,
            gtol=_TOLERANCE,
            max_nfev=200 if soft is None else 60,
        )
        return np.asarray(np.clip(found.x * sizes, self.low, self.high))

    def outcome(self, values: Array, weights: Array) -> LawFit:
        """Return the fit with its covariance."""
        left = self.residuals(values)
        degrees = max(float(weights.sum()) - values.size, 1.0)
        scatter = math.sqrt(max(float((weights * left**2).sum()) / degrees, 1e-30))
        sizes = _sizes(values)
        slopes = _slopes(self.residuals, values, sizes) * np.sqrt(weights)[:, None] * sizes
        inverse = np.linalg.pinv(slopes.T @ slopes, rcond=1e-14, hermitian=True)
        covariance = scatter**2 * inverse * np.outer(sizes, sizes)
        return LawFit(
            self.law, self.method, values, covariance, left * self.error, self.error, weights, scatter, degrees,
            np.unique(self.points.inputs[0]),
        )  # fmt: skip


def _scatter(residuals: Array, parameters: int) -> float:
    """Return a standard deviation that outliers don't move; as many residuals as parameters are fitted away."""
    size = np.sort(np.abs(residuals))[min(parameters, residuals.size - 1) :]
    return _NORMAL * float(np.median(size))


def _sizes(values: Array, output: Array | None = None) -> Array:
    """Return a scale for each parameter: its own size, or a small one where it is 0."""
    sizes = np.abs(values)
    least = 1e-6 * float(np.median(np.abs(output))) if output is not None else 0.0
    return np.asarray(np.where(sizes > 0, sizes, least or 1.0))


def _slopes(function: Callable[[Array], Array], values: Array, sizes: Array) -> Array:
    """Return the central differences of a function along each of its arguments, per unit of the argument."""
    columns = []
    for index, size in enumerate(sizes):
        step = np.zeros_like(values)
        step[index] = _STEP * size
        columns.append((function(values + step) - function(values - step)) / (2.0 * step[index]))
    return np.column_stack(columns)
