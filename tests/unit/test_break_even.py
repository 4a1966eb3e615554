"""The break-even ratio: where predictions cross, in number and in closed form, on random systems."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import perfmodel as pm
from perfmodel.model.break_even import break_even_chapter

DPU = "buddy-dpu"


def speedup(scenario: pm.Scenario, ratio: float) -> float:
    """Return how many times faster the agent is than routing inline, by two predictions."""
    agent, inline = (
        scenario.replace({"workload.memory_ratio": ratio, "plan.placement.routing": place})
        for place in ("agent", "application")
    )
    return pm.predict(inline).time_s / pm.predict(agent).time_s


def drawn(seed: int) -> pm.Scenario:
    """Draw a system around Buddy's."""
    rng = random.Random(seed)

    def around(value: float) -> float:
        return value * 10 ** rng.uniform(-0.5, 0.5)

    return pm.load_scenario(
        rng.choice(["histogram", "sssp", "triangle-counting"]),
        rng.choice([DPU, "buddy-x86"]),
        changes={
            "system.host.routing.work_bandwidth": around(5e9),
            "system.host.routing.time_per_routed_message": around(5e-9),
            "system.agent.routing.time_per_routed_message": around(7e-9),
            "system.agent.memory_bandwidth": around(89.6e9),
            "system.link.bandwidth": around(11e9),
            "system.host_link.handover.time_per_buffer": around(0.2e-6),
            "plan.nodes": float(rng.randint(1, 64)),
            "plan.hops": float(rng.randint(1, 2)),
            "plan.threads": float(rng.randint(1, 16)),
            "plan.buffers": 64.0,
        },
    )


@pytest.mark.parametrize("seed", range(24))
def test_predictions_cross_there(seed: int) -> None:
    scenario = drawn(seed)
    chapter: Any = break_even_chapter(scenario)
    ratio = chapter["value"]
    if ratio is None:
        assert all(speedup(scenario, other) <= 1 + 1e-9 for other in (0.0, 0.5, 5.0, 50.0))
        return
    assert speedup(scenario, ratio * 1.001 + 1e-6) > 1
    if ratio > 0:
        assert speedup(scenario, ratio * 0.999) <= 1 + 1e-9
    assert chapter["gains"] == (speedup(scenario, chapter["now"]) > 1)


@pytest.mark.parametrize("seed", range(24))
def test_no_ratio_gains_more_than_the_largest(seed: int) -> None:
    scenario = drawn(seed)
    chapter: Any = break_even_chapter(scenario)
    largest = chapter["largest"]
    assert speedup(scenario, largest["ratio"]) == pytest.approx(largest["speedup"], rel=1e-6)
    others = [speedup(scenario, largest["ratio"] * factor) for factor in (0.25, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 10.0)]
    assert max(others) <= largest["speedup"] * (1 + 1e-9)


@pytest.mark.parametrize("system", [DPU, "buddy-x86"])
@pytest.mark.parametrize("workload", ["histogram", "quicksilver", "sparse-transpose", "sssp", "triangle-counting"])
def test_the_closed_form_is_the_number(workload: str, system: str) -> None:
    """The formula with its numbers in place, read back as arithmetic, comes to what bisection found."""
    chapter: Any = break_even_chapter(pm.load_scenario(workload, system))
    shown = chapter["over_numbers"]["with_numbers"]
    assert evaluated(shown) == pytest.approx(chapter["value"], rel=2e-3, abs=2e-3)  # numbers are shown with four digits
    assert evaluated(chapter["with_numbers"]) == pytest.approx(chapter["value"], rel=2e-2, abs=5e-3)


UNITS = {
    "GB/s": 1e9, "TB/s": 1e12, "ps/B": 1e-12, "ns/B": 1e-9, "ns/message": 1e-9, "B/message": 1.0, "KiB": 1024.0, "ns": 1e-9,
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "message": 1.0, "B": 1.0,
}  # fmt: skip


def evaluated(shown: str) -> float:
    """Return the value of arithmetic with units."""
    text = shown.replace("\N{NO-BREAK SPACE}", " ")
    units = "|".join(sorted(UNITS, key=len, reverse=True))
    text = re.sub(rf"([\d.e+-]+) ({units})(?=[ )]|$)", lambda match: f"({match[1]}*{UNITS[match[2]]!r})", text)
    assert set(text) <= set("0123456789.e+-*/() "), text
    return float(eval(text))


def test_displaced_tables_move_the_number() -> None:
    """Routing that finds its tables displaced makes offloading pay at a lower ratio."""
    scenario = pm.load_scenario("sssp", DPU)
    moved = scenario.replace(
        {"system.host.routing.restart_time": "0.3 us", "system.host.routing.displacement": "16 KiB"}
    )
    before, after = (break_even_chapter(each) for each in (scenario, moved))
    assert before is not None
    assert after is not None
    assert 0 < after["value"] < before["value"]
    assert speedup(moved, after["value"] * 1.001) > 1 >= speedup(moved, after["value"] * 0.999)


def test_an_agent_that_costs_more_than_routing_never_gains() -> None:
    scenario = pm.load_scenario("sssp", DPU, changes={"system.host_link.handover.time_per_buffer": "50 us"})
    chapter: Any = break_even_chapter(scenario)
    assert chapter["value"] is None
    assert "never gains" in chapter["why"]


def test_without_an_agent_the_balance_is_told() -> None:
    chapter: Any = break_even_chapter(pm.load_scenario("sssp", "buddy-none"))
    phases = {phase.name: phase.time_s for phase in pm.predict(pm.load_scenario("sssp", "buddy-none")).phases}
    assert chapter["value"] == pytest.approx(0.56 * phases["routing"] / phases["memory_work"])
    assert not chapter["agent"]


def test_other_families_have_none() -> None:
    assert break_even_chapter(pm.load_scenario("reddit", "lgnnic-doca-dma")) is None
