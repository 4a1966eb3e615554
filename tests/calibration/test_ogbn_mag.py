"""The spreads of ogbn-mag's degrees come from the mini-batch that PyG's documentation prints."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.fit import Fit
from calibration.published import ogbn_mag
from perfmodel.spec.catalog import load


@pytest.fixture(scope="module")
def found() -> Fit:
    return ogbn_mag.fitted()


def test_the_catalog_holds_what_the_fit_gives(found: Fit) -> None:
    graph = load("graphs", "ogbn-mag")
    for (kind, slot, _), value, (low, high) in zip(ogbn_mag.SPREADS, found.values, found.intervals(), strict=True):
        kept = graph.node_types[kind].degrees[slot].cv  # type: ignore[attr-defined]
        assert kept == pytest.approx(value, rel=1e-2)
        assert low < kept < high
        assert graph.source_of(f"node_types.{kind}.degrees.{slot}").startswith("calibrated: ")


def test_the_start_does_not_matter(found: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tuple((kind, slot, 0.7 * start) for kind, slot, start in ogbn_mag.SPREADS)
    monkeypatch.setattr(ogbn_mag, "SPREADS", elsewhere)
    np.testing.assert_allclose(ogbn_mag.fitted().values, found.values, rtol=0.05)


def test_nodes_of_every_type_are_near_the_printed_batch(found: Fit) -> None:
    """It is one batch of 128 seeds: single relations scatter more than nodes of a type."""
    nodes = found.residuals[: len(ogbn_mag.NODES)]
    assert np.abs(nodes).max() < 0.20
    assert np.median(np.abs(nodes)) < 0.05
    assert np.abs(found.residuals).max() < 0.35
