"""Which law is chosen: 25 points, 2 % noise, 20 seeds, extrapolated to eight times the largest input.

Recovered means that the chosen law is the one that made the points, by name; a law that would be the same function for
some parameters of its own does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from calibration.law_choice import choose, evaluate, largest_folds, random_folds
from calibration.law_fit import fit_law
from calibration.laws._base import Points, all_laws, law_named
from perfmodel.errors import SpecError
from studies.extrap_side_by_side.cases import CASES, SEEDS, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.law_name)
def test_recovery(case: Case) -> None:
    assert case.places.shape[1] == 25
    true = float(case.true(case.far)[0])
    recovered, errors, inside = 0, [], 0
    for seed in range(SEEDS):
        points = case.measured(seed)
        law, _ = choose(points, np.ones(25))
        value, low, high = fit_law(law, points).predict(case.far)
        recovered += law is case.law
        errors.append(abs(float(value[0]) / true - 1.0))
        inside += bool(low[0] <= true <= high[0])
    assert recovered >= 18
    assert np.median(errors) <= 0.03
    assert inside >= 16


def test_candidates_are_all_laws_with_reasons() -> None:
    law, candidates = choose(CASES[0].measured(0), np.ones(25))
    assert law.name == "affine"
    assert {one.law.name for one in candidates} == set(all_laws())
    fitting = [one for one in candidates if one.why_not is None]
    assert candidates[: len(fitting)] == fitting
    errors = [one.cross_validation_error for one in fitting]
    assert errors == sorted(errors, key=lambda error: error or 0.0)
    assert all(one.cross_validation_error is None and one.why_not for one in candidates[len(fitting) :])
    assert errors[0] == pytest.approx(0.02 * np.sqrt(2 / np.pi), rel=0.5)


def repeated(points: Points, times: int) -> Points:
    return Points(np.repeat(points.inputs, times, axis=1), np.repeat(points.output, times), points.names, points.units)


def folds(points: Points) -> Iterator[np.typing.NDArray[np.bool_]]:
    yield from random_folds(points)
    yield from largest_folds(points)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.law_name)
def test_rows_of_one_point_are_left_out_together(case: Case) -> None:
    points = repeated(case.measured(0), 3)
    count = np.zeros(75)
    for left in random_folds(points):
        assert (left.reshape(25, 3).all(axis=1) == left.reshape(25, 3).any(axis=1)).all()
        count += left
    assert (count == 2).all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.law_name)
def test_the_largest_are_left_out_together(case: Case) -> None:
    points = case.measured(0)
    sets = list(largest_folds(points))
    assert len(sets) == 2
    for left in sets:
        assert 0.1 <= left.mean() <= 0.5
        assert not points.only(~left).inputs.sum(axis=0).max() > points.inputs.sum(axis=0).max()
        assert points.only(left).output.size + points.only(~left).output.size == 25


@pytest.mark.parametrize("name", ["power", "cache_capacity", "saturating"])
def test_a_law_that_only_interpolates_loses(name: str) -> None:
    """On a straight line other laws miss most where the largest points are left out."""
    points = CASES[0].measured(0)
    line, other = (evaluate(law_named(own), points, np.ones(25)) for own in ("affine", name))
    for own, missed in zip(line.largest, other.largest, strict=True):
        assert np.abs(own).mean() < 0.5 * np.abs(missed).mean()
    assert np.abs(other.largest[1]).mean() > np.abs(other.random).mean()


def test_wild_rows_do_not_change_the_choice() -> None:
    for case in CASES:
        points = case.measured(3)
        output = points.output.copy()
        output[[4, 17]] *= (5.0, 0.3)
        law, _ = choose(Points(points.inputs, output, points.names, points.units), np.ones(25))
        assert law is case.law, case.name


def test_the_choice_does_not_depend_on_units_or_the_order_of_rows() -> None:
    random = np.random.default_rng(0)
    for case in CASES:
        points = case.measured(5)
        order = random.permutation(25)
        other = Points(points.inputs[:, order], 1e-6 * points.output[order], points.names, points.units)
        first, second = choose(points, np.ones(25)), choose(other, np.ones(25))
        assert first[0] is second[0]
        assert first[1][0].cross_validation_error == pytest.approx(second[1][0].cross_validation_error, rel=1e-3)


def test_without_noise_the_smallest_right_law_is_chosen() -> None:
    for case in CASES:
        points = Points(case.places, case.true(case.places), case.names, case.units)
        assert choose(points, np.ones(25))[0] is case.law, case.name


def test_too_few_points_for_any_law_is_a_sentence() -> None:
    points = Points(np.array([[1.0, 2.0]]), np.array([1.0, 2.0]), ("x", "y"), ("1", "s"))
    with pytest.raises(SpecError, match="affine has 2 parameters and needs 3 different points, not 2"):
        choose(points, np.ones(2))
