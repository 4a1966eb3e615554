"""What the tests of studies share: a comparison of answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Same = Callable[..., None]


@pytest.fixture(scope="session")
def same() -> Same:
    """Return a check that two answers are the same, numbers to a relative tolerance, coverage to two rows of 24."""

    def check(found: Any, expected: Any, tolerance: float, where: str = "answer") -> None:
        if isinstance(expected, dict):
            assert set(found) == set(expected), where
            for key, inner in expected.items():
                check(found[key], inner, tolerance, f"{where}.{key}")
        elif isinstance(expected, list):
            assert len(found) == len(expected), where
            for index, inner in enumerate(expected):
                check(found[index], inner, tolerance, f"{where}.{index}")
        elif isinstance(expected, bool) or where.endswith("coverage_90"):
            if where.endswith("coverage_90"):
                assert found == pytest.approx(expected, abs=0.09), where
            elif not where.endswith("inside_interval"):  # a time at an interval's end may fall to either side
                assert found == expected, where
        elif isinstance(expected, float) or isinstance(found, float):
            assert found == pytest.approx(expected, rel=tolerance, abs=tolerance * 0.1), where
        else:
            assert found == expected, where

    return check
