"""Loader settings for two cores: searched anew with the kept profile, and what the README says in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from studies._base import Answer, rounded
from studies.loader_on_this_machine.study import STUDY, WORKLOADS, one


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_a_workload_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(one("ogbn-arxiv")), answer["workloads"]["ogbn-arxiv"], 5e-3)


def test_words_on_the_best_settings(answer: Answer) -> None:
    assert set(answer["workloads"]) == set(WORKLOADS)
    for name, found in answer["workloads"].items():
        best = found["best"]
        assert found["proof"] == "enumerated"
        assert (best["system.link"], best["plan.placement.sampling"]) == (
            "this-machine-shared-memory",
            "memory-node",
        ), name
        assert (float(best["plan.workers"]), best["plan.precision.features"]) == (0, "fp32"), name
        assert max(found["importance"], key=lambda key: found["importance"][key]) == "plan.fetch", name


def test_words_on_what_settings_bring(answer: Answer) -> None:
    for name, found in answer["workloads"].items():
        at_hand = next(entry for entry in found["against"] if entry["with"] == "the plan at hand")
        assert 1.0 <= at_hand["speedup"] < 1.1, name
        if name != "ogbn-arxiv, 16 hidden":
            assert found["phases"]["training"] > 0.9 * found["time_s"], name
