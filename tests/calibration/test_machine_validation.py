"""What a configuration took, from mini-batches that a busy host disturbed in turn."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.machine_validation import LEAST_BATCHES, _condensed, design
from calibration.pipeline.clock import BatchTimes

PARTS = {"sampling": 4e-3, "transfer": 2e-3, "training": 6e-3}
BETWEEN = 1e-3
FAST, SLOW = 1e-4, 1.8e-4
ASKED = design(1)[0]


def batch(*slowed: str) -> BatchTimes:
    """Return a mini-batch in which some phases ran at half speed, and the pulses beside those show it."""
    phases = {name: time * (2.0 if name in slowed else 1.0) for name, time in PARTS.items()}
    pulses = {name: SLOW if name in slowed else FAST for name in PARTS}
    return BatchTimes(phases, sum(phases.values()) + BETWEEN, 1000, 5000, 1, {"total": max(pulses.values()), **pulses})


def test_a_total_that_is_never_undisturbed_is_the_sum_of_parts_that_are() -> None:
    names = list(PARTS)
    every = [batch(names[number % 3], names[(number + 1) % 3]) for number in range(30)]
    found = _condensed(ASKED, [every[:15], every[15:]], FAST)
    assert min(one.total for one in every) > 16e-3
    assert found.medians["total"] == pytest.approx(sum(PARTS.values()) + BETWEEN)
    assert {name: found.medians[name] for name in PARTS} == pytest.approx(PARTS)


def test_a_total_that_is_undisturbed_often_enough_is_its_own_median() -> None:
    quiet = [batch() for _ in range(LEAST_BATCHES)]
    longer = [BatchTimes({**one.phases, "training": 9e-3}, 15.5e-3, 1, 1, 1, one.pulses) for one in quiet]
    found = _condensed(ASKED, [[*quiet, batch("sampling")], longer], FAST)
    assert found.medians["total"] == pytest.approx(np.median([13e-3, 15.5e-3]))
    assert found.medians["training"] == pytest.approx(6e-3)  # one more mini-batch counts here
