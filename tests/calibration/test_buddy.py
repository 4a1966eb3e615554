"""Buddy's published ratios: the fit that is shipped, what fixes which constant, and what is left to test."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from calibration.published import buddy
from calibration.published.buddy_constants import CONSTANTS, SLOWER_CORE, followers
from calibration.published.buddy_model import APPLICATIONS, SYSTEMS, Buddy, Case
from calibration.published.buddy_quantities import (
    QUANTITIES,
    Asked,
    answer,
    applications_of,
    buffers_gain,
    buffers_peak,
    network_utilization,
    quantity_of,
    speedup,
    system_of,
    threads_gain,
    threads_peak,
    transfer_size,
)
from perfmodel.errors import SpecError
from perfmodel.spec.catalog import DATA


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Return what ``validate buddy`` says."""
    return buddy.validate()


@pytest.fixture(scope="module")
def model() -> Buddy:
    return Buddy()


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    return tomllib.loads((DATA / "profiles" / "buddy.toml").read_text(encoding="utf-8"))


def asked(model: Buddy, application: str, system: str = "dpu", words: str = "") -> Asked:
    return Asked(model, Case(application, system), words)


def test_every_number_is_within_the_bound(found: dict[str, Any]) -> None:
    counted = [row for row in found["rows"] if "input" not in row["properties"]]
    assert {row["id"] for row in counted} == {
        "speedup-max", "dram-traffic-no-dca", "buffers-gain-a", "buffers-gain-b", "threads-gain-histogram",
        "threads-peak-triangle",
    }  # fmt: skip
    assert max(row["ape"] for row in counted) <= 0.10
    assert all(row["inside_interval"] for row in counted)
    assert found["within_bounds"]


def test_what_was_fitted_is_said(found: dict[str, Any]) -> None:
    fitted = {row["id"] for row in found["rows"] if "fitted" in row["properties"]}
    assert fitted == set(buddy.FITTED)
    assert found["fitted_parameters"] == len(CONSTANTS) < len(fitted) + 1  # and the "7 or 8" of one row's words
    assert found["settings"] == ["scaling-nodes"]


def test_directions_of_all_five(found: dict[str, Any]) -> None:
    """The host-dominated two gain, the two that communicate most do not; nothing is published of histogram."""
    gains = {row["application"]: row["gains"] for row in found["directions"]}
    assert gains == {
        "quicksilver": True, "sparse-transpose": True, "sssp": False, "triangle-counting": False, "histogram": True,
    }  # fmt: skip
    published = {row["application"]: row["published"] for row in found["directions"]}
    assert published["histogram"] is None
    assert all(row["holds"] for row in found["directions"])


def test_the_peak_is_at_the_transpose(model: Buddy) -> None:
    """Work that dominates by 72 to 1 cannot gain half: routing is a few percent of it."""
    speedups = {name: speedup(asked(model, name))[0] for name in APPLICATIONS}
    assert max(speedups, key=lambda name: speedups[name]) == "sparse-transpose"
    assert 1.0 < speedups["quicksilver"] < 1.05


def test_buffers_help_those_with_random_targets_alone(model: Buddy) -> None:
    gains = {name: buffers_gain(asked(model, name))[0] for name in APPLICATIONS}
    assert {name for name, gain in gains.items() if gain > 1.2} == {"histogram", "sssp"}
    assert max(gain for name, gain in gains.items() if name not in ("histogram", "sssp")) < 1.05
    assert {buffers_peak(asked(model, name))[0] for name in ("histogram", "sssp")} == {8.0}


def test_threads_help_most_applications(model: Buddy) -> None:
    gains = {name: threads_gain(asked(model, name))[0] for name in APPLICATIONS}
    assert [name for name, gain in gains.items() if gain < 2] == ["quicksilver"]
    assert max(gains, key=lambda name: gains[name]) == "histogram"
    assert threads_peak(asked(model, "histogram"))[0] in (7, 8)
    assert threads_peak(asked(model, "triangle-counting"))[0] == 5


def test_quicksilver_leaves_the_network_idle(model: Buddy) -> None:
    shares = {name: network_utilization(asked(model, name))[0] for name in APPLICATIONS}
    assert shares["quicksilver"] < 0.05
    assert all(0.25 < share < 0.75 for name, share in shares.items() if name != "quicksilver")


def test_transfers_shrink_where_nodes_outnumber_buffers(model: Buddy) -> None:
    def size(nodes: int) -> float:
        return float(transfer_size(asked(model, "histogram", words=f"{nodes} nodes"))[0])

    assert size(2) == size(8) == pytest.approx(8192)
    assert size(9) < 8192 / 10
    assert size(64) < 2 * 22


def test_the_shipped_profile_is_a_fresh_fit(tmp_path: Path, shipped: dict[str, Any]) -> None:
    out = tmp_path / "profile.toml"
    done = subprocess.run(
        [sys.executable, "-m", "calibration.published", "buddy", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fresh = tomllib.loads(out.read_text(encoding="utf-8"))
    assert fresh["data"] == shipped["data"], "the profile was fitted to another table"
    for new, old in zip(fresh["parameters"], shipped["parameters"], strict=True):
        assert (new["entry"], new["fields"]) == (old["entry"], old["fields"])
        assert new["value"] == pytest.approx(old["value"], rel=1e-3)


def test_constants_lie_within_what_is_possible(shipped: dict[str, Any]) -> None:
    for parameter in shipped["parameters"]:
        low, high = parameter["interval"]
        assert low < parameter["value"] < high
        if parameter["fitted"]:
            least, most = parameter["bounds"]
            assert 1.5 * least < parameter["value"] < most / 1.5


def test_the_host_follows_the_agent(shipped: dict[str, Any]) -> None:
    values = [parameter["value"] for parameter in shipped["parameters"]]
    for (index, ratio), value in zip(followers(SLOWER_CORE), values[len(CONSTANTS) :], strict=True):
        assert ratio in (SLOWER_CORE, 1.0)
        assert value == pytest.approx(values[index] / ratio, rel=1e-4)


#: Which of the fitted numbers a constant moves by more than a hundredth per tenth of itself.
FIXES = {
    "routing.work_bandwidth": {"speedup-max"},
    "direct_cache": {"dram-traffic-no-dca"},
    "routing.time_per_routed_message": {"speedup-max", "threads-gain-histogram"},
    "routing.time_per_transfer": {"buffers-gain-a", "buffers-gain-b"},
}


@pytest.mark.parametrize("field", FIXES)
def test_what_fixes_which_constant(field: str) -> None:
    rows = [row for row in buddy.read_table() if row.id in buddy.FITTED]
    shipped = [
        parameter["value"] for parameter in tomllib.loads((DATA / "profiles" / "buddy.toml").read_text())["parameters"]
    ]
    values = np.array(shipped[: len(CONSTANTS)])
    index = next(number for number, constant in enumerate(CONSTANTS) if constant.fields[0] == field)
    start = Buddy(buddy.profile_table(CONSTANTS, values.tolist()))

    def numbers(values: np.ndarray) -> np.ndarray:
        moved = start.at(buddy.with_followers(values))
        return np.array([answer(moved, quantity_of(row.quantity, row.unit, ""), row, "")[0] for row in rows])

    less, more = (values * np.where(np.arange(values.size) == index, factor, 1.0) for factor in (0.9, 1.1))
    change = np.abs(np.log(numbers(more) / numbers(less)))
    assert {row.id for row, moved in zip(rows, change, strict=True) if moved > 0.02} == FIXES[field]


def test_the_fit_finds_constants_that_are_known() -> None:
    """Numbers made from other constants give these constants back."""
    truth = np.array([6e9, 3e6, 7e-9, 3e-7, 0.02])
    made = Buddy(buddy.profile_table(CONSTANTS, truth.tolist()), buddy.with_followers(truth))
    rows = [row for row in buddy.read_table() if row.id in buddy.FITTED]
    values = [float(answer(made, quantity_of(row.quantity, row.unit, ""), row, "")[0]) for row in rows]
    rows = [row._replace(value=value) for row, value in zip(rows, values, strict=True)]
    found = buddy.fitted(rows, threads=buddy.saturating_threads(made, "histogram"))
    assert found.values == pytest.approx(truth, rel=1e-3)


def test_a_faster_network_alone_changes_nothing_on_the_dpu(model: Buddy) -> None:
    """What limits the agent is its memory."""
    slow, fast = (
        pm.predict(pm.load_scenario("sssp", "buddy-dpu", changes={"system.link.bandwidth": rate})).time_s
        for rate in ("11.54 GB/s", "50 GB/s")
    )
    assert slow == fast


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.name)
@pytest.mark.parametrize("application", APPLICATIONS)
def test_every_quantity_answers_for_every_application(model: Buddy, quantity: Any, application: str) -> None:
    for system in SYSTEMS if quantity.name in ("network utilization", "average transfer size") else ("x86", "dpu"):
        draws = quantity.answer(asked(model, application, system))
        assert np.all(np.isfinite(draws))
        assert np.all(draws > 0)


@pytest.mark.parametrize(
    ("words", "unit", "name"),
    [
        ("gain of tuning the number of buffers (around 8 buffers)", "x", "gain of tuning the number of buffers"),
        ("buffers at the peak", "buffers", "number of buffers at the peak"),
        ("routing threads at the peak", "threads", "routing threads at the peak"),
        ("gain of several routing threads (7 or 8)", "x", "gain of several routing threads"),
        ("Network utilization", "%", "network utilization"),
        ("average transfer size at 8 nodes", "B", "average transfer size"),
        ("speedup compared to no offloading", "x", "speedup of offload over no offload"),
        ("memory loads", "%", "memory loads of the routing agent over communication"),
        ("gain of scaling to 8 nodes", "x", "gain of scaling to several nodes"),
    ],
)
def test_words_name_a_quantity(words: str, unit: str, name: str) -> None:
    assert quantity_of(words, unit, "").name == name


def test_applications_and_systems_by_their_words() -> None:
    assert applications_of("quicksilver or sparse-transpose", "") == ("quicksilver", "sparse-transpose")
    assert applications_of("Histogram and Tri. Count.", "") == ("histogram", "triangle-counting")
    assert applications_of("", "") == applications_of("first of two applications", "") == APPLICATIONS
    assert system_of("", "") == system_of("DPU", "") == "dpu"
    assert system_of("x86", "") == "x86"
    with pytest.raises(SpecError, match="nearest valid choice: histogram"):
        applications_of("histogramm", "row 1")
    with pytest.raises(SpecError, match="scenarios none, x86, dpu"):
        system_of("gpu", "row 1")
    with pytest.raises(SpecError, match="quantities"):
        quantity_of("temperature", "K", "row 1")


def test_kinds_reach_over_applications(model: Buddy) -> None:
    row = next(row for row in buddy.read_table() if row.id == "speedup-max")
    quantity = quantity_of(row.quantity, row.unit, "")

    def reached(kind: str) -> float:
        return float(answer(model, quantity, row._replace(kind=kind, application=""), "")[0])

    assert reached("minimum") < reached("mean over applications") < reached("peak")
