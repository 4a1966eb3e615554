"""The search beside others: one scenario computed anew, and what the README says in words."""

from __future__ import annotations

import numpy as np
import pytest

from perfmodel.search.sweep import sweep
from studies._base import Answer
from studies.search_against_others.methods import METHODS
from studies.search_against_others.study import BUDGET, CLOSE, SCENARIOS, STUDY, evaluator_of, summary

FIRST = ("quicksilver", "buddy-dpu")


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_every_scenario_is_there(answer: Answer) -> None:
    assert set(answer["scenarios"]) == {f"{workload} on {system}" for workload, system in SCENARIOS}
    assert len(SCENARIOS) >= 10


def test_the_search_is_within_a_hundredth_on_every_scenario(answer: Answer) -> None:
    for name, found in answer["scenarios"].items():
        own = found["methods"]["perfmodel search"]
        assert own["median_gap"] <= CLOSE, name
        assert own["evaluations"] <= BUDGET, name


def test_words_on_seeds_and_others(answer: Answer) -> None:
    for name, found in answer["scenarios"].items():
        assert found["methods"]["perfmodel search"]["within"] == answer["seeds"], name
    missed = [
        name for name, found in answer["scenarios"].items() if found["methods"]["random search"]["median_gap"] > CLOSE
    ]
    assert len(missed) == 9
    families = {name.partition(" on ")[2].partition("-")[0] for name in answer["scenarios"]}
    assert {"lgnnic", "buddy", "mdgnn"} <= families


def test_one_scenario_comes_out_again(answer: Answer) -> None:
    evaluator = evaluator_of(*FIRST)
    best = sweep(evaluator).best
    assert best is not None
    expected = answer["scenarios"][" on ".join(FIRST)]
    assert best.value == pytest.approx(expected["optimum_s"], rel=5e-3)
    trail = METHODS["perfmodel search"](evaluator, BUDGET, 0)
    assert len(trail) <= BUDGET
    assert trail[-1] / best.value - 1 <= expected["methods"]["perfmodel search"]["worst_gap"] + 1e-3


@pytest.mark.parametrize("method", sorted(METHODS))
def test_methods_keep_to_their_budget_and_never_beat_the_optimum(method: str) -> None:
    evaluator = evaluator_of(*FIRST)
    best = sweep(evaluator).best
    assert best is not None
    trail = METHODS[method](evaluator, 40, 1)
    assert 0 < len(trail) <= 40
    assert np.all(np.diff(trail) <= 0)
    assert trail[-1] >= best.value * (1 - 1e-12)


def test_a_summary_by_hand() -> None:
    found = summary([[3.0, 2.0, 1.005], [4.0, 1.0, 1.0], [9.0, 8.0, 7.0]], 1.0)
    assert found["median_gap"] == pytest.approx(0.005)
    assert found["worst_gap"] == pytest.approx(6.0)
    assert (found["within"], found["evaluations"]) == (2, 3.0)
