"""The fit on problems with known answers: recovery, coverage, scipy's covariance, NIST's certified values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from calibration.fit import Constant, Fit, fit

Array = NDArray[np.float64]

SIZE = np.geomspace(1e4, 1e9, 24)
CHUNK = 2.0**20


def constant(name: str, start: float, low: float = 1e-12, high: float = 1e12) -> Constant:
    return Constant("", (name,), start, (low, high), "", name)


def linear(values: Array) -> Array:
    """A fixed cost and a cost for each byte."""
    return np.asarray(values[0] + values[1] * SIZE)


def chunked(values: Array) -> Array:
    """A cost for each byte and a cost for each whole chunk."""
    return np.asarray(values[0] * SIZE + values[1] * np.ceil(SIZE / CHUNK))


def saturating(values: Array) -> Array:
    """A closed-loop law: latency at rest and throughput at saturation."""
    return np.asarray((values[0] ** 4 + (SIZE / values[1]) ** 4) ** 0.25)


PROBLEMS: dict[str, tuple[Callable[[Array], Array], Array, list[Constant]]] = {
    "linear": (linear, np.array([1e-3, 2e-9]), [constant("a", 1e-2), constant("b", 1e-8)]),
    "chunked": (chunked, np.array([3e-9, 1e-3]), [constant("a", 1e-8), constant("b", 1e-2)]),
    "saturating": (saturating, np.array([1e-2, 5e8]), [constant("a", 1e-1), constant("b", 1e8)]),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_without_noise_the_constants_come_back(problem: str) -> None:
    law, truth, constants = PROBLEMS[problem]
    found = fit(law, law(truth), np.full(SIZE.size, 0.05), constants)
    np.testing.assert_allclose(found.values, truth, rtol=1e-5)
    assert found.cost < 1e-8


def noisy(problem: str, seed: int, scatter: float) -> tuple[Fit, Array]:
    law, truth, constants = PROBLEMS[problem]
    noise = np.exp(scatter * np.random.default_rng(seed).standard_normal(SIZE.size))
    return fit(law, law(truth) * noise, np.full(SIZE.size, 0.1), constants), truth


@pytest.mark.parametrize("problem", PROBLEMS)
def test_intervals_cover_the_truth_as_often_as_they_say(problem: str) -> None:
    """Of 300 intervals of a constant 270 are expected to hold it, give or take 5; four times that is allowed."""
    inside = np.zeros(2)
    for seed in range(300):
        found, truth = noisy(problem, seed, 0.05)
        inside += [low <= value <= high for (low, high), value in zip(found.intervals(), truth, strict=True)]
    assert (inside > 250).all()
    assert (inside < 290).all()


def test_wider_levels_are_wider() -> None:
    found, _ = noisy("linear", 0, 0.05)
    for (low, high), (lower, higher) in zip(found.intervals(0.5), found.intervals(0.95), strict=True):
        assert lower < low < high < higher


@pytest.mark.parametrize("problem", PROBLEMS)
def test_covariance_is_that_of_curve_fit(problem: str) -> None:
    law, truth, constants = PROBLEMS[problem]
    measured = law(truth) * np.exp(0.05 * np.random.default_rng(3).standard_normal(SIZE.size))
    found = fit(law, measured, np.full(SIZE.size, 0.1), constants)
    values, covariance = optimize.curve_fit(
        lambda _, *logs: np.log(law(np.exp(np.array(logs)))), SIZE, np.log(measured), p0=np.log(truth),
        sigma=np.full(SIZE.size, 0.1),
    )  # fmt: skip
    np.testing.assert_allclose(np.log(found.values), values, atol=1e-4)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-2)


def test_unequal_errors_weigh_as_in_curve_fit() -> None:
    law, truth, constants = PROBLEMS["linear"]
    error = np.linspace(0.02, 0.3, SIZE.size)
    measured = law(truth) * np.exp(error * np.random.default_rng(4).standard_normal(SIZE.size))
    found = fit(law, measured, error, constants)
    values, covariance = optimize.curve_fit(
        lambda _, *logs: np.log(law(np.exp(np.array(logs)))), SIZE, np.log(measured), p0=np.log(truth), sigma=error
    )
    np.testing.assert_allclose(np.log(found.values), values, atol=1e-4)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-2)


def test_residuals_are_logs_of_predicted_over_measured() -> None:
    found, truth = noisy("linear", 1, 0.05)
    measured = linear(truth) * np.exp(0.05 * np.random.default_rng(1).standard_normal(SIZE.size))
    np.testing.assert_allclose(found.residuals, np.log(linear(found.values) / measured), atol=1e-12)


def test_a_constant_stays_within_its_bounds() -> None:
    found = fit(lambda v: v[0] * SIZE, 10.0 * SIZE, np.full(SIZE.size, 0.1), [constant("a", 1.0, 0.1, 5.0)])
    assert found.values[0] == pytest.approx(5.0, rel=1e-3)
    assert found.values[0] <= 5.0


def test_a_constant_without_effect_is_not_known() -> None:
    """Not even a perfect fit says anything of it: its interval is as wide as its bounds."""
    constants = [constant("a", 1.0, 1e-3, 1e3), constant("idle", 1.0, 1e-3, 1e3)]
    found = fit(lambda v: v[0] * SIZE, 2.0 * SIZE, np.full(SIZE.size, 0.1), constants)
    (low, high), (idle_low, idle_high) = found.intervals()
    assert high / low < 1.001
    assert idle_low < 1e-3
    assert idle_high > 1e3


def test_a_product_is_known_where_its_factors_are_not() -> None:
    constants = [constant("a", 1.0, 1e-3, 1e3), constant("b", 1.0, 1e-3, 1e3)]
    noise = np.exp(0.05 * np.random.default_rng(5).standard_normal(SIZE.size))
    found = fit(lambda v: v[0] * v[1] * SIZE, 2.0 * SIZE * noise, np.full(SIZE.size, 0.1), constants)
    assert float(np.prod(found.values)) == pytest.approx(2.0, rel=0.03)
    product = np.ones(2) @ found.covariance @ np.ones(2)
    assert np.sqrt(product) == pytest.approx(0.05 / np.sqrt(SIZE.size), rel=0.5)
    assert np.sqrt(found.covariance[0, 0]) > 1.0


# NIST StRD, linear regression, https://www.itl.nist.gov/div898/strd/lls/lls.shtml. A residual of the fit is a log, so
# the exponentials of NIST's responses are fitted.
NOINT1 = (np.arange(60.0, 71.0), np.arange(130.0, 141.0))
NOINT2 = (np.array([4.0, 5.0, 6.0]), np.array([3.0, 4.0, 4.0]))
NORRIS_TEXT = """
    0.1 0.2 338.8 337.4 118.1 118.2 888.0 884.6 9.2 10.1 228.1 226.5 668.5 666.3 998.5 996.3 449.1 448.6 778.9 777.0
    559.2 558.2 0.3 0.4 0.1 0.6 778.1 775.5 668.8 666.9 339.3 338.0 448.9 447.5 10.8 11.6 557.7 556.0 228.3 228.1
    998.0 995.8 888.8 887.6 119.6 120.2 0.3 0.3 0.6 0.3 557.6 556.8 339.3 339.1 888.0 887.2 998.5 999.0 778.9 779.0
    10.2 11.1 117.6 118.3 228.9 229.2 668.4 669.1 449.2 448.9 0.2 0.5
"""
NORRIS = np.array(NORRIS_TEXT.split(), dtype=float).reshape(-1, 2)


@pytest.mark.parametrize(
    ("data", "slope", "deviation", "residual"),
    [
        (NOINT1, 2.07438016528926, 0.0165289256198347, 3.56753034006338),
        (NOINT2, 0.727272727272727, 0.0420827318078432, 0.369274472937998),
    ],
    ids=["NoInt1", "NoInt2"],
)
def test_nist_regression_through_the_origin(
    data: tuple[Array, Array], slope: float, deviation: float, residual: float
) -> None:
    x, y = data
    found = fit(lambda v: np.exp(v[0] * x), np.exp(y), np.ones(x.size), [constant("slope", 1.0, 1e-3, 5.0)])
    assert found.values[0] == pytest.approx(slope, rel=1e-6)
    assert np.sqrt(found.covariance[0, 0]) * slope == pytest.approx(deviation, rel=1e-3)
    assert np.sqrt((found.residuals**2).sum() / (x.size - 1)) == pytest.approx(residual, rel=1e-6)


def test_nist_norris() -> None:
    """Halved, as exp(999) is no float; the intercept is negative, so its exponential is the constant."""
    y, x = NORRIS.T / 2
    constants = [constant("intercept", 1.0, 1e-3, 1e3), constant("slope", 0.9, 0.1, 1.4)]
    found = fit(lambda v: v[0] * np.exp(v[1] * x), np.exp(y), np.ones(x.size), constants)
    assert np.log(found.values[0]) == pytest.approx(-0.262323073774029 / 2, rel=1e-4)
    assert found.values[1] == pytest.approx(1.00211681802045, rel=1e-6)
    assert np.sqrt(found.covariance[0, 0]) == pytest.approx(0.232818234301152 / 2, rel=1e-3)
    assert np.sqrt(found.covariance[1, 1]) * 1.00211681802045 == pytest.approx(0.429796848199937e-03, rel=1e-3)
    assert np.sqrt((found.residuals**2).sum() / 34) == pytest.approx(0.884796396144373 / 2, rel=1e-6)
