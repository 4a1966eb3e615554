"""A small fleet's table that tests change."""

from __future__ import annotations

import copy
from typing import Any

import pytest

TABLE: dict[str, Any] = {
    "name": "small",
    "periods": {"count": 3, "length": "182.625 d"},
    "money": {"energy_price": "0.15 USD/kWh"},
    "jobs": [
        {"name": "products", "workload": "ogbn-products", "epochs_per_day": 300, "growth": {"nodes": 1.5}},
        {"name": "social", "workload": "reddit", "deadline": "5 min", "growth": {"edges": 1.3}, "priority": 2},
    ],
    "devices": [
        {
            "name": "nic",
            "system": "lgnnic-doca-dma",
            "price": 20000,
            "power": 560,
            "idle_power": 200,
            "needs": {"rack": 1},
        },
        {
            "name": "host",
            "system": "lgnnic-local",
            "price": 24000,
            "power": 600,
            "idle_power": 250,
            "needs": {"rack": 2},
        },
    ],
    "shared": [{"name": "rack", "price": 4000, "power": 100, "slots": 8}],
}


@pytest.fixture
def table() -> dict[str, Any]:
    """Return the table, to be changed at will."""
    return copy.deepcopy(TABLE)
