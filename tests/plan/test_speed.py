"""Twenty jobs, twelve periods and four types of device take at most ten seconds of one core, with proof."""

from __future__ import annotations

import time
from typing import Any

import pytest

import perfmodel as pm

WORKLOADS = {"ogbn-products": 40, "reddit": 150, "ogbn-mag": 30, "ogbn-arxiv": 400, "ogbn-papers100M": 10}
UNIT = {"power": 560, "idle_power": 210, "needs": {"rack": 1, "port": 1}}
TABLE: dict[str, Any] = {
    "name": "large",
    "periods": {"count": 12, "length": "91.25 d"},
    "money": {"energy_price": "0.15 USD/kWh", "overhead": 1.4},
    "jobs": [
        {
            "name": f"job-{number}",
            "workload": list(WORKLOADS)[number % 5],
            "epochs_per_day": list(WORKLOADS.values())[number % 5] * (1 + 0.35 * number),
            "growth": {"nodes": 1.03 + 0.01 * number, "features": 1 + 0.005 * number},
        }
        for number in range(20)
    ],
    "devices": [
        {"name": "nic", "system": "lgnnic-doca-dma", "price": 21500, "lead_time": "90 d", "maximum": 60, **UNIT},
        {"name": "sockets", "system": "lgnnic-sockets", "price": 19000, **UNIT},
        {"name": "roce", "system": "bluefield-3-roce", "price": 24500, "lead_time": "120 d", **UNIT},
        {"name": "host", "system": "lgnnic-local", "price": 26000, "lead_time": "60 d", **UNIT, "needs": {"rack": 2}},
    ],
    "shared": [
        {"name": "rack", "price": 4000, "power": 100, "slots": 16},
        {"name": "port", "price": 600, "power": 10, "slots": 1, "needs": {"switch": 1}},
        {"name": "switch", "price": 15000, "power": 350, "slots": 32},
    ],
}


@pytest.mark.slow
def test_twenty_jobs_twelve_periods_four_types() -> None:
    pm.predict(pm.load_scenario("reddit", "lgnnic-local"))  # the model's formulas, compiled once for all commands
    started = time.process_time()
    found = pm.plan_capacity(TABLE)
    seconds = time.process_time() - started
    assert found.feasible
    assert found.proof is not None
    assert found.proof.gap == 0.0
    assert len({name for period in found.periods for name, units in period.fleet.items() if units}) >= 2
    assert seconds < 10.0, seconds
