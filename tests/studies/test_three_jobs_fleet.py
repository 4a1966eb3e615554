"""The fleet of three jobs: planned anew as a whole, and what the README says in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from studies._base import Answer, rounded
from studies.three_jobs_fleet.study import STUDY


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, 5e-3)


def test_words_on_the_fleet(answer: Answer) -> None:
    plan = answer["plan"]
    assert plan["cost"] == pytest.approx(104_000, rel=0.001)
    assert plan["gap"] == 0
    assert [period["fleet"].get("storage", 0) for period in plan["periods"]] == [0, 0, 1, 1, 1, 2]
    assert all(period["fleet"]["host"] == 2 and "smartnic" not in period["fleet"] for period in plan["periods"])
    assert all(period["least_sure"] >= 0.9 for period in plan["periods"])
    assert [(order["name"], round(order["order_day"])) for order in plan["orders"]][:3] == [
        ("host", -60), ("rack", 0), ("storage", 245)
    ]  # fmt: skip


def test_words_on_doing_without_storage(answer: Answer) -> None:
    found = answer["without_storage"]
    assert (found["first_failing"], found["dropped"]) == (5, ["papers"])
    assert not any("storage" in period["fleet"] for period in found["periods"])


def test_words_on_what_decides(answer: Answer) -> None:
    growth, pages = answer["growth"], answer["page_read"]
    assert growth["1.35"]["storage_from"] is None
    assert [pages[key]["fleet"]["storage"] for key in ("1", "5", "20", "50")] == [1, 2, 5, 12]
    assert all(entry["first_failing"] is None for entry in (*growth.values(), *pages.values()))
    costs = [pages[key]["cost"] for key in ("1", "5", "20", "50")]
    assert costs == sorted(costs)
