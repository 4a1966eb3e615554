"""Golden predictions: what the program says of the published workloads, systems and plans, to four digits.

A change of the model shows as a change of this file. Look at the diff, and write it anew only where it moved as meant:

    python -m tests.golden.rewrite
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, Final

import perfmodel as pm
from perfmodel.spec.catalog import names, shipped_table
from perfmodel.spec.families import families, family_of

GOLDEN: Final = pathlib.Path(__file__).with_name("predictions.json")
WORKLOADS: Final = (
    "reddit", "ogbn-products", "ogbn-mag", "ogbn-arxiv", "ogbn-papers100M", "MAG240M", "IGB", "Friendster"
)  # fmt: skip
SYSTEMS: Final = ("lgnnic-doca-dma", "lgnnic-sockets", "lgnnic-local", "bluefield-3-roce", "epyc-roce")
PLANS: Final = ("default", "fp16", "no-offload", "no-offload-frontier")
#: Further settings of LGNNIC's Table 5.
FANOUTS: Final = {"reddit": ("-1,256", "-1"), "ogbn-products": ("-1,-1", "-1"), "ogbn-mag": ("-1,-1", "-1")}


def predictions() -> dict[str, dict[str, Any]]:
    """Return what is kept of every prediction, by ``workload system plan [fanout]``."""
    found = {}
    for workload in WORKLOADS:
        for system in SYSTEMS:
            for plan in PLANS if system != "lgnnic-local" else PLANS[:1]:
                found[f"{workload} {system} {plan}"] = _kept(pm.load_scenario(workload, system, plan))
    for workload, fanouts in FANOUTS.items():
        for system in SYSTEMS[:2]:
            for plan in PLANS[:2]:
                for fanout in fanouts:
                    changes = {"workload.sampling.fanout": fanout}
                    scenario = pm.load_scenario(workload, system, plan, changes=changes)
                    found[f"{workload} {system} {plan} {fanout}"] = _kept(scenario)
    for workload, system in _other_families():
        found[f"{workload} {system}"] = _kept(pm.load_scenario(workload, system))
    return found


def _other_families() -> list[tuple[str, str]]:
    """Return every workload with every system of its family, beside those of sampled training and the machine at hand."""
    kinds = ("workloads", "systems")
    belongs = {kind: {name: family_of(shipped_table(kind, name), name).name for name in names(kind)} for kind in kinds}
    return [
        (workload, system)
        for family in sorted(families())
        for workload, own in belongs["workloads"].items()
        for system, other in belongs["systems"].items()
        if own == other == family != "sampled-training" and not system.startswith("this-machine")
    ]


def _kept(scenario: pm.Scenario) -> dict[str, Any]:
    estimate = pm.predict(scenario)
    return {
        "time_s": _digits(estimate.time_s),
        "interval_s": [_digits(bound, 3) for bound in estimate.interval_s],
        "phases": {phase.name: _digits(phase.time_s) for phase in estimate.phases if phase.time_s > 0},
        "nodes": None if estimate.nodes is None else _digits(estimate.nodes),
        "edges": None if estimate.edges is None else _digits(estimate.edges),
        "bytes": _digits(estimate.bytes["total"]),
        "memory": {need.where: _digits(need.need_bytes, 3) for need in estimate.memory},
        "violations": [violation.rule for violation in estimate.violations],
    }


def _digits(value: float, count: int = 4) -> float:
    return float(f"{value:.{count}g}")


def numbers(entry: Any, prefix: str = "") -> dict[str, Any]:
    """Return an entry's leaves by dotted name."""
    if isinstance(entry, dict):
        return {name: leaf for key, value in entry.items() for name, leaf in numbers(value, f"{prefix}.{key}").items()}
    return {prefix.removeprefix("."): entry}


if __name__ == "__main__":
    found = predictions()
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in found.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} predictions written to {GOLDEN}")
