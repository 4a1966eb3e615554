"""Rows and their summaries."""

from __future__ import annotations

import pytest

from calibration.validation import Row, by_quantity, summary


def row(measured: float, predicted: float, resolution: float = 0.0, quantity: str = "transfer") -> Row:
    return Row({"dataset": "x"}, quantity, measured, predicted, (0.9 * predicted, 1.1 * predicted), resolution)


def test_an_error_is_a_share_of_the_measured() -> None:
    assert row(2.0, 3.0).ape == pytest.approx(0.5)
    assert row(2.0, 1.0).ape == pytest.approx(0.5)
    assert row(2.0, 2.0).ape == 0.0


def test_inside_allows_for_printed_digits() -> None:
    assert row(1.0, 1.0).inside_interval
    assert not row(1.0, 1.2).inside_interval
    assert row(0.02, 0.0242, 0.005).inside_interval
    assert not row(0.02, 0.0242).inside_interval


def test_summary() -> None:
    found = summary([row(1.0, 1.1), row(1.0, 0.8), row(1.0, 1.0)])
    assert found["n"] == 3
    assert found["median_ape"] == pytest.approx(0.1)
    assert found["mean_ape"] == pytest.approx(0.1)
    assert found["max_ape"] == pytest.approx(0.2)
    assert found["coverage_90"] == pytest.approx(2 / 3)


def test_nothing_to_sum_up() -> None:
    assert summary([]) == {"n": 0, "median_ape": None, "mean_ape": None, "max_ape": None, "coverage_90": None}


def test_by_quantity() -> None:
    found = by_quantity([row(1.0, 1.1), row(1.0, 2.0, quantity="execution")])
    assert list(found) == ["execution", "transfer"]
    assert found["execution"]["max_ape"] == pytest.approx(1.0)


def test_a_row_as_plain_values() -> None:
    assert set(row(1.0, 1.0).to_dict()) == {
        "dataset", "quantity", "measured", "predicted", "interval", "ape", "inside_interval", "properties"
    }  # fmt: skip
