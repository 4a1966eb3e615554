"""Message routing on this machine: the design, the fit's wiring, the break-even search, and a small real validation."""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
from typing import Any

import numpy as np
import pytest
import tomli_w

import perfmodel as pm
from calibration import routing_validation
from calibration.fit import fit
from calibration.kernels._base import all_kernels
from calibration.kernels._routing import OTHER
from calibration.measurements import Record
from calibration.pipeline.message_routing.engine import RoutingTimes
from calibration.routing_constants import ROUTING_GROUPS
from calibration.routing_validation import BreakEven, Compared, crossing, design, missed, run_design, scenario, searches
from perfmodel.spec import catalog

TWO_CORES = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs a spare core"
)


# --- the design


def test_the_design_is_balanced_and_apart_from_the_kernels() -> None:
    found = design(routing_validation.CONFIGURATIONS, routing_validation.SEED)
    assert len(set(found)) >= routing_validation.CONFIGURATIONS - 1
    for factor in ("ratio", "message", "buffer", "buffers", "partners"):
        counts = collections.Counter(getattr(asked, factor) for asked in found).values()
        assert max(counts) - min(counts) <= 1, factor
    points = [dict(point) for kernel in all_kernels().values() for point in kernel.points(False)]
    everything = [*found, *(asked for search in searches(False) for asked in search)]
    for factor in ("message", "buffer", "partners"):
        seen = {point[factor] for point in points if factor in point}
        assert not seen & {getattr(asked, factor) for asked in everything}, factor
    assert all(asked.aggregation == asked.buffer for asked in everything)


def test_a_scenario_is_what_the_engine_runs() -> None:
    (asked,) = [each for each in design(48, 3) if each.message == 40 and each.ratio == 6.0][:1]
    found = scenario(asked)
    run, plan = found.workload, found.plan
    assert run.messages * run.message_size == pytest.approx(1000 * asked.messages * asked.message)
    assert run.memory_ratio * run.messages * run.message_size == pytest.approx(1000 * asked.memory_bytes)
    assert (plan.window, plan.nodes, plan.placement.routing) == (asked.buffers, asked.partners, "agent")
    phases = {phase.name: phase.time_s for phase in pm.predict(found).phases}
    assert phases["network"] == phases["transfer_window"] == 0
    assert max(phases["agent_memory"], phases["host_crossing"]) < 1e-3 * phases["routing"]


# --- the fit's wiring


def by_hand(record: Record, part: str) -> Any:
    """Return a time by plain arithmetic, with one constant for each thing that costs something."""
    point: dict[str, Any] = dict(record.point)
    if part == "memory_work":
        return 1.5e-6 + point["traffic"] / 5e10
    if part == "handing_over":
        return 0.5e-6
    count, size = point["buffer"] // point["message"], point["buffer"] // point["message"] * point["message"]
    emission = 3e-6 + 1e-9 * count + 3e-11 * size + (1e-10 * size + 2 * 0.4e-6) * (point.get("read_by") == OTHER)
    sorting = 4e-6 + 0.8e-6 * point.get("partners", 8) + 5e-9 * count + 6e-11 * size
    sorting += 2e-11 * size * (point.get("written_by") == OTHER)
    delivery = 5e-6 + 2e-9 * count + 4e-11 * size
    if part == "emission":
        return emission
    if part == "displacement":
        lost = 1 - np.exp(-point["traffic"] / 2e6)
        return emission + sorting + delivery + lost * (10e-6 + 1e-10 * size)
    return {"sorting": sorting, "delivery": delivery}[part]


EXPECTED = {
    "memory_work": (5e10, 1.5e-6), "emission": (3e-6, 1e-9, 3e-11, 1e-10, 0.4e-6),
    "sorting": (4e-6, 0.8e-6, 5e-9, 6e-11, 2e-11), "delivery": (5e-6, 2e-9, 4e-11), "displacement": (10e-6, 1e-10, 2e6),
    "handing_over": (0.5e-6,),
}  # fmt: skip


@pytest.mark.parametrize("quick", [True, False])
def test_points_tell_constants_apart(quick: bool) -> None:
    """From times that plain arithmetic gives, each group's constants come back, from the points that kernels visit."""
    known: dict[str, float] = {}
    for group, (part, expected) in zip(ROUTING_GROUPS, EXPECTED.items(), strict=True):
        (kernel,) = group.kernels
        records = []
        for point in all_kernels()[kernel].points(quick):
            record = Record(kernel, point, 1.0, 0.01, {"deliveries": 1.0}, (), ())
            own = {"sorting": ("sorting", "delivery"), "delivery": ("sorting", "delivery")}.get(part, (part,))
            times = {name: by_hand(record, name) for name in own}
            sample = {"time": sum(times.values()), "delivering": times.get("delivery", 0.0)}
            records.append(dataclasses.replace(record, time=sample["time"], samples=(sample,) * 2, rounds=(0, 1)))
        chosen = group.chosen(records)
        assert len(chosen) > len(group.constants)

        def predicted(values: Any, group: Any = group, chosen: Any = chosen) -> Any:
            named = {**known, **dict(zip(group.constants, map(float, values), strict=True))}
            return np.array([group.predict(record, named) for record in chosen])

        exact = np.array([record.time for record in chosen])
        found = fit(predicted, exact, np.full(exact.size, 0.03), list(group.constants.values()))
        assert found.values == pytest.approx(expected, rel=0.02), part
        known.update(zip(group.constants, map(float, found.values), strict=True))


# --- where both break even


def test_crossing_of_noisy_speedups() -> None:
    """Around a known crossing at 10, with 3 % of noise on each speedup, it is found within a fifth."""
    ratios, rng = routing_validation.RATIOS, np.random.default_rng(4)
    truth = (20.0 + np.array(ratios)) / 30.0
    found = [crossing(ratios, (truth * np.exp(0.03 * rng.standard_normal(len(ratios)))).tolist()) for _ in range(100)]
    assert np.quantile([abs(np.log(each / 10.0)) for each in found if each], 0.9) < np.log(1.35)
    assert crossing(ratios, truth.tolist()) == pytest.approx(
        10.0, rel=0.05
    )  # between two ratios that are a factor of two apart


@pytest.mark.parametrize(("measured", "predicted"), [(None, 3.0), (3.0, None), (0.0, 3.0), (3.0, 0.0)])
def test_a_break_even_ratio_that_one_side_lacks_is_no_factor(measured: float | None, predicted: float | None) -> None:
    assert BreakEven(design(1)[0], [1.0] * 8, measured, predicted).factor is None
    assert BreakEven(design(1)[0], [1.0] * 8, 2.0, 3.0).factor == pytest.approx(1.5)
    assert BreakEven(design(1)[0], [1.0] * 8, 3.0, 2.0).factor == pytest.approx(1.5)


def test_bounds_that_are_missed_are_sentences() -> None:
    assert missed(0.149, [1.2, 1.29, 3.0], 3) == []
    assert "16.0%" in missed(0.16, [1.2, 1.29, 1.1], 3)[0]
    assert "factor of 1.40" in missed(0.1, [1.4, 1.4, 1.1], 3)[0]
    assert "in 1 of 6 searches" in missed(0.1, [1.0], 6)[0]


# --- real runs


@TWO_CORES
def test_a_small_validation(monkeypatch: pytest.MonkeyPatch, command: Any) -> None:
    """Real runs held against a profile of another machine: the document is whole, whatever the errors are."""
    monkeypatch.setattr(routing_validation, "CONFIGURATIONS_QUICK", 3)
    monkeypatch.setattr(routing_validation, "_SEARCHES_QUICK", routing_validation._SEARCHES[:1])
    monkeypatch.setattr(routing_validation, "RUN", 1e-3)
    for name in ("LEAST_CALM", "MOST_ROUNDS"):
        monkeypatch.setattr(routing_validation, name, 1)
    shown = command("validate", "machine", "--pipeline", "message-routing", "--quick", "--json")
    found = dataclasses.replace(shown, status=0).document
    assert shown.status == (0 if found["within_bounds"] else 3)
    assert found["within_bounds"] == (found["missed"] == [])
    assert [row["quantity"] for row in found["rows"]] == ["speedup", "inline", "spare core"] * 3
    for speedup, inline, spare in zip(*[iter(found["rows"])] * 3, strict=True):
        for side in ("measured", "predicted"):
            assert speedup[side] == pytest.approx(inline[side] / spare[side])
        assert speedup["ape"] == pytest.approx(abs(speedup["predicted"] / speedup["measured"] - 1))
    assert found["summary"]["n"] == 3
    assert len(found["break_even"]) == 1
    assert len(found["break_even"][0]["speedups"]) == len(routing_validation.RATIOS)
    assert found["messages"] > 0
    assert "links/this-machine-handover" in found["inputs"]


@TWO_CORES
def test_disturbed_configurations_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pulse that is long but for the first run leaves too few undisturbed ones until the rounds are used up."""
    monkeypatch.setattr(routing_validation, "LEAST_CALM", 2)
    monkeypatch.setattr(routing_validation, "MOST_ROUNDS", 5)
    monkeypatch.setattr(routing_validation, "RUN", 2e-4)
    count = 0

    def pulses(runs: Any) -> list[float]:
        return [np.inf] * len(runs)

    def progress(done: int, total: int) -> None:
        nonlocal count
        count = done

    monkeypatch.setattr(routing_validation, "_pulses", pulses)
    (found,), _ = run_design(design(1), progress=progress)
    assert isinstance(found, Compared)
    assert count == 5
    assert found.calm == 0


# --- the command line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("machine", "--pipeline", "message-routin"), "nearest valid choice: message-routing"),
        (("buddy", "--pipeline", "message-routing"), "runs on this machine"),
        (("machine", "--pipeline", "message-routing", "--loader", "pyg"), "--loader"),
        (("machine", "--pipeline", "message-routing", "--profile", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_bad_input_is_a_sentence(command: Any, arguments: tuple[str, ...], told: str) -> None:
    assert told in command("validate", *arguments).sentence


def test_a_profile_of_other_kernels_says_which_to_run(command: Any, tmp_path: pathlib.Path) -> None:
    table = catalog.parse_toml(catalog.read_bytes(catalog.path_of("profiles", "this-machine")), "this-machine")
    kept = [
        place for place, each in enumerate(table["parameters"]) if not any("routing" in name for name in each["fields"])
    ]
    table["parameters"] = [table["parameters"][place] for place in kept]
    table["covariance"] = [[table["covariance"][row][column] for column in kept] for row in kept]
    path = tmp_path / "this-machine.toml"
    path.write_text(tomli_w.dumps(table), encoding="utf-8")
    told = command("validate", "machine", "--pipeline", "message-routing", "--profile", str(path)).sentence
    assert "perfmodel calibrate --only" in told
    assert "--only message_routing" in told


def test_where_hardly_any_run_is_undisturbed_all_runs_of_both_placements_count() -> None:
    """On a busy host one core alone is undisturbed now and then, both together are not: a ratio must not pick among them."""
    asked = design(4, 1)[0]
    example = RoutingTimes(1.0, {}, 4, 1e-4, 0)
    slowed = [dataclasses.replace(example, total=total, pulse=1.8e-4) for total in (1.7, 1.7, 1.7)]
    inline = [dataclasses.replace(example, total=1.0, pulse=1e-4), *slowed]
    spare = [dataclasses.replace(each, total=each.total / 2, pulse=1.8e-4) for each in slowed]
    found = routing_validation._condensed(
        asked, {routing_validation.INLINE: inline, routing_validation.SPARE: spare}, 1e-4
    )
    assert found.speedup == pytest.approx(2.0)
