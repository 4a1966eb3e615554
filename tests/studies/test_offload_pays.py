"""When offload pays: computed anew as a whole, and what the README says in words."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from studies._base import Answer, rounded
from studies.offload_pays.study import COMMON, FRONTIERS, OFFLOADS, STUDY, SYSTEMS


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, 5e-3)


def test_parts_add_up_to_times(answer: Answer) -> None:
    for by_dataset in answer["times"].values():
        for by_plan in by_dataset.values():
            for found in by_plan.values():
                assert sum(found["phases"].values()) == pytest.approx(found["time_s"], rel=2e-3)
                low, high = found["interval_s"]
                assert low < found["time_s"] < high


def test_speedups_are_ratios_of_the_times(answer: Answer) -> None:
    for system in SYSTEMS:
        for dataset in COMMON:
            times = answer["times"][system][dataset]
            for offload in OFFLOADS:
                for other, found in answer["speedups"][system][dataset][offload].items():
                    slow = times[other] if other in times else answer["local"][dataset]
                    assert slow["time_s"] / times[offload]["time_s"] == pytest.approx(found["speedup"], rel=2e-3)


def test_words_of_the_answer(answer: Answer) -> None:
    for system, by_dataset in answer["speedups"].items():
        for dataset, by_plan in by_dataset.items():
            for found in by_plan.values():
                assert found["ship the neighborhood"]["speedup"] > 9
                assert found["one machine holds the graph"]["speedup"] < 1
                wins = found[FRONTIERS[0]]["speedup"] > 1
                assert wins == (system == "lgnnic-sockets" or dataset == "reddit")


def test_claims_hold_in_the_paper_s_rows(answer: Answer) -> None:
    assert all(found["holds"] for found in answer["claims"])
    sockets = next(found for found in answer["claims"] if found["factor"] == 62.4)
    assert sockets["transfer_counted_once"]
    assert abs(sockets["as_printed"] - 62.4) > 5


def test_break_even_lies_where_the_curve_crosses_one(answer: Answer) -> None:
    for found in answer["break_even"].values():
        curve = found["curve"]
        above = [speedup > 1 for speedup in curve["speedup"]]
        assert (found["link_bytes_per_s"] is None) == all(above)


def test_picture_is_whole(answer: Answer) -> None:
    root = ElementTree.fromstring(STUDY.pictures(answer)["link.svg"])
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == len(COMMON)
