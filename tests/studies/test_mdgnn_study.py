"""M-DGNN: what needs no further fit computed anew, the rest when asked for, and what the README says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from studies._base import Answer, rounded
from studies.mdgnn.hardware import knee
from studies.mdgnn.study import STUDY, checked


@pytest.fixture(scope="module")
def answer() -> Answer:
    return STUDY.answer()


def test_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    found = rounded(checked())
    same(found, {name: answer[name] for name in found}, 5e-3)


@pytest.mark.slow
def test_all_of_it_comes_out_again(answer: Answer, same: Callable[..., None]) -> None:
    same(rounded(STUDY.compute()), answer, 2e-2)


def test_words_on_the_published_numbers(answer: Answer) -> None:
    rows = {row["id"]: row for row in answer["rows"]}
    assert answer["summary"]["n"] == 16
    assert answer["summary"]["median_ape"] < 0.015
    assert answer["summary"]["max_ape"] == rows["rnn-share-mbase-am-l32"]["ape"] < 0.09
    assert answer["fitted_parameters"] == 6
    assert answer["left_out"]["median"] < 0.04
    assert answer["left_out"]["largest"] < 0.13


def test_words_on_conflicts(answer: Answer) -> None:
    assert len(answer["conflicts"]) == 3
    assert {name for conflict in answer["conflicts"] for name in conflict["set_apart"]} == {
        "p2p-speedup-avg",
        "p2p-speedup-am-l8",
    }
    rows = {row["id"]: row for row in answer["rows"]}
    assert rows["p2p-speedup-avg"]["predicted"] == pytest.approx((1 - 0.3162) / (1 - 0.6407), rel=0.05)


def test_words_on_the_law(answer: Answer) -> None:
    law = answer["law"]
    assert law["scale-mdgnn-rd-l4-16"] == pytest.approx(law["scale-mdgnn-rd-l32-16"], rel=0.005)
    assert law["scale-mdgnn-am-l32-16"] > 1.2 * law["scale-mdgnn-rd-l32-16"]


def test_words_on_figure_8(answer: Answer) -> None:
    for of_dataset in answer["figure_8"].values():
        for found in of_dataset.values():
            assert max(found[name] for name in ("esdg", "blad", "dgc")) < 1 < found["m-p2p"] < found["m-dgnn"]
        assert of_dataset["4"]["m-dgnn"] > of_dataset["16"]["m-dgnn"] > of_dataset["32"]["m-dgnn"]


def test_words_on_devices(answer: Answer) -> None:
    for of_case in answer["devices"].values():
        assert of_case["m-base"]["knee"] in (5, 6)
        assert of_case["m-dgnn"]["knee"] in (7, 8, 9)
        for found in of_case.values():
            assert max(found["throughput"]) < found["most"]


@pytest.mark.parametrize("serial", [0.05, 0.2, 0.6, 2.0])
def test_the_knee_is_where_gains_fall_below_a_twentieth(serial: float) -> None:
    gains = [(1 / n + serial) / (1 / (n + 1) + serial) - 1 for n in range(1, 100)]
    assert knee(1.0, serial) == 1 + next(number for number, gain in enumerate(gains) if gain < 0.05)


def test_words_on_other_hardware(answer: Answer) -> None:
    for found in answer["hardware"].values():
        published: Any = found["as published"]
        for words in ("PCIe Gen5", "PCIe Gen4"):
            assert found[words]["time"] == pytest.approx(published["time"], rel=0.002)
        assert found["flash reads in 3 us"]["time"] > 0.98 * published["time"]
        assert found["flash buses of 2,400 MT/s"]["time"] < 0.9 * published["time"]
        assert found["flash of a Samsung 970 Pro"]["bottleneck"] == "flash"
        assert found["flash of a Samsung 970 Pro"]["over"]["m-p2p"] > 2
        assert found["a state in one message"]["over"]["m-base"] < 2
        assert found["host software of 2 us"]["over"]["m-base"] < 1.5
        assert found["SmartSSD, own peer-to-peer"]["over"]["m-base"] < 0.5
    assert answer["hardware"]["amazon, 32 layers"]["host software of 2 us"]["over"]["blad"] < 1
    assert answer["hardware"]["reddit, 4 layers"]["host software of 2 us"]["over"]["blad"] > 1


def test_words_on_assumptions(answer: Answer) -> None:
    found = {entry["words"]: entry for entry in answer["assumptions"]}
    assert found["one frame in flight"]["largest"] > 0.4
    assert found["hops of 25 and 10, 276 nodes for each target"]["median"] > 0.05
    assert found["states of one device stay there"]["largest"] > 0.12
    assert found["BLAD's stages not in step"]["worst"] == "speedup-over-blad-l32"
    for words in ("four frames in flight", "every snapshot has rows of its own", "64 flash reads in flight"):
        assert found[words]["median"] < 0.015
