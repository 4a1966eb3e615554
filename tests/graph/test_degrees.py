"""Degree classes from published statistics: the moments are met, the tail is cut, the family has its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from perfmodel.graph.degrees import degree_classes


def moments(share: NDArray[np.float64], degree: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and coefficient of variation."""
    mean = float(share @ degree)
    return mean, float(np.sqrt(share @ degree**2 / mean**2 - 1.0))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    mean=st.floats(0.5, 500),
    cv=st.floats(0.1, 2.5),
    edge_share=st.one_of(st.none(), st.floats(0.55, 0.9)),
)
def test_mean_and_spread_are_met(mean: float, cv: float, edge_share: float | None) -> None:
    largest = 2000.0 * mean
    share, degree = degree_classes(mean, cv, largest, edge_share)
    got_mean, got_cv = moments(share, degree)
    assert share.sum() == pytest.approx(1.0)
    assert got_mean == pytest.approx(mean, rel=1e-9)
    assert got_cv == pytest.approx(cv, rel=1e-6)
    assert degree.max() <= largest * (1 + 1e-12)
    assert (np.diff(degree) >= 0).all()


@pytest.mark.parametrize(
    ("mean", "cv", "largest", "edge_share"),
    [(50.517, 1.898, 17481.0, 0.768), (491.99, 1.626, 21657.0, None), (3.898, 1.341, 168.0, None)],
    ids=["ogbn-products", "reddit", "cora"],
)
def test_published_graphs_are_met(mean: float, cv: float, largest: float, edge_share: float | None) -> None:
    share, degree = degree_classes(mean, cv, largest, edge_share)
    assert moments(share, degree) == pytest.approx((mean, cv), rel=1e-6)
    if edge_share is not None:
        above = degree > mean
        assert float((share * degree)[above].sum()) / mean == pytest.approx(edge_share, abs=0.02)


def test_lognormal_is_the_default_family() -> None:
    mean, cv = 20.0, 1.0
    share, degree = degree_classes(mean, cv, 1e7, classes=400)
    deviation = np.sqrt(np.log1p(cv**2))
    law = stats.lognorm(deviation, scale=mean / np.sqrt(1 + cv**2))
    middle = np.cumsum(share) - share / 2
    body = (middle > 0.02) & (middle < 0.99)
    assert degree[body] == pytest.approx(law.ppf(middle[body]), rel=0.02)


def test_gamma_is_within_the_family() -> None:
    """A gamma law of shape 1 is the exponential one: cv 1, and 2/e of the edges at nodes above the mean."""
    share, degree = degree_classes(10.0, 1.0, 1e6, 2.0 / np.e, classes=400)
    middle = np.cumsum(share) - share / 2
    body = (middle > 0.05) & (middle < 0.99)
    assert degree[body] == pytest.approx(stats.expon(scale=10.0).ppf(middle[body]), rel=0.03)


def test_more_edges_above_the_mean_at_one_spread() -> None:
    """Among laws of one mean and one spread, the asked share of edges at high degrees is what differs."""
    shares = []
    for asked in (0.70, 0.75, 0.80):
        share, degree = degree_classes(50.0, 1.9, 1e5, asked)
        shares.append(float((share * degree)[degree > 50.0].sum()) / 50.0)
    assert shares == sorted(shares)
    assert shares[-1] - shares[0] > 0.05


@pytest.mark.parametrize(("mean", "cv", "largest"), [(10.0, 0.0, 100.0), (0.0, 1.0, 10.0), (10.0, 1.0, 5.0)])
def test_no_spread_is_one_class(mean: float, cv: float, largest: float) -> None:
    share, degree = degree_classes(mean, cv, largest)
    assert share.tolist() == [1.0]
    assert degree.tolist() == [mean]


def test_spread_that_the_largest_degree_does_not_allow_is_cut() -> None:
    share, degree = degree_classes(10.0, 5.0, 50.0)
    mean, cv = moments(share, degree)
    assert mean == pytest.approx(10.0, rel=1e-3)
    assert cv <= np.sqrt(50.0 / 10.0 - 1.0) * (1 + 1e-9)  # two values, 0 and the largest, spread the most


@settings(max_examples=30, deadline=None, derandomize=True)
@given(classes=st.integers(20, 300), nodes=st.floats(1e3, 1e9))
def test_number_of_classes_does_not_matter_to_the_moments(classes: int, nodes: float) -> None:
    assume(classes % 2 == 0)
    share, degree = degree_classes(30.0, 1.5, 1e5, None, classes, nodes)
    assert share.size == classes
    assert moments(share, degree) == pytest.approx((30.0, 1.5), rel=1e-6)
