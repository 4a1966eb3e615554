"""A fleet's file as a problem of numbers: demands of every job on every type of device, found once and kept."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.model.bound import bind
from perfmodel.plan.choices import Refusal, Site, choices
from perfmodel.plan.demand import Demand, Rows, demand, rows_of
from perfmodel.plan.growth import counts, grown
from perfmodel.plan.problem import Choice, Item, Problem
from perfmodel.spec.catalog import Reader, flattened
from perfmodel.spec.families import family_of
from perfmodel.spec.fleet import Buyable, DeviceType, Entry, Fleet
from perfmodel.spec.hardware import Device
from perfmodel.spec.scenario import Scenario, load_scenario

Progress = Callable[[int, int], None]


class Demands:
    """Demands that were asked for before, so that a sweep evaluates the model only for what it changes."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}
        self._families: dict[tuple[str, str], str] = {}
        self._rows: dict[str, Rows] = {}
        self._found: dict[str, Demand] = {}
        self._scenarios: dict[str, Scenario] = {}

    def family(self, kind: str, entry: Entry, where: str) -> str:
        """Return the family of a workload or a system."""
        key = kind, _text(entry)
        if key not in self._families:
            self._families[key] = family_of(Reader().table(kind, entry, where), where).name
        return self._families[key]

    def system(self, fleet: Fleet, job: int, device: int) -> Entry | None:
        """Return the system on which a job runs on a type of device, None where it doesn't."""
        spec, kind = fleet.jobs[job], fleet.devices[device]
        if spec.devices is not None and kind.name not in spec.devices:
            return None
        wanted = self.family("workloads", spec.workload, f"jobs.{job}.workload")
        if spec.family is not None and spec.family != wanted:
            rule = f"must be the family of its workload, {wanted}"
            raise SpecError(f"jobs.{job}.family", rule, shown(spec.family), wanted)
        named = (entry for entry in kind.system if self.family("systems", entry, f"devices.{device}.system") == wanted)
        return next(named, None)

    def scenario(self, fleet: Fleet, job: int, device: int, system: Entry) -> Scenario:
        """Return a job's scenario on a type of device, with its first values."""
        spec, kind = fleet.jobs[job], fleet.devices[device]
        key = _text([spec.workload, spec.plan, spec.set, system, kind.plan, kind.set])
        if key not in self._scenarios:
            changes = {**flattened(kind.set), **flattened(spec.set)}
            plan = spec.plan if spec.plan is not None else kind.plan
            self._scenarios[key] = load_scenario(spec.workload, system, plan, changes=changes)
            self.inputs |= self._scenarios[key].inputs
        return self._scenarios[key]

    def demand(self, fleet: Fleet, job: int, device: int) -> Demand | None:
        """Return what a job asks of a type of device, None where it doesn't run there."""
        system = self.system(fleet, job, device)
        if system is None:
            return None
        spec, kind = fleet.jobs[job], fleet.devices[device]
        horizon = fleet.periods.model_dump(exclude={"notice"})
        workload = _text([spec.workload, spec.set, spec.growth.model_dump(exclude={"jobs"}), horizon])
        key = workload + _text([spec.plan, system, kind.plan, kind.set])
        if key not in self._found:
            scenario = self.scenario(fleet, job, device, system)
            changes = grown(scenario, spec.growth, fleet.periods, f"jobs.{job}")
            if workload not in self._rows:
                self._rows[workload] = rows_of(scenario, changes)
            self._found[key] = demand(scenario, changes, self._rows[workload])
        return self._found[key]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


@dataclasses.dataclass(frozen=True, eq=False)
class Planner:
    """A fleet's file with the demands of its jobs.

    Attributes
    ----------
    fleet : Fleet
    demands : tuple by job of tuples by type of device
    sites : tuple by type of device of Site
    items : tuple of Item
        Types of device, then what they share.
    counts : tuple by job of tuples by period
    rates : array of shape (jobs, periods)
        Mini-batches that an instance must do [1/s].
    """

    fleet: Fleet
    demands: tuple[tuple[Demand | None, ...], ...]
    sites: tuple[Site, ...]
    items: tuple[Item, ...]
    counts: tuple[tuple[int, ...], ...]
    rates: np.ndarray[Any, np.dtype[np.float64]]

    def ways(
        self, job: int, period: int, quantile: float, scale: float = 1.0
    ) -> tuple[tuple[Choice, ...], tuple[tuple[int, Refusal], ...]]:
        """Return the choices of a job in a period, and why some types of device offer none."""
        found: list[Choice] = []
        refused: list[tuple[int, Refusal]] = []
        replicas = self.fleet.jobs[job].replicas or float("inf")
        for device, known in enumerate(self.demands[job]):
            if known is not None:
                rate = float(self.rates[job, period]) * scale
                some, reason = choices(known, self.sites[device], period, rate, quantile, replicas)
                found += some
                if reason is not None:
                    refused.append((device, reason))
        return tuple(found), tuple(refused)

    def problem(self, quantile: float) -> Problem:
        """Return the whole problem, sized at a quantile of the model's uncertainty."""
        fleet, money = self.fleet, self.fleet.money
        periods = range(fleet.periods.number)
        return Problem(
            self.items,
            (fleet.periods.length,) * len(periods),
            tuple(row[: len(periods)] for row in self.counts),
            tuple(tuple(self.ways(job, t, quantile)[0] for t in periods) for job in range(len(fleet.jobs))),
            money.energy_price * money.overhead,
            money.budget,
        )


def planner(fleet: Fleet, known: Demands, progress: Progress = lambda done, total: None) -> Planner:
    """Return a fleet's planner; ``known`` keeps what the model was asked.

    Raises
    ------
    SpecError
        Jobs that run on no type of device, stages that a system lacks, unknown prices.
    """
    jobs, devices = range(len(fleet.jobs)), range(len(fleet.devices))
    rows = []
    for job in jobs:
        row = []
        for device in devices:
            row.append(known.demand(fleet, job, device))
            progress(job * len(devices) + device + 1, len(jobs) * len(devices))
        rows.append(tuple(row))
        _runs_somewhere(fleet, job, row)
    items = tuple(_item(fleet, known, position) for position in range(len(fleet.devices) + len(fleet.shared)))
    sites = tuple(_site(fleet, known, device, [row[device] for row in rows]) for device in devices)
    batches = np.array([next(one.batches for one in row if one is not None) for row in rows])
    times = np.array([job.epoch_time for job in fleet.jobs])
    number = tuple(counts(job.count, job.growth, fleet.periods) for job in fleet.jobs)
    return Planner(fleet, tuple(rows), sites, items, number, batches / times[:, None])


def _runs_somewhere(fleet: Fleet, job: int, row: list[Demand | None]) -> None:
    if all(one is None for one in row):
        rule = "must be of the family of one of the devices' systems that it may run on"
        systems = ", ".join(device.name for device in fleet.devices)
        raise SpecError(f"jobs.{job}.workload", rule, f"{shown(fleet.jobs[job].workload)} with devices {systems}")


def _any_scenario(fleet: Fleet, known: Demands, device: int) -> Scenario | None:
    """Return a scenario of the first job that runs on a type of device."""
    for job in range(len(fleet.jobs)):
        system = known.system(fleet, job, device)
        if system is not None:
            return known.scenario(fleet, job, device, system)
    return None


def _total(fleet: Fleet, known: Demands, device: int, field: str) -> float | None:
    """Return the sum of a number of a system's devices, None where one of them has none."""
    scenario = _any_scenario(fleet, known, device)
    if scenario is None:
        return None
    bound = bind(scenario)
    found = 0.0
    for role, count in bound.family.counts(bound.values).items():
        spec = getattr(scenario.system, role)
        value = getattr(spec, field) if isinstance(spec, Device) else None
        if value is None:
            return None
        found += float(value) * float(count)
    return found


def _item(fleet: Fleet, known: Demands, position: int) -> Item:
    """Return what is bought, its price and power given or summed up over its devices."""
    types: tuple[Buyable, ...] = (*fleet.devices, *fleet.shared)
    spec, names = types[position], [each.name for each in types]
    where = f"devices.{position}" if position < len(fleet.devices) else f"shared.{position - len(fleet.devices)}"
    device = isinstance(spec, DeviceType)
    price = spec.price if spec.price is not None or not device else _total(fleet, known, position, "price")
    if price is None:
        raise SpecError(f"{where}.price", "must be given: not all devices of its system have a price", "nothing")
    idle = spec.idle_power if spec.idle_power is not None else _power(fleet, known, position, where)
    slots = getattr(spec, "slots", None)
    service = float("inf") if device else getattr(spec, "servers") * getattr(spec, "utilization")  # noqa: B009
    return Item(
        spec.name,
        price,
        idle,
        int(spec.owned),
        float("inf") if spec.maximum is None else spec.maximum,
        _earliest(fleet, spec),
        {names.index(name): slots_taken for name, slots_taken in spec.needs.items() if slots_taken > 0},
        float("inf") if slots is None else slots,
        service,
    )


def _earliest(fleet: Fleet, spec: Buyable) -> int:
    """Return the first period in which a unit can serve that is ordered as early as orders can be placed."""
    if fleet.periods.notice is None:
        return 0
    late = (spec.lead_time - fleet.periods.notice) / fleet.periods.length
    return max(0, int(np.ceil(late * (1.0 - 1e-12))))


def _power(fleet: Fleet, known: Demands, position: int, where: str) -> float:
    types: tuple[Buyable, ...] = (*fleet.devices, *fleet.shared)
    spec = types[position]
    power = (
        spec.power
        if spec.power is not None or position >= len(fleet.devices)
        else _total(fleet, known, position, "power")
    )
    if power is None:
        if fleet.money.energy_price > 0:
            raise SpecError(
                f"{where}.power", "must be given: not all that a unit consists of has a known power", "nothing"
            )
        return 0.0
    return power


def _site(fleet: Fleet, known: Demands, device: int, demands: list[Demand | None]) -> Site:
    spec, names = fleet.devices[device], [each.name for each in fleet.shared]
    stages = {stage for one in demands if one is not None for stage in one.stages}
    for stage in spec.shares:
        if stages and stage not in stages:
            rule = f"must name stages of the system: {', '.join(sorted(stages))}"
            raise SpecError(f"devices.{device}.shares", rule, stage, nearest(stage, stages))
    first = len(fleet.devices)
    elsewhere = {stage: first + names.index(name) for stage, name in spec.shares.items()}
    where = f"devices.{device}"
    power = _power(fleet, known, device, where) if spec.power is None or spec.idle_power is None else spec.power
    idle = spec.idle_power if spec.idle_power is not None else power
    busy = {item: fleet.shared[item - first].utilization for item in elsewhere.values()}
    return Site(device, spec.utilization, elsewhere, busy, max(0.0, power - idle))
