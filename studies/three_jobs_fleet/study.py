"""Plans the fleet of ``fleet.toml``, without storage devices too, and turns the two numbers that are least known."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from perfmodel.plan.capacity import plan_capacity
from perfmodel.plan.result import CapacityPlan
from studies._base import ROOT, Answer, Study, markdown

GROWTHS: Final = (1.2, 1.35, 1.5, 1.75)
JOBS: Final = ("products", "social", "papers")
#: Time of a page read from flash, with as many at once as the drive takes [s].
PAGE_READS: Final = (1e-6, 5e-6, 20e-6, 50e-6)
_CORE_TIME: Final = 2.6e-6  # of a node on the BlueField-2's cores, profile lgnnic; a node costs two pages beside that
_DAY: Final = 86400.0


def table() -> dict[str, Any]:
    """Return the fleet's file."""
    return tomllib.loads((ROOT / "three_jobs_fleet" / "fleet.toml").read_text(encoding="utf-8"))


def compute() -> Answer:
    """Plan, and ask what if."""
    whole = plan_capacity(table())
    return {
        "plan": _plan(whole),
        "without_storage": _plan(plan_capacity(table(), {"devices.storage.maximum": 0})),
        "growth": {f"{growth:g}": _short(table(), growth=growth) for growth in GROWTHS},
        "page_read": {f"{1e6 * time:g}": _short(table(), page=time) for time in PAGE_READS},
    }


def _short(fleet: dict[str, Any], growth: float | None = None, page: float | None = None) -> Answer:
    """Return what a fleet costs with another growth of papers, or another time of a page."""
    changed = copy.deepcopy(fleet)
    if growth is not None:
        changed["jobs"][2]["growth"]["nodes"] = growth
    if page is not None:
        changed["devices"][2]["system"]["memory_node"]["sampling"]["time_per_node"] = _CORE_TIME + 2 * page
    found = plan_capacity(changed)
    storage = [period.period for period in found.periods if period.fleet["storage"]]
    return {
        "cost": found.cost,
        "fleet": {name: units for name, units in found.periods[-1].fleet.items() if units} if found.periods else {},
        "storage_from": storage[0] if storage else None,
        "first_failing": None if found.missing is None else found.missing.period,
    }


def _plan(found: CapacityPlan) -> Answer:
    return {
        "cost": found.cost,
        "energy_cost": found.energy_cost,
        "first_failing": None if found.missing is None else found.missing.period,
        "dropped": [] if found.missing is None else list(found.missing.dropped),
        "gap": None if found.proof is None else found.proof.gap,
        "periods": [
            {
                "fleet": {name: units for name, units in period.fleet.items() if units},
                "capital": period.capital,
                "energy_cost": period.energy_cost,
                "limiting": period.limiting,
                "least_sure": min(period.p_meets_target.values()),
                "jobs_on": {run.job: f"{run.copies * run.share:g} {run.device}" for run in period.jobs},
            }
            for period in found.periods
        ],
        "orders": [
            {"name": order.name, "units": order.units, "order_day": order.order_s / _DAY, "day": order.arrives_s / _DAY}
            for order in found.orders
        ],
    }


def tables(answer: Answer) -> Mapping[str, str]:
    """Return the README's tables."""
    periods = [
        [
            str(number), _units(period["fleet"]), *(period["jobs_on"][job] for job in JOBS), f"{period['capital']:,.0f}",
            f"{period['energy_cost']:,.0f}", period["limiting"], f"{100 * period['least_sure']:.0f} %",
        ]
        for number, period in enumerate(answer["plan"]["periods"])
    ]  # fmt: skip
    orders = [
        [order["name"], str(order["units"]), f"{order['order_day']:.0f}", f"{order['day']:.0f}"]
        for order in answer["plan"]["orders"]
    ]
    jobs = [f"{job} on" for job in JOBS]
    header = ["period", "in service", *jobs, "devices [USD]", "energy [USD]", "limiting", "least sure target"]
    return {
        "plan": markdown(header, periods, numbers_from=5),
        "orders": markdown(["what", "units", "order by day", "serves from day"], orders),
        "growth": _what_if(answer["growth"], "growth of papers a year"),
        "pages": _what_if(answer["page_read"], "a page of flash [us]"),
    }  # fmt: skip


def _what_if(found: Mapping[str, Any], name: str) -> str:
    rows = [
        [
            value, f"{entry['cost']:,.0f}", _units(entry["fleet"]),
            "never" if entry["storage_from"] is None else str(entry["storage_from"]),
            "none" if entry["first_failing"] is None else str(entry["first_failing"]),
        ]
        for value, entry in sorted(found.items(), key=lambda item: float(item[0]))
    ]  # fmt: skip
    return markdown([name, "cost [USD]", "fleet at the end", "storage from period", "period without a fleet"], rows)


def _units(fleet: Mapping[str, int]) -> str:
    return ", ".join(f"{units} {name}" for name, units in fleet.items())


STUDY: Final = Study("three_jobs_fleet", compute, tables)
