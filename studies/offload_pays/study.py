"""Predicts LGNNIC's datasets with and without sampling on the SmartNIC, and finds where the one overtakes the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.published import lgnnic
from calibration.published.lgnnic import Published
from perfmodel.errors import ModelError
from perfmodel.estimate import Estimate, predict
from perfmodel.evaluation import evaluate
from perfmodel.spec.scenario import Scenario, load_scenario
from studies._base import Answer, Study, between, figure, markdown
from studies.offload_pays.picture import lines

Array = NDArray[np.float64]

COMMON: Final = {"reddit": "25,10", "ogbn-products": "15,10,5", "ogbn-mag": "10,10"}
SYSTEMS: Final = ("lgnnic-doca-dma", "lgnnic-sockets")
#: Plans by the name that the answer gives them: plan of the catalog and what is changed in it.
PLANS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "offload, fp32": ("default", {}),
    "offload, fp16": ("fp16", {}),
    "ship the neighborhood": ("no-offload", {}),
    "ship the frontier": ("no-offload-frontier", {}),
    "ship the frontier, rows as fp16": (
        "no-offload-frontier",
        {"plan.placement.quantization": "memory-node", "plan.precision.features": "fp16"},
    ),
}
OFFLOADS: Final = ("offload, fp32", "offload, fp16")
FRONTIERS: Final = ("ship the frontier", "ship the frontier, rows as fp16")
RATES: Final = (
    "sampling.time_per_node",
    "sampling.time_per_miss",
    "sampling.time_per_edge",
    "sampling.time_per_fresh_edge",
)
MEBIBYTE: Final = 2.0**20


def scenario(dataset: str, system: str, plan: str) -> Scenario:
    """Return a dataset at its common fanout on one of LGNNIC's systems."""
    name, changes = PLANS[plan]
    fanout = {"workload.sampling.fanout": COMMON[dataset]}
    return load_scenario(dataset, system, name, changes={**fanout, **changes})


def compute() -> Answer:
    """Predict, compare, and find the break-even points."""
    return {
        "times": {system: {dataset: times(dataset, system) for dataset in COMMON} for system in SYSTEMS},
        "local": {dataset: _parts(predict(_local(dataset))) for dataset in COMMON},
        "speedups": {system: {dataset: speedups(dataset, system) for dataset in COMMON} for system in SYSTEMS},
        "break_even": {dataset: break_even(dataset) for dataset in COMMON},
        "claims": [claim(*found) for found in claims()],
    }


def times(dataset: str, system: str) -> Answer:
    """Return the parts of a mini-batch's time under every plan."""
    return {plan: _parts(predict(scenario(dataset, system, plan))) for plan in PLANS}


def _local(dataset: str) -> Scenario:
    return load_scenario(dataset, "lgnnic-local", changes={"workload.sampling.fanout": COMMON[dataset]})


def _parts(estimate: Estimate) -> Answer:
    phases = {phase.name: phase.time_s for phase in estimate.phases}
    return {
        "time_s": estimate.time_s,
        "interval_s": list(estimate.interval_s),
        "phases": phases,
        "bytes": estimate.bytes["total"],
        "violations": [violation.rule for violation in estimate.violations],
    }


def speedups(dataset: str, system: str) -> Answer:
    """Return how many times faster the offload is than every other plan, and than a machine that holds the graph."""
    found: Answer = {}
    for offload in OFFLOADS:
        own = scenario(dataset, system, offload)
        others = {plan: scenario(dataset, system, plan) for plan in PLANS if plan not in OFFLOADS}
        others["one machine holds the graph"] = _local(dataset)
        found[offload] = {name: _speedup(own, other) for name, other in others.items()}
    return found


def _speedup(own: Scenario, other: Scenario) -> Answer:
    against = predict(own, other).against
    if against is None:
        raise ModelError("a prediction against another scenario must hold the comparison")
    return {"speedup": against.speedup, "interval": list(against.speedup_interval), "feasible": against.feasible}


def break_even(dataset: str) -> Answer:
    """Return where offload (fp16) and the frontier (fp16 rows) take as long on the DMA system, all else the same.

    ``sampler``: how many times the SmartNIC's sampling rate. ``link``: rate of one chunk with its acknowledgement [B/s].
    """
    own, other = (scenario(dataset, SYSTEMS[0], plan) for plan in (OFFLOADS[1], FRONTIERS[1]))
    factors = np.geomspace(0.2, 50.0, 401)
    keys = [f"system.memory_node.{rate}" for rate in RATES]
    faster = {key: _number(own, key) / factors for key in keys}
    ratio = evaluate(other, faster)["time_s"] / evaluate(own, faster)["time_s"]
    rates, curve = link_curve(own, other)
    return {
        "today": float(_ratio(other, own)),
        "sampler": _crossing(factors, ratio),
        "link_bytes_per_s": _crossing(rates, curve),
        "link_today_bytes_per_s": chunk_rate(own, _number(own, "system.link.time_per_acknowledgement")),
        "curve": {"link_bytes_per_s": rates[::8].tolist(), "speedup": curve[::8].tolist()},
    }


def _ratio(other: Scenario, own: Scenario) -> float:
    return float(evaluate(other, {})["time_s"][0] / evaluate(own, {})["time_s"][0])


def link_curve(own: Scenario, other: Scenario) -> tuple[Array, Array]:
    """Vary the time that a chunk and its acknowledgement take; returns chunk rates [B/s] and speedups."""
    waits = np.geomspace(2e-6, 0.5, 401)
    columns = {"system.link.time_per_acknowledgement": waits}
    speedup = evaluate(other, columns)["time_s"] / evaluate(own, columns)["time_s"]
    return np.array([chunk_rate(own, wait) for wait in waits]), speedup


def chunk_rate(own: Scenario, wait: float) -> float:
    """Return the rate at which chunks of 1 MiB follow each other [B/s]."""
    return MEBIBYTE / (wait + MEBIBYTE / _number(own, "system.link.bandwidth"))


def _number(found: Scenario, key: str) -> float:
    node: Any = found
    for part in key.split("."):
        node = getattr(node, part)
    return float(node)


def _crossing(where: Array, ratio: Array) -> float | None:
    """Return where a ratio first passes 1, between two points on a line of logs."""
    above = ratio >= 1.0
    turns = np.flatnonzero(above[1:] != above[:-1])
    if not turns.size:
        return None
    first = turns[0]
    x, y = np.log(where[first : first + 2]), np.log(ratio[first : first + 2])
    return float(np.exp(x[0] - y[0] * (x[1] - x[0]) / (y[1] - y[0])))


def claims() -> list[tuple[str, float, str, str, str]]:
    """Return the abstract's claims: words, factor, kind of ratio, mechanism, quantity.

    The ratio is that of the least sampled to the common fanout at fp32 (``sampling``) or of fp32 to fp16 at any fanout
    (``quantization``); the claim is the largest over all datasets.
    """
    return [
        ("17.5x, total training time, DOCA DMA, common fanouts", 17.5, "sampling", "doca-dma", "execution"),
        ("62.4x, total training time, sockets, common fanouts", 62.4, "sampling", "sockets", "execution"),
        ("8.7x, transfer time, DOCA DMA", 8.7, "sampling", "doca-dma", "transfer"),
        ("1.3x, fp16, training, DOCA DMA", 1.3, "quantization", "doca-dma", "execution"),
        ("3.6x, fp16, training, sockets", 3.6, "quantization", "sockets", "execution"),
    ]


def claim(words: str, factor: float, kind: str, mechanism: str, quantity: str) -> Answer:
    """Find the pair of rows that a claim is the ratio of, and predict that ratio."""
    rows = [row for row in lgnnic.read_table() if row.mechanism == mechanism]
    pairs = [pair for first in rows for pair in ((first, second) for second in rows) if _is_pair(kind, *pair)]
    slow, fast = max(pairs, key=lambda pair: _measured(pair[0], quantity)[0] / _measured(pair[1], quantity)[0])
    low, high = _range(slow, fast, quantity)
    numerator, denominator = (_measured(row, quantity)[0] for row in (slow, fast))
    predicted: Answer = {"speedup": None, "interval": None}
    if quantity == "execution":
        predicted = _speedup(fast.scenario(), slow.scenario())
    else:
        parts = [lgnnic.table_times(_phases(row), False)[0] for row in (slow, fast)]
        predicted["speedup"] = parts[0] / parts[1]
    return {
        "claim": words,
        "factor": factor,
        "rows": [_label(slow), _label(fast)],
        "transfer_counted_once": slow.counted_twice and quantity == "execution",
        "as_printed": slow.measured[lgnnic.QUANTITIES.index(quantity)]
        / fast.measured[lgnnic.QUANTITIES.index(quantity)],
        "ratio": numerator / denominator,
        "ratio_range": [low, high],
        "holds": bool(low <= factor + 0.05 and factor - 0.05 <= high),
        "predicted": predicted["speedup"],
        "interval": predicted["interval"],
    }


def _is_pair(kind: str, slow: Published, fast: Published) -> bool:
    if slow.dataset != fast.dataset:
        return False
    if kind == "quantization":
        return slow.fanout == fast.fanout and (slow.precision, fast.precision) == ("fp32", "fp16")
    common = tuple(int(part) for part in COMMON[fast.dataset].split(","))
    return (
        slow.precision == fast.precision == "fp32"
        and fast.fanout == common
        and slow.fanout[0] == -1
        and len(slow.fanout) > 1
    )


def _measured(row: Published, quantity: str) -> tuple[float, float]:
    """Return a row's time with the transfer counted once, and half a unit of its last digit [s]."""
    transfer, execution = row.measured
    half_transfer, half_execution = row.resolution
    if quantity == "transfer":
        return transfer, half_transfer
    if row.counted_twice:
        return execution - transfer, half_execution + half_transfer
    return execution, half_execution


def _range(slow: Published, fast: Published, quantity: str) -> tuple[float, float]:
    """Return the ratios that printed digits allow."""
    (upper, upper_half), (lower, lower_half) = _measured(slow, quantity), _measured(fast, quantity)
    return (upper - upper_half) / (lower + lower_half), (upper + upper_half) / (lower - lower_half)


def _phases(row: Published) -> dict[str, float]:
    return {phase.name: phase.time_s for phase in predict(row.scenario()).phases}


def _label(row: Published) -> str:
    return f"{row.dataset} {','.join(map(str, row.fanout))} {row.precision}"


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "speedups": _speedup_table(answer),
        "times": _time_table(answer),
        "break-even": _break_even_table(answer),
        "claims": _claim_table(answer),
    }


def _speedup_table(answer: Answer) -> str:
    others = [*(plan for plan in PLANS if plan not in OFFLOADS), "one machine holds the graph"]
    rows = [
        [system.removeprefix("lgnnic-"), dataset, COMMON[dataset], offload.removeprefix("offload, ")]
        + [_times(part[other]) for other in others]
        for system, by_dataset in answer["speedups"].items()
        for dataset, by_plan in by_dataset.items()
        for offload, part in by_plan.items()
    ]
    return markdown(["system", "dataset", "fanout", "offload", *others], rows, numbers_from=4)


def _times(found: Mapping[str, Any]) -> str:
    mark = "" if found["feasible"] else " †"
    return f"{figure(found['speedup'])} ({between(found['interval'])}){mark}"


def _time_table(answer: Answer) -> str:
    names = ["sampling", "frontier_lookup", "neighborhood_lookup", "quantization", "transfer", "dequantization"]
    rows = []
    for system, by_dataset in answer["times"].items():
        for dataset, by_plan in by_dataset.items():
            plans = {
                **by_plan,
                **({"one machine holds the graph": answer["local"][dataset]} if system == SYSTEMS[0] else {}),
            }
            for plan, found in plans.items():
                phases = found["phases"]
                shown = [_seconds(phases.get(name, 0.0)) for name in names[:1]]
                shown.append(_seconds(phases.get(names[1], 0.0) + phases.get(names[2], 0.0)))
                shown.append(_seconds(sum(phases.get(name, 0.0) for name in names[3:])))
                rest = sum(time for name, time in phases.items() if name not in names)
                mark = " †" if found["violations"] else ""
                total = f"{figure(found['time_s'])} ({between(found['interval_s'])}){mark}"
                rows.append(
                    [
                        system.removeprefix("lgnnic-"),
                        dataset,
                        plan,
                        f"{found['bytes'] / 1e6:,.0f}",
                        *shown,
                        _seconds(rest),
                        total,
                    ]
                )
    header = ["system", "dataset", "plan", "sent [MB]", "sampling", "lookup", "transfer", "GPU", "total [s]"]
    return markdown(header, rows, numbers_from=3)


def _seconds(time: float) -> str:
    return figure(time) if time else ""


def _break_even_table(answer: Answer) -> str:
    rows = []
    for dataset, found in answer["break_even"].items():
        rows.append(
            [
                dataset,
                f"{found['today']:.2f}",
                _or_never(found["sampler"], "x"),
                _or_never(found["link_bytes_per_s"], "GB/s", 1e9),
                f"{found['link_today_bytes_per_s'] / 1e9:.2f} GB/s",
            ]
        )
    header = [
        "dataset", "offload against frontier, both fp16, DMA", "SmartNIC samples this many times as fast",
        "or a chunk with its ACK moves at", "today",
    ]  # fmt: skip
    return markdown(header, rows)


def _or_never(value: float | None, unit: str, scale: float = 1.0) -> str:
    return "never" if value is None else f"{value / scale:.2f} {unit}"


def _claim_table(answer: Answer) -> str:
    rows = []
    for found in answer["claims"]:
        once = " (transfer counted once)" if found["transfer_counted_once"] else ""
        interval = "" if found["interval"] is None else f" ({between(found['interval'], 3)})"
        rows.append(
            [
                found["claim"], f"{found['rows'][0]} : {found['rows'][1]}{once}", figure(found['as_printed']),
                f"{figure(found['ratio'])} ({between(found['ratio_range'], 3)})", "yes" if found["holds"] else "no",
                f"{figure(found['predicted'])}{interval}",
            ]
        )  # fmt: skip
    header = ["claim", "rows", "as printed", "ratio (by printed digits)", "holds", "predicted"]
    return markdown(header, rows, numbers_from=2)


def pictures(answer: Answer) -> dict[str, str]:
    """Return the picture: speedup of offload against the frontier as the link gets faster."""
    curves: dict[str, tuple[Sequence[float], Sequence[float]]] = {
        f"{dataset} {COMMON[dataset]}": (found["curve"]["link_bytes_per_s"], found["curve"]["speedup"])
        for dataset, found in answer["break_even"].items()
    }
    today = next(iter(answer["break_even"].values()))["link_today_bytes_per_s"]
    return {"link.svg": lines(curves, today)}


STUDY = Study("offload_pays", compute, tables, pictures)
