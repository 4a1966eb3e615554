"""Predicts ogbn-papers100M on BlueField-3 cards under several plans, and finds where the link makes offloading lose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from perfmodel.estimate import predict
from perfmodel.evaluation import evaluate
from perfmodel.spec.scenario import Scenario, load_scenario
from studies._base import Answer, Study, between, figure, markdown

WORKLOAD: Final = "ogbn-papers100M"
SYSTEM: Final = "bluefield-3-roce"
#: Cards of 32 GiB each; the graph needs 110 GB.
CARDS: Final = 4
PRECISIONS: Final = ("fp32", "fp16")
#: How fast a card samples over what the catalog assumes.
RATES: Final = (0.25, 0.5, 0.75, 1.0, 2.0, 4.0)
SLOWEST, FASTEST = 1e7, 1e11  # of links looked at [B/s]
BANDWIDTH: Final = "system.link.bandwidth"
SAMPLING: Final = ("system.memory_node.sampling.time_per_node", "system.memory_node.sampling.time_per_edge")


def scenario(frontier: bool, precision: str = "fp32", cards: int = CARDS, rate: float = 1.0) -> Scenario:
    """Return sampling on the cards, or on the host that fetches lists and rows from them."""
    found = load_scenario(WORKLOAD, SYSTEM, "no-offload-frontier" if frontier else "default")
    times = (found.system.memory_node.sampling.time_per_node, found.system.memory_node.sampling.time_per_edge)
    changes: dict[str, Any] = {"plan.devices": cards, "plan.precision.features": precision}
    return found.replace(changes | {key: time / rate for key, time in zip(SAMPLING, times, strict=True)})


def compute() -> Answer:
    """Return predictions, and break-even points over the link's speed and the cards' sampling."""
    today = scenario(frontier=False).system.link.bandwidth
    return {
        "link_today": today,
        "plans": plans(),
        "link": {
            precision: [{"rate": rate, **_link(precision, rate, today)} for rate in RATES] for precision in PRECISIONS
        },
        "sampling": {precision: break_even_rate(precision) for precision in PRECISIONS},
    }


def plans() -> list[Answer]:
    """Return what each way to run it takes; speedups are over shipping the frontier from as many cards at that precision."""
    found = []
    for cards in (1, CARDS, 2 * CARDS):
        for precision in PRECISIONS:
            offload, frontier = (scenario(way, precision, cards) for way in (False, True))
            some = "1 card" if cards == 1 else f"{cards} cards"
            found.append(_row(f"sampling on {some}", offload, frontier, precision))
            found.append(_row(f"sampling on the host, graph on {some}", frontier, None, precision))
    found.append(_row("sampling on an EPYC server, by RDMA", load_scenario(WORKLOAD, "epyc-roce"), None, "fp32"))
    found.append(_row("one host holds the graph and samples", load_scenario(WORKLOAD, "lgnnic-local"), None, "fp32"))
    return found


def _row(words: str, asked: Scenario, against: Scenario | None, precision: str) -> Answer:
    found = predict(asked, against)
    memory = next(need for need in found.memory if need.where == "memory_node")
    return {
        "words": words,
        "precision": precision,
        "time_s": found.time_s,
        "interval_s": list(found.interval_s),
        "phases": {phase.name: phase.time_s for phase in found.phases},
        "feasible": found.feasible,
        "memory_bytes": memory.need_bytes,
        "capacity_bytes": memory.capacity_bytes,
        "speedup": None if found.against is None else found.against.speedup,
        "interval": None if found.against is None else list(found.against.speedup_interval),
    }


def speedups(precision: str, columns: Mapping[str, Any], rate: float = 1.0) -> Any:
    """Return how many times faster offloading is than shipping the frontier, value by value."""
    offload, frontier = (evaluate(scenario(way, precision, rate=rate), columns)["time_s"] for way in (False, True))
    return frontier / offload


def _link(precision: str, rate: float, today: float) -> Answer:
    """Return on which side of which link speed offloading pays."""
    links = np.geomspace(SLOWEST, FASTEST, 4001)
    found = speedups(precision, {BANDWIDTH: links}, rate)
    crossings = np.flatnonzero(np.diff(found > 1))
    return {
        "today": float(speedups(precision, {BANDWIDTH: [today]}, rate)[0]),
        "slowest": float(found[0]),
        "fastest": float(found[-1]),
        "pays_below": float(np.sqrt(links[crossings[0]] * links[crossings[0] + 1])) if len(crossings) else None,
        "crossings": len(crossings),
    }


def break_even_rate(precision: str) -> float:
    """Return how fast cards must sample, over what the catalog assumes, for offloading to pay with the link of today."""
    rates = np.geomspace(0.05, 20.0, 4001)
    plain = scenario(frontier=False).system.memory_node.sampling
    columns = {
        key: time / rates for key, time in zip(SAMPLING, (plain.time_per_node, plain.time_per_edge), strict=True)
    }
    return float(rates[np.argmax(speedups(precision, columns) > 1)])


def tables(answer: Answer) -> Mapping[str, str]:
    """Return the README's tables."""
    rows = []
    for found in answer["plans"]:
        speedup = "" if found["speedup"] is None else f"{figure(found['speedup'])} ({between(found['interval'])})"
        share = found["memory_bytes"] / found["capacity_bytes"]
        rows.append(
            [
                found["words"], found["precision"], _milli(found["time_s"]),
                f"{_milli(found['interval_s'][0])} to {_milli(found['interval_s'][1])}",
                _milli(found["phases"]["sampling"]), _milli(found["phases"].get("transfer", 0.0)),
                f"{100 * share:.0f} %" + ("" if found["feasible"] else " †"), speedup,
            ]
        )  # fmt: skip
    header = [
        "plan", "precision", "mini-batch [ms]", "90 % interval [ms]", "sampling [ms]", "transfer [ms]",
        "memory of a card or host", "speedup over shipping the frontier",
    ]  # fmt: skip
    links = [
        [precision, f"{entry['rate']:g}", _pays(entry), figure(entry["today"]), figure(entry["slowest"])]
        for precision, entries in answer["link"].items()
        for entry in entries
    ]
    return {
        "plans": markdown(header, rows, numbers_from=2),
        "link": markdown(
            ["precision", "cards sample, over the assumption", "offloading pays", "speedup at 11.54 GB/s", "at 10 MB/s"], links
        ),
    }  # fmt: skip


def _milli(seconds: float) -> str:
    return figure(1e3 * seconds) if seconds else ""


def _pays(entry: Mapping[str, Any]) -> str:
    if entry["pays_below"] is not None:
        return f"below {figure(entry['pays_below'] / 1e9)} GB/s"
    return "at any speed" if entry["fastest"] > 1 else "never"


STUDY: Final = Study("papers100m_offload", compute, tables)
