"""Sampling of ogbn-papers100M on BlueField-3 cards: computed anew, and what the README says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from studies._base import Answer, rounded
from studies.papers100m_offload.study import BANDWIDTH, STUDY, speedups


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, 5e-3)


def plan(answer: Answer, words: str, precision: str = "fp32") -> Any:
    (found,) = [row for row in answer["plans"] if (row["words"], row["precision"]) == (words, precision)]
    return found


def test_words_on_plans(answer: Answer) -> None:
    for precision in ("fp32", "fp16"):
        one, four = (plan(answer, f"sampling on {some}", precision) for some in ("1 card", "4 cards"))
        assert (one["feasible"], four["feasible"]) == (False, True)
        assert one["memory_bytes"] == pytest.approx(110e9, rel=0.01)
        assert 1.35 < four["speedup"] < 1.5
        assert four["interval"][0] < 1 < four["interval"][1] < 3.35
    host, fetching = (
        plan(answer, "one host holds the graph and samples"),
        plan(answer, "sampling on the host, graph on 4 cards"),
    )
    assert host["feasible"]
    assert host["time_s"] == pytest.approx(fetching["time_s"], rel=0.05)
    assert host["time_s"] / plan(answer, "sampling on 4 cards")["time_s"] == pytest.approx(1.5, abs=0.06)


def test_words_on_the_link(answer: Answer) -> None:
    by_rate = {precision: {entry["rate"]: entry for entry in found} for precision, found in answer["link"].items()}
    for found in by_rate.values():
        assert all(
            min(found[rate]["slowest"], found[rate]["today"], found[rate]["fastest"]) > 1 for rate in (0.75, 1.0, 4.0)
        )
        assert all(entry["crossings"] <= 1 for entry in found.values())
    assert by_rate["fp16"][0.5]["pays_below"] == pytest.approx(0.43e9, rel=0.02)
    assert by_rate["fp32"][0.5]["pays_below"] is None
    assert by_rate["fp32"][0.5]["slowest"] < 1
    assert all(0.58 < rate < 0.64 for rate in answer["sampling"].values())


def test_the_link_is_where_it_breaks_even(answer: Answer) -> None:
    (entry,) = [entry for entry in answer["link"]["fp16"] if entry["rate"] == 0.5]
    around = [0.98 * entry["pays_below"], 1.02 * entry["pays_below"]]
    above, below = speedups("fp16", {BANDWIDTH: around}, 0.5)
    assert below < 1 < above
