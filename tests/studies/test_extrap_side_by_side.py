"""The same points through both programs: ours comes out again, Extra-P's where it is installed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from studies._base import Answer, rounded
from studies.extrap_side_by_side import theirs
from studies.extrap_side_by_side.cases import CASES, SEEDS, Case
from studies.extrap_side_by_side.study import OURS, STUDY, THEIRS, best_setting, extra_p, ours

TOLERANCE = 0.02  # the optimizer's path differs between machines

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.law_name)


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_ours_comes_out_again_for_the_fastest_case(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(ours(CASES[1])), answer[OURS][CASES[1].name], TOLERANCE)


@pytest.mark.slow
@each_case
def test_ours_comes_out_again(case: Case, answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(ours(case)), answer[OURS][case.name], TOLERANCE)


@pytest.mark.skipif(not theirs.installed(), reason="needs Extra-P (PyPI extrap)")
@each_case
def test_theirs_comes_out_again(case: Case, answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(extra_p(case)), answer[THEIRS][case.name], TOLERANCE)


@each_case
def test_claims_of_the_readme(case: Case, answer: Answer) -> None:
    own, others = answer[OURS][case.name], answer[THEIRS][case.name]
    assert set(others) == set(theirs.settings(case))
    assert own["recovered"] >= 18
    assert own["median_error"] <= 0.03
    best = others[best_setting(others)]
    assert own["recovered"] >= best["recovered"]
    assert own["median_error"] < min(other["median_error"] for other in others.values())
    assert sum(own["chosen"].values()) == SEEDS


def test_both_get_the_same_points() -> None:
    for case in CASES:
        points = case.measured(1)
        assert points.output.size == 25
        assert (points.inputs == case.places).all()
        assert (case.far == 8 * points.inputs.max(axis=1, keepdims=True)).all()
