"""Left-out rows of LGNNIC's table: one fold computed anew (all of them with ``-m slow``), totals from the folds' rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from calibration.published import lgnnic
from calibration.published.lgnnic_constants import CONSTANTS
from studies._base import Answer, rounded
from studies.lgnnic_leave_one_out.study import STUDY, fold, folds, held, unmoved, varied

TOLERANCE = 0.02  # the optimizer's path differs between machines


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


@pytest.fixture(scope="module")
def rows() -> list[lgnnic.Published]:
    return lgnnic.read_table()


def test_folds_part_the_table(rows: list[lgnnic.Published]) -> None:
    for parts in folds(rows).values():
        assert sorted(row for part in parts.values() for row in part) == sorted(rows)


def test_one_fold_comes_out_again(answer: Answer, rows: list[lgnnic.Published], same: Callable[..., None]) -> None:
    found = rounded(fold(folds(rows)["dataset"]["ogbn-products"]))
    same(found, answer["folds"]["dataset"]["folds"]["ogbn-products"], TOLERANCE)


@pytest.mark.slow
def test_everything_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, TOLERANCE)


def test_totals_are_those_of_the_rows(answer: Answer) -> None:
    for kind in ("dataset", "fanout"):
        found = answer["folds"][kind]
        left = [row for part in found["folds"].values() for row in part["rows"]]
        assert len(left) == 2 * answer["rows"]
        for quantity in ("transfer", "execution"):
            errors = [row["ape"] for row in left if row["quantity"] == quantity]
            assert np.median(errors) == pytest.approx(found["total"][quantity]["median_ape"], rel=2e-3)
            assert max(errors) == pytest.approx(found["total"][quantity]["max_ape"], rel=2e-3)


def test_held_constants_are_those_that_only_the_left_out_rows_fix(rows: list[lgnnic.Published]) -> None:
    still = unmoved([row for row in rows if row.dataset != "ogbn-products"])
    fields = [CONSTANTS[index].fields[0] for index in sorted(still)]
    assert fields == ["sampling.time_per_miss", "sampling.seeds.degree_bias", "common_reach"]
    assert [constant for constant in held(still) if constant not in CONSTANTS] == [
        held(still)[i] for i in sorted(still)
    ]
    assert unmoved(rows) == set()


def test_varied_rows_are_changed_scenarios(rows: list[lgnnic.Published]) -> None:
    (row,) = varied(rows[:1], {"system.memory_node.heap_limit": 1e6})
    assert row.scenario().system.memory_node.heap_limit == 1e6
    assert row.measured == rows[0].measured


def test_dataset_folds_are_worse_than_fanout_folds_and_both_than_the_fit(answer: Answer) -> None:
    """The README's first sentence."""
    fit, dataset, fanout = (
        answer["in_sample"]["transfer"]["mean_ape"],
        *(answer["folds"][kind]["total"]["transfer"]["mean_ape"] for kind in ("dataset", "fanout")),
    )
    assert fit < fanout < 1.5 * fit < dataset
    for kind in ("dataset", "fanout"):
        assert answer["folds"][kind]["total"]["all"]["coverage_90"] < 0.9
