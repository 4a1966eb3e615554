"""The fitter: NIST's certified values, covariance, coverage, outliers, weights, and what repetitions say of the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from calibration.law_fit import LawFit, Method, fit_law
from calibration.laws._base import Law, Parameter, Points, law_named
from calibration.noise import lack_of_fit, measured_noise
from perfmodel.errors import SpecError

Array = NDArray[np.float64]

PLAIN = Method(relative=False, robust=False, bounded=False)
SIZE = np.geomspace(1e3, 1e8, 25)[None]

# NIST StRD, https://www.itl.nist.gov/div898/strd: x and y of the problems, certified values and standard deviations.
DANWOOD = ([1.309, 1.471, 1.490, 1.565, 1.611, 1.680], [2.138, 3.421, 3.597, 4.340, 4.882, 5.660])
MISRA = (
    [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0],
    [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78],
)
BOXBOD = ([1.0, 2.0, 3.0, 5.0, 7.0, 10.0], [109.0, 149.0, 149.0, 191.0, 213.0, 224.0])
NORRIS_TEXT = """
    0.1 0.2 338.8 337.4 118.1 118.2 888.0 884.6 9.2 10.1 228.1 226.5 668.5 666.3 998.5 996.3 449.1 448.6 778.9 777.0
    559.2 558.2 0.3 0.4 0.1 0.6 778.1 775.5 668.8 666.9 339.3 338.0 448.9 447.5 10.8 11.6 557.7 556.0 228.3 228.1
    998.0 995.8 888.8 887.6 119.6 120.2 0.3 0.3 0.6 0.3 557.6 556.8 339.3 339.1 888.0 887.2 998.5 999.0 778.9 779.0
    10.2 11.1 117.6 118.3 228.9 229.2 668.4 669.1 449.2 448.9 0.2 0.5
"""
NORRIS = np.array(NORRIS_TEXT.split(), dtype=float).reshape(-1, 2)[:, ::-1].T


def nist_law(value: Callable[[Array, Array], Array], *starts: Sequence[float]) -> Law:
    """Return a law of NIST's own form, from NIST's own starting values."""
    parameters = tuple(Parameter(f"b{number + 1}", "of NIST's model") for number in range(len(starts[0])))
    return Law("nist", "NIST's model", "", ("x",), parameters, value, lambda inputs, output: np.array(starts))


def plain_points(data: Sequence[Sequence[float]] | Array) -> Points:
    return Points(np.array([data[0]]), np.array(data[1]), ("x", "y"), ("1", "1"))


def exponential(inputs: Array, b: Array) -> Array:
    return np.asarray(-b[0] * np.expm1(np.clip(-b[1] * inputs[0], -700.0, 700.0)))


#: law, data, certified values, their standard deviations, residual sum of squares
PROBLEMS: dict[str, tuple[Law, Sequence[Sequence[float]] | Array, list[float], list[float], float]] = {
    "Norris": (
        law_named("affine"), NORRIS,
        [-0.262323073774029, 1.00211681802045], [0.232818234301152, 0.429796848199937e-03], 26.6173985294224,
    ),
    "DanWood": (
        law_named("power"), DANWOOD,
        [7.6886226176e-01, 3.8604055871e00], [1.8281973860e-02, 5.1726610913e-02], 4.3173084083e-03,
    ),
    "DanWood from NIST's first start": (
        nist_law(lambda x, b: b[0] * x[0] ** b[1], (1.0, 5.0)), DANWOOD,
        [7.6886226176e-01, 3.8604055871e00], [1.8281973860e-02, 5.1726610913e-02], 4.3173084083e-03,
    ),
    "Misra1a": (
        nist_law(exponential, (500.0, 0.0001), (250.0, 0.0005)), MISRA,
        [2.3894212918e02, 5.5015643181e-04], [2.7070075241e00, 7.2668688436e-06], 1.2455138894e-01,
    ),
    "Misra1b": (
        nist_law(lambda x, b: b[0] * (1 - (1 + b[1] * x[0] / 2) ** -2.0), (500.0, 0.0001), (300.0, 0.0002)), MISRA,
        [3.3799746163e02, 3.9039091287e-04], [3.1643950207e00, 4.2547321834e-06], 7.5464681533e-02,
    ),
    "Misra1c": (
        nist_law(lambda x, b: b[0] * (1 - np.abs(1 + 2 * b[1] * x[0]) ** -0.5), (500.0, 0.0001), (600.0, 0.0002)), MISRA,
        [6.3642725809e02, 2.0813627256e-04], [4.6638326572e00, 1.7728423155e-06], 4.0966836971e-02,
    ),
    "Misra1d": (
        nist_law(lambda x, b: b[0] * b[1] * x[0] / (1 + b[1] * x[0]), (500.0, 0.0001), (450.0, 0.0003)), MISRA,
        [4.3736970754e02, 3.0227324449e-04], [3.6489174345e00, 2.9334354479e-06], 5.6419295283e-02,
    ),
    "BoxBOD": (
        nist_law(exponential, (1.0, 1.0), (100.0, 0.75)), BOXBOD,
        [2.1380940889e02, 5.4723748542e-01], [1.2354515176e01, 1.0455993237e-01], 1.1680088766e03,
    ),
}  # fmt: skip


def digits(found: float, certified: float) -> float:
    """Return the number of right digits, the log relative error."""
    return float(-np.log10(max(abs(found / certified - 1.0), 1e-15)))


@pytest.mark.parametrize("name", PROBLEMS)
def test_nist(name: str) -> None:
    law, data, certified, deviations, squares = PROBLEMS[name]
    found = fit_law(law, plain_points(data), method=PLAIN)
    for value, true in zip(found.values, certified, strict=True):
        assert digits(float(value), true) > 8.0
    for deviation, true in zip(found.deviations, deviations, strict=True):
        assert digits(float(deviation), true) > 5.0
    assert digits(float((found.residuals**2).sum()), squares) > 8.5


def test_nist_misra1d_is_hockneys_law() -> None:
    """``b1 * b2 * x / (1 + b2 * x)`` with b1 the bandwidth and ``1 / (b1 * b2)`` the latency, from the law's own guess."""
    found = fit_law(law_named("hockney_bandwidth"), plain_points(MISRA), method=PLAIN)
    latency, bandwidth = found.values
    assert digits(float(bandwidth), 4.3736970754e02) > 8.0
    assert digits(float(1 / (bandwidth * latency)), 3.0227324449e-04) > 8.0
    assert digits(float(found.deviations[1]), 3.6489174345e00) > 5.0
    assert digits(float((found.residuals**2).sum()), 5.6419295283e-02) > 8.5


def noisy(law_name: str, truth: Sequence[float], seed: int, scatter: float = 0.02, inputs: Array = SIZE) -> Points:
    law = law_named(law_name)
    factors = np.exp(scatter * np.random.default_rng(seed).standard_normal(inputs.shape[1]))
    names = tuple("abc"[: inputs.shape[0]])
    units = tuple({"bytes": "B"}.get(law.input_kind, "1") for _ in names)
    return Points(inputs, law.value(inputs, np.array(truth)) * factors, (*names, "y"), (*units, "s"))


def test_covariance_is_that_of_curve_fit() -> None:
    law, data = law_named("affine"), noisy("affine", (1e-4, 1e-10), 3)
    found = fit_law(law, data, method=Method(robust=False))
    scale = np.array([1e-4, 1e-10])
    values, covariance = optimize.curve_fit(
        lambda _, *own: np.log(law.value(data.inputs, np.array(own) * scale)),
        SIZE[0],
        np.log(data.output),
        p0=[1.0, 1.0],
    )
    np.testing.assert_allclose(found.values / scale, values, rtol=1e-6)
    np.testing.assert_allclose(found.covariance / np.outer(scale, scale), covariance, rtol=1e-4)


COVERED = {"affine": (1e-4, 1e-10), "saturating": (1e-4, 1e-10), "power": (1e-6, 0.4)}


@pytest.mark.parametrize("name", COVERED)
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    """Of 200 intervals 180 are expected to hold it, give or take 4.2; three times that is allowed."""
    truth, inside, far = COVERED[name], np.zeros(2), 0
    place = 8 * SIZE[:, -1:]
    for seed in range(200):
        found = fit_law(law_named(name), noisy(name, truth, seed))
        inside += [low <= true <= high for (low, high), true in zip(found.intervals(), truth, strict=True)]
        _, low, high = found.predict(place)
        more = float(law_named(name).value(place, np.array(truth))[0])
        more *= float(np.exp(0.02 * np.random.default_rng(seed + 1000).standard_normal()))
        far += bool(low[0] <= more <= high[0])
    assert (inside > 167).all()
    assert (inside < 193).all()
    assert 167 < far < 193


def test_without_outliers_the_robust_fit_is_that_of_least_squares() -> None:
    apart = []
    for seed in range(20):
        data = noisy("affine", (1e-4, 1e-10), seed)
        robust, plain = (fit_law(law_named("affine"), data, method=Method(robust=own)) for own in (True, False))
        apart.append((robust.values - plain.values) / plain.deviations)
    assert (np.sqrt(np.mean(np.square(apart), axis=0)) < 0.4).all()


@given(
    st.lists(st.tuples(st.integers(0, 24), st.floats(0.02, 50.0)), min_size=1, max_size=5, unique_by=lambda own: own[0])
)
@settings(max_examples=25)
def test_a_fifth_of_wild_rows_moves_nothing_far(wild: list[tuple[int, float]]) -> None:
    data = noisy("affine", (1e-4, 1e-10), 7)
    output = data.output.copy()
    for row, factor in wild:
        output[row] *= factor
    found = fit_law(law_named("affine"), Points(data.inputs, output, data.names, data.units))
    truth = law_named("affine").value(SIZE, np.array([1e-4, 1e-10]))
    np.testing.assert_allclose(law_named("affine").value(SIZE, found.values), truth, rtol=0.08)


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
@settings(max_examples=20)
def test_other_units_give_the_same_fit(size: float, time: float) -> None:
    data = noisy("saturating", (1e-4, 1e-10), 11)
    here = fit_law(law_named("saturating"), data)
    there = fit_law(law_named("saturating"), Points(size * data.inputs, time * data.output, data.names, data.units))
    np.testing.assert_allclose(there.values, here.values * [time, time / size], rtol=1e-6)
    np.testing.assert_allclose(there.deviations, here.deviations * [time, time / size], rtol=1e-3)


def test_rows_weigh_by_their_noise() -> None:
    error = np.where(np.arange(25) % 2 == 0, 0.005, 0.3)
    truth = np.array([1e-4, 1e-10])
    law = law_named("affine")
    output = law.value(SIZE, truth) * np.exp(error * np.random.default_rng(5).standard_normal(25))
    data = Points(SIZE, output, ("size", "time"), ("B", "s"))
    assert np.abs(fit_law(law, data, error).values / truth - 1).max() < 0.01
    assert fit_law(law, data, error).scatter == pytest.approx(1.0, rel=0.35)


def test_a_parameter_at_its_bound_has_an_interval_from_there() -> None:
    data = Points(SIZE, 1e-9 * SIZE[0] ** 1.02, ("size", "time"), ("B", "s"))
    found = fit_law(law_named("affine"), data)
    low, high = found.intervals()[0]
    assert 0.0 <= low <= found.values[0] <= high


def test_the_place_of_a_knee_is_known_to_the_next_sizes() -> None:
    found = fit_law(law_named("hockney"), noisy("hockney", (5e-6, 1e-9, 3e4, 2e-5, 2e-10), 2))
    low, high = found.intervals()[2]
    assert low <= 3e4 <= high
    assert high / low > 1.5


def test_a_law_that_does_not_apply_is_refused() -> None:
    with pytest.raises(SpecError, match="takes 2 inputs"):
        fit_law(law_named("product"), noisy("affine", (1.0, 1.0), 0))


def repeated(spread: Sequence[float], seed: int, curve: float = 0.0) -> tuple[LawFit, Points]:
    """Return a straight line through repeated points, each with its own spread."""
    random = np.random.default_rng(seed)
    x = np.repeat(np.arange(1.0, len(spread) + 1), 6)
    noise = np.exp(np.repeat(spread, 6) * random.standard_normal(x.size))
    data = Points(x[None], (3.0 + x + curve * x**1.8) * noise, ("x", "y"), ("1", "s"))
    return fit_law(law_named("affine"), data, measured_noise(data).errors), data


def test_noise_is_that_between_repetitions() -> None:
    _, data = repeated([0.02] * 10, 1)
    noise = measured_noise(data)
    assert noise.degrees == 50
    assert noise.typical == pytest.approx(0.02, rel=0.25)
    _, uneven = repeated([0.01] * 5 + [0.2] * 5, 1)
    errors = measured_noise(uneven).errors
    assert errors[30:].mean() > 2.5 * errors[:30].mean()


def test_one_wild_repetition_leaves_the_typical_noise_alone() -> None:
    _, data = repeated([0.02] * 10, 1)
    output = data.output.copy()
    output[4] *= 8
    wild = measured_noise(Points(data.inputs, output, data.names, data.units))
    assert wild.typical == pytest.approx(0.02, rel=0.4)


def test_lack_of_fit_is_uniform_for_the_right_law_and_small_for_a_wrong_one() -> None:
    values = []
    for seed in range(120):
        fitted, data = repeated([0.02] * 8, seed)
        lack = lack_of_fit(fitted, measured_noise(data))
        assert lack is not None
        values.append(lack.p_value)
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    bent, data = repeated([0.02] * 8, 0, curve=1.0)
    lack = lack_of_fit(bent, measured_noise(data))
    assert lack is not None
    assert lack.p_value < 1e-3


def test_nothing_repeated_says_nothing_of_the_noise() -> None:
    data = noisy("affine", (1e-4, 1e-10), 0)
    noise = measured_noise(data)
    assert (noise.errors == 1.0).all()
    assert noise.typical is None
    assert lack_of_fit(fit_law(law_named("affine"), data), noise) is None
