"""The break-even ratio on the command line: a formula and a number for each system, and a speedup of one there."""

from __future__ import annotations

from typing import Any

import pytest

WITH_AGENT = ("buddy-dpu", "buddy-x86", "this-machine-routing")
WORKLOADS = ("histogram", "sssp", "triangle-counting")


def chapter_of(command: Any, workload: str, system: str, *more: str) -> Any:
    return command("explain", workload, "--system", system, "--format", "json", *more).document["break_even"]


def speedup(command: Any, workload: str, system: str, ratio: float, *more: str) -> float:
    """Return how many times faster the agent is, from two predictions of their own."""
    times = [
        command(
            "predict", workload, "--system", system, "--set", f"workload.memory_ratio={ratio!r}",
            "--set", f"plan.placement.routing={place}", *more, "--json",
        ).document["time_s"]
        for place in ("application", "agent")
    ]  # fmt: skip
    return float(times[0] / times[1])


@pytest.mark.parametrize("system", WITH_AGENT)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_formula_a_number_and_a_speedup_of_one(command: Any, workload: str, system: str) -> None:
    more = ("--set", "plan.window=1") if system == "this-machine-routing" else ()  # more buffers hide handing over
    chapter = chapter_of(command, workload, system, *more)
    ratio = chapter["value"]
    assert ratio is not None
    assert "memory_work_time_at_ratio_1" in chapter["formula"]
    if ratio > 0:
        assert speedup(command, workload, system, ratio, *more) == pytest.approx(1.0, abs=1e-6)
        assert speedup(command, workload, system, 0.8 * ratio, *more) < 1
    assert speedup(command, workload, system, 1.25 * ratio + 0.01, *more) > 1
    assert chapter["gains"] == (chapter["speedup"] > 1)


@pytest.mark.parametrize("system", ["buddy-dpu", "this-machine-routing"])
def test_people_read_it(command: Any, system: str) -> None:
    shown = command("explain", "sssp", "--system", system)
    assert shown.status == 0
    assert "BREAK-EVEN RATIO OF MEMORY TRAFFIC TO COMMUNICATION" in shown.out


def test_without_an_agent_the_balance_is_given(command: Any) -> None:
    chapter = chapter_of(command, "sssp", "buddy-none")
    assert chapter["formula"] == "inline_routing_time / memory_work_time_at_ratio_1"
    found = command("predict", "sssp", "--system", "buddy-none", "--json").document
    phases = {phase["name"]: phase["time_s"] for phase in found["phases"]}
    assert chapter["value"] == pytest.approx(0.56 * phases["routing"] / phases["memory_work"])


def test_one_spare_core_of_this_machine_against_none(command: Any) -> None:
    found = command(
        "predict", "histogram", "--system", "this-machine-routing", "--against", "route-one-core",
        "--set", "workload.memory_ratio=20", "--json",
    ).document  # fmt: skip
    low, high = found["against"]["speedup_interval"]
    assert low <= found["against"]["speedup"] <= high
    assert {phase["source"] for phase in found["phases"] if phase["time_s"] > 0} <= {"calibrated", "measured"}
