"""Holds the model against Buddy's published ratios, varies what they leave open, and asks about hardware it has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from calibration.published import buddy
from calibration.published.buddy_model import APPLICATIONS, SYSTEMS
from perfmodel.estimate import predict
from perfmodel.evaluation import evaluate
from perfmodel.model.break_even import break_even_chapter
from perfmodel.spec.scenario import Scenario, load_scenario
from studies._base import Answer, Study, between, figure, markdown, percent
from studies.buddy.assumptions import varied
from studies.buddy.picture import curves

DPU, NONE = SYSTEMS["dpu"], SYSTEMS["none"]
#: An agent's cache for arriving data, as large as the fitted one of the host.
CACHE: Final = "5 MB"
#: BlueField-2: 8 cores, one channel of DDR4, and the middle of the 2 to 10 times that LGNNIC's preprocessing takes on it.
BLUEFIELD_2_SLOWER: Final = (2.0 * 10.0) ** 0.5
_RATES: Final = (
    "time_per_routed_message", "time_per_delivered_message", "time_per_routed_byte", "time_per_delivered_byte",
    "time_per_transfer",
)  # fmt: skip
NODES: Final = (2, 4, 8, 16, 64, 256)
THREADS: Final = (1, 2, 4, 8)
RATIOS: Final = np.geomspace(0.1, 100.0, 61)


def compute() -> Answer:
    """Validate, vary assumptions, and predict hardware that the paper does not have."""
    found = buddy.validate()
    return {
        "rows": [_kept(row) for row in found["rows"]],
        "summary": found["summary"],
        "directions": found["directions"],
        "fitted_parameters": found["fitted_parameters"],
        "assumptions": varied(),
        "break_even": {name: {system: _break_even(name, system) for system in SYSTEMS} for name in APPLICATIONS},
        "hardware": {
            name: {words: speedups(change) for words, change in hardware(name).items()} for name in APPLICATIONS
        },
        "nodes": {name: scaled(name) for name in ("histogram", "quicksilver", "sssp")},
        "spare_cores": {name: spare_cores(name) for name in APPLICATIONS},
        "curve": ratio_curves(),
        "laws": laws(),
    }


def _kept(row: Mapping[str, Any]) -> Answer:
    names = (
        "id",
        "application",
        "quantity",
        "measured",
        "predicted",
        "interval",
        "ape",
        "inside_interval",
        "properties",
    )
    return {name: row[name] for name in names}


def _break_even(application: str, system: str) -> Answer:
    chapter = break_even_chapter(load_scenario(application, SYSTEMS[system]))
    if chapter is None:
        raise AssertionError("applications of this study route messages")
    kept = ("value", "formula", "now")
    return {name: chapter[name] for name in kept} | {
        "largest": chapter.get("largest"),
        "speedup": chapter.get("speedup"),
    }


def hardware(application: str) -> dict[str, Scenario]:
    """Return the application on the DPU as published, and on hardware that differs in a few things."""
    base = load_scenario(application, DPU)
    direct = {"system.agent.direct_cache": CACHE}
    more = {**direct, "plan.threads": 16.0}
    fast = {"system.link.bandwidth": "46 GB/s"}
    return {
        "as published": base,
        "400 Gb/s link": base.replace(fast),
        "direct cache access": base.replace(direct),
        "direct cache access, 16 threads": base.replace(more),
        "direct cache access, 16 threads, 400 Gb/s": base.replace({**more, **fast}),
        "twice the memory bandwidth": base.replace({"system.agent.memory_bandwidth": "179.2 GB/s"}),
        "BlueField-2": base.replace(_bluefield_2(base)),
    }


def _bluefield_2(base: Scenario) -> dict[str, Any]:
    rates = base.system.host.routing
    changes: dict[str, Any] = {
        f"system.agent.routing.{name}": getattr(rates, name) * BLUEFIELD_2_SLOWER for name in _RATES
    }
    return changes | {
        "system.agent.cores": 8.0,
        "system.agent.memory_bandwidth": "25.6 GB/s",
        "system.agent.memory": "16 GiB",
    }


def speedups(scenario: Scenario) -> Answer:
    """Return how many times as fast a scenario is as routing inline on the same host and link."""
    inline = scenario.replace({"plan.placement.routing": "application"})
    found = predict(scenario, inline)
    if found.against is None:
        raise AssertionError("a prediction against another scenario holds the comparison")
    return {
        "speedup": found.against.speedup,
        "interval": list(found.against.speedup_interval),
        "bottleneck": found.bottleneck,
    }


def scaled(application: str) -> list[Answer]:
    """Return what more nodes do on the DPU: with 8 buffers, with one for each node, and with two hops."""
    base, found = load_scenario(application, DPU), []
    one = predict(base.replace({"plan.nodes": 1.0})).time_s
    for nodes in NODES:
        plans = {
            "8 buffers": {}, "a buffer for each node": {"plan.buffers": float(nodes)},
            "8 buffers, two hops": {"plan.hops": 2.0},
        }  # fmt: skip
        entry: Answer = {"nodes": nodes}
        for words, change in plans.items():
            scenario = base.replace({"plan.nodes": float(nodes), **change})
            estimate = predict(scenario)
            entry[words] = {"gain": nodes * one / estimate.time_s, "bottleneck": estimate.bottleneck}
        found.append(entry)
    return found


def spare_cores(application: str) -> Answer:
    """Return the speedup of so many spare host cores over none, and how many equal the DPU."""
    base = load_scenario(application, SYSTEMS["x86"])
    inline = predict(load_scenario(application, NONE)).time_s
    dpu = inline / predict(load_scenario(application, DPU)).time_s
    found = {
        str(threads): inline / predict(base.replace({"plan.threads": float(threads)})).time_s for threads in THREADS
    }
    times = evaluate(base, {"plan.threads": np.arange(1.0, 17.0)})["time_s"]
    enough = np.flatnonzero(inline / times >= dpu * (1 - 1e-9))
    return {"speedup": found, "dpu": dpu, "equal": int(enough[0]) + 1 if enough.size else None}


def ratio_curves() -> Answer:
    """Return the speedup of an agent over the ratio of memory traffic to communication, for messages like SSSP's."""
    found: Answer = {"ratio": RATIOS.tolist()}
    for system in ("dpu", "x86"):
        agent = load_scenario("sssp", SYSTEMS[system])
        inline = agent.replace({"plan.placement.routing": "application"})
        columns = {"workload.memory_ratio": RATIOS}
        found[system] = (evaluate(inline, columns)["time_s"] / evaluate(agent, columns)["time_s"]).tolist()
    return found


def laws() -> Answer:
    """Return what simpler laws could give at most: a window of 8 over one of 1, and threads that peak at 7.5."""
    threads = np.arange(1.0, 17.0)
    kappa = 1.0 / 7.5**2
    scalability = threads / (1 + kappa * threads * (threads - 1))
    return {"window_of_8": 8.0, "threads_peaking_at_7_or_8": float(scalability.max())}


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "rows": _rows(answer), "directions": _directions(answer), "assumptions": _assumptions(answer),
        "break_even": _break_evens(answer), "hardware": _hardware(answer), "nodes": _nodes(answer),
        "spare_cores": _spare_cores(answer),
    }  # fmt: skip


def _rows(answer: Answer) -> str:
    rows = [
        [
            row["quantity"],
            row["application"] or "any",
            f"{row['measured']:g}",
            figure(row["predicted"]),
            percent(row["ape"], 1),
            between(row["interval"], 3),
            "fitted to" if "fitted" in row["properties"] else "test",
        ]
        for row in answer["rows"]
        if "input" not in row["properties"]
    ]
    return markdown(["number", "application", "published", "predicted", "error", "90 % interval", ""], rows, 2)


def _directions(answer: Answer) -> str:
    words = {True: "gains", False: "does not gain", None: "not known"}
    rows = [
        [
            row["application"],
            figure(row["speedup"]),
            between(row["interval"]),
            words[row["published"]],
            "yes" if row["holds"] else "no",
        ]
        for row in answer["directions"]
    ]
    return markdown(["application", "speedup on the DPU", "90 % interval", "published", "holds"], rows)


def _assumptions(answer: Answer) -> str:
    rows = [
        [
            found["words"],
            ", ".join(found["missed"]) or "none",
            ", ".join(found["wrong_directions"]) or "none",
            figure(found["speedups"]["histogram"]),
            figure(found["speedups"]["sssp"]),
        ]
        for found in answer["assumptions"]
    ]
    header = ["assumption", "numbers beyond 15 %", "wrong directions", "histogram's speedup", "sssp's"]
    return markdown(header, rows, 3)


def _break_evens(answer: Answer) -> str:
    rows = []
    for name, found in answer["break_even"].items():
        cells = [name, f"{found['dpu']['now']:g}"]
        for system in ("dpu", "x86"):
            largest = found[system]["largest"]
            cells += [
                figure(found[system]["value"], 2),
                f"{figure(largest['speedup'])} at {figure(largest['ratio'], 2)}",
            ]
        rows.append([*cells, figure(found["none"]["value"], 2)])
    header = [
        "application", "its ratio", "DPU breaks even at", "gains most", "spare cores break even at", "gain most",
        "memory work = routing at",
    ]  # fmt: skip
    return markdown(header, rows)


def _hardware(answer: Answer) -> str:
    names = list(answer["hardware"])
    rows = []
    for change in hardware(names[0]):
        found = [answer["hardware"][name][change] for name in names]
        rows.append([change, *(f"{figure(each['speedup'])} ({each['bottleneck']})" for each in found)])
    return markdown(["hardware", *names], rows)


def _nodes(answer: Answer) -> str:
    plans = ("8 buffers", "a buffer for each node", "8 buffers, two hops")
    rows = [
        [name, str(entry["nodes"]), *(figure(entry[words]["gain"]) for words in plans)]
        for name, found in answer["nodes"].items()
        for entry in found
    ]
    return markdown(["application", "nodes", *plans], rows)


def _spare_cores(answer: Answer) -> str:
    rows = []
    for name, found in answer["spare_cores"].items():
        gains = [figure(found["speedup"][str(threads)]) for threads in THREADS]
        rows.append([name, *gains, figure(found["dpu"]), str(found["equal"] or "none")])
    header = [
        "application",
        *(f"{threads} spare" for threads in THREADS),
        "DPU, 8 threads",
        "spare cores that equal it",
    ]
    return markdown(header, rows)


def pictures(answer: Answer) -> dict[str, str]:
    """Return the picture: speedup over the ratio, with the applications' ratios marked."""
    marks = {name: found["dpu"]["now"] for name, found in answer["break_even"].items()}
    curve = answer["curve"]
    return {
        "ratio.svg": curves(
            {"DPU": (curve["ratio"], curve["dpu"]), "spare cores": (curve["ratio"], curve["x86"])}, marks
        )
    }


STUDY = Study("buddy", compute, tables, pictures)
