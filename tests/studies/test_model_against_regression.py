"""The model against regressions: errors from the answer's runs, and both sides anew where that is possible."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.machine_validation import SEED, design
from studies._base import Answer, rounded
from studies.model_against_regression import cases, regression, table
from studies.model_against_regression.cases import BETWEEN, HELD_OUT, OUTSIDE, TRAINING
from studies.model_against_regression.study import BOOSTING, KINDS, MODEL, RIDGE, STUDY, inputs, modelled, summary

needs_sklearn = pytest.mark.skipif(not regression.installed(), reason="needs scikit-learn (extra study)")


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


@pytest.fixture(scope="module")
def measured() -> table.Measured:
    return table.load()


def test_held_out_runs_are_the_validation_s_and_none_is_a_training_run(measured: table.Measured) -> None:
    held_out = [table.configuration(row) for row in measured.of(HELD_OUT)]
    training = [table.configuration(row) for row in measured.of(TRAINING)]
    assert held_out == design(60, SEED)
    assert not set(held_out) & set(training)
    assert len(set(training)) > 0.99 * len(training)


def test_training_runs_took_as_long_as_the_calibration(measured: table.Measured) -> None:
    conditions = measured.conditions
    seconds = sum(row["seconds"] for row in measured.of(TRAINING))
    assert conditions["training_seconds"] == pytest.approx(seconds, rel=1e-3)
    assert conditions["training_seconds"] >= conditions["calibration_seconds"]
    assert conditions["training_seconds"] < 1.02 * conditions["calibration_seconds"]
    assert conditions["calibration_seconds"] > conditions["measuring_seconds"] > 500


def test_kinds_are_what_their_names_say(measured: table.Measured) -> None:
    """Each factor of the runs between lies in the range of the training runs; of those outside at least one doesn't."""
    rows = measured.of(TRAINING)
    sizes = ("nodes", "mean_degree", "dimension", "hidden", "classes", "batch", "chunk", "window", "workers")
    low, high = ({name: end(row[name] for row in rows) for name in sizes} for end in (min, max))
    seen = {row["nodes"] for row in rows}
    for row in measured.of(BETWEEN):
        assert all(low[name] <= row[name] <= high[name] for name in sizes)
        assert row["nodes"] not in seen
    largest = [max(hops) for hops in zip(*([*map(int, row["fanout"].split()), 0, 0][:3] for row in rows), strict=True)]
    for row in measured.of(OUTSIDE):
        hops = [*map(int, row["fanout"].split()), 0, 0][:3]
        beyond = {name for name in sizes if not low[name] <= row[name] <= high[name]}
        beyond |= {"fanout"} if any(own > most for own, most in zip(hops, largest, strict=True)) else set()
        assert beyond
        assert set(cases.outside_by(table.configuration(row))) == {
            "graph" if name == "nodes" else name for name in beyond
        }


def test_errors_are_those_of_the_runs(answer: Answer) -> None:
    for kind in KINDS:
        rows, found = answer["runs"][kind], answer["errors"][kind]
        measured_times = np.array([row["measured"] for row in rows])
        for name in (MODEL, BOOSTING, RIDGE):
            errors = np.abs(np.array([row[name] for row in rows]) / measured_times - 1)
            assert found[name]["median"] == pytest.approx(np.median(errors), abs=3e-4)
            assert found[name]["p90"] == pytest.approx(np.percentile(errors, 90), abs=5e-4)
        pairs = right = 0
        for first in range(len(rows)):
            for second in range(first):
                slow, fast = sorted((rows[first], rows[second]), key=lambda row: -row["measured"])
                if slow["measured"] > 1.2 * fast["measured"]:
                    pairs += 1
                    right += slow[MODEL] > fast[MODEL]
        assert found[MODEL]["pairs"] == pairs
        assert found[MODEL]["ordered"] == pytest.approx(right / pairs, abs=2e-3)
        for name in (BOOSTING, RIDGE):
            closer = sum(abs(row[MODEL] / row["measured"] - 1) < abs(row[name] / row["measured"] - 1) for row in rows)
            assert abs(found[f"model_closer_than_{name}"] - closer) <= 1  # of rounded numbers
            ratio, low, high = found[f"median_over_that_of_{name}"]
            assert low <= ratio <= high


def test_runs_are_the_measured_ones(answer: Answer, measured: table.Measured) -> None:
    for kind in KINDS:
        assert [row["measured"] for row in answer["runs"][kind]] == rounded([row["time"] for row in measured.of(kind)])


def test_the_model_comes_out_again(answer: Answer, measured: table.Measured) -> None:
    """Of the runs on the smallest graph, which is made in no time."""
    places = [place for place, row in enumerate(measured.of(HELD_OUT)) if row["nodes"] == 9000]
    assert len(places) >= 10
    found = modelled([measured.of(HELD_OUT)[place] for place in places])
    assert found == pytest.approx([answer["runs"][HELD_OUT][place][MODEL] for place in places], rel=1e-3)


@needs_sklearn
@pytest.mark.slow
def test_the_regressions_come_out_again(answer: Answer, measured: table.Measured) -> None:
    rows = measured.of(TRAINING)
    seen, times = inputs(rows), np.array([row["time"] for row in rows])
    found = regression.boosted(seen, times, answer["boosting"]["settings"], inputs(measured.of(HELD_OUT)))
    expected = np.array([row[BOOSTING] for row in answer["runs"][HELD_OUT]])
    assert np.median(np.abs(found / expected - 1)) < 0.01  # versions of scikit-learn differ in their draws
    found = regression.ridge(seen, times, inputs(measured.of(HELD_OUT)))
    assert found == pytest.approx([row[RIDGE] for row in answer["runs"][HELD_OUT]], rel=0.02)


@needs_sklearn
def test_the_regressions_learn_what_they_are_given() -> None:
    """Times that are a product of two sizes and a factor of a choice: both regressions find them within some percent."""
    rng = np.random.default_rng(0)
    seen = np.column_stack([rng.uniform(0, 5, 900), rng.uniform(0, 5, 900), rng.integers(0, 2, 900)])
    times = 1e-3 * np.exp(0.8 * seen[:, 0] + 0.3 * seen[:, 1]) * (1 + 2 * seen[:, 2]) * np.exp(rng.normal(0, 0.02, 900))
    chosen = regression.chosen(seen[:800], times[:800], tries=3)
    assert chosen["error"] < 0.12
    boosting = regression.boosted(seen[:800], times[:800], chosen["settings"], seen[800:])
    ridge = regression.ridge(seen[:800], times[:800], seen[800:])
    assert np.median(np.abs(boosting / times[800:] - 1)) < 0.08
    assert np.median(np.abs(ridge / times[800:] - 1)) < 0.03


def test_summary_of_runs_worked_out_by_hand() -> None:
    rows = [
        {"measured": 1.0, MODEL: 1.1, BOOSTING: 1.3, RIDGE: 0.9, "spread": 0.1},
        {"measured": 2.0, MODEL: 1.8, BOOSTING: 2.1, RIDGE: 1.0, "spread": 0.3},
        {"measured": 4.0, MODEL: 6.0, BOOSTING: 2.0, RIDGE: 8.0, "spread": 0.2},
    ]
    found = summary(rows)
    assert found["runs"] == 3
    assert found["spread"] == pytest.approx(0.2)
    assert found[MODEL] == pytest.approx({"median": 0.1, "p90": 0.42, "largest": 0.5, "ordered": 1.0, "pairs": 3})
    assert found[BOOSTING]["median"] == pytest.approx(0.3)
    assert found[BOOSTING]["ordered"] == pytest.approx(2 / 3)
    assert found[f"model_closer_than_{BOOSTING}"] == 1
    assert found[f"median_over_that_of_{BOOSTING}"][0] == pytest.approx(1 / 3)
