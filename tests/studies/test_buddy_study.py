"""Buddy: computed anew as a whole, and what the README says in words."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import pytest

from studies._base import Answer, rounded
from studies.buddy.study import STUDY


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, 5e-3)


def test_words_on_the_published_numbers(answer: Answer) -> None:
    rows = {row["id"]: row for row in answer["rows"]}
    assert answer["summary"]["max_ape"] < 0.07
    assert rows["buffers-gain-a"]["predicted"] > 8.0
    assert rows["buffers-gain-b"]["predicted"] < 12.4
    assert answer["fitted_parameters"] == 5
    speedups = {row["application"]: row for row in answer["directions"]}
    assert 0.94 < speedups["sssp"]["speedup"] < 1 < speedups["sssp"]["interval"][1]
    assert answer["laws"]["window_of_8"] < 12.4 * 0.85
    assert answer["laws"]["threads_peaking_at_7_or_8"] < 6.2 * 0.85


def test_words_on_break_even(answer: Answer) -> None:
    found = answer["break_even"]
    assert found["sssp"]["dpu"]["value"] == pytest.approx(0.72, abs=0.005)
    assert found["sssp"]["dpu"]["largest"] == {
        "ratio": pytest.approx(2.8, abs=0.05),
        "speedup": pytest.approx(1.71, abs=0.005),
    }
    by_size = [found[name]["dpu"]["value"] for name in ("histogram", "sssp", "triangle-counting", "quicksilver")]
    assert by_size == sorted(by_size)
    for entry in found.values():
        dpu = entry["dpu"]
        assert (dpu["now"] > dpu["value"]) == (dpu["speedup"] > 1)


def test_words_on_other_hardware(answer: Answer) -> None:
    def speedup(name: str, words: str) -> float:
        return float(answer["hardware"][name][words]["speedup"])

    losers = ("sssp", "triangle-counting")
    for name in answer["hardware"]:
        assert speedup(name, "400 Gb/s link") == speedup(name, "as published")
        assert (speedup(name, "BlueField-2") < 0.5) == (name != "quicksilver")
    assert all(speedup(name, "as published") < 1 < speedup(name, "direct cache access") for name in losers)
    assert all(speedup(name, "twice the memory bandwidth") > 1 for name in losers)
    for name in losers:
        more = speedup(name, "direct cache access, 16 threads")
        assert speedup(name, "direct cache access") < more < speedup(name, "direct cache access, 16 threads, 400 Gb/s")


def test_words_on_nodes_and_spare_cores(answer: Answer) -> None:
    nodes = {entry["nodes"]: entry for entry in answer["nodes"]["histogram"]}
    gain: Any = {
        count: {words: entry[words]["gain"] for words in entry if words != "nodes"} for count, entry in nodes.items()
    }
    assert gain[16]["8 buffers"] < gain[8]["8 buffers"] / 3
    assert gain[16]["a buffer for each node"] > 1.8 * gain[8]["8 buffers"]
    assert gain[64]["8 buffers, two hops"] > 5 * gain[64]["8 buffers"]
    equal = {name: found["equal"] for name, found in answer["spare_cores"].items()}
    assert equal.pop("quicksilver") == 1
    assert set(equal.values()) <= {3, 4, 5}


def test_words_on_assumptions(answer: Answer) -> None:
    found = {entry["words"]: entry for entry in answer["assumptions"]}
    assert found["as in the catalog"]["missed"] == found["as in the catalog"]["wrong_directions"] == []
    for words in ("4 nodes", "all messages twice as large", "the transpose's messages of 38 B (64-bit indices)"):
        assert found[words]["missed"] == found[words]["wrong_directions"] == []
    assert found["2 processes on a node"]["speedups"]["sssp"] > 1
    assert found["8 processes on a node"]["missed"] == ["speedup-max"]
    assert {"buffers-gain-a", "buffers-gain-b", "threads-peak-triangle"} == set(found["all messages of 32 B"]["missed"])


def test_picture_is_valid(answer: Answer) -> None:
    for picture in STUDY.pictures(answer).values():
        assert ElementTree.fromstring(picture).tag.endswith("svg")
