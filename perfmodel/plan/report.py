"""What the cheapest fleet means for each period: costs, resources with their headroom, odds, orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfmodel.plan.odds import Odds
from perfmodel.plan.planner import Planner
from perfmodel.plan.problem import Problem, Solution
from perfmodel.plan.result import JobRun, Order, Period, Resource
from perfmodel.spec.fleet import Buyable


def period_result(ready: Planner, problem: Problem, solution: Solution, period: int, found: Odds) -> Period:
    """Return one period of the plan."""
    before = [item.owned for item in problem.items] if period == 0 else list(solution.units[period - 1])
    units = solution.units[period]
    bought = [now - then for now, then in zip(units, before, strict=True)]
    joules = _joules(problem, solution, period) * ready.fleet.money.overhead
    capital = float(sum(count * item.price for count, item in zip(bought, problem.items, strict=True)))
    energy_cost = joules * ready.fleet.money.energy_price
    spent = _spent(ready, problem, solution, period)
    resources = [*_taken(problem, solution, period), *_busy(ready, problem, found, period, solution), *spent]
    names = [item.name for item in problem.items]
    runs, odds, everyone = _jobs(ready, problem, solution, period, found)
    return Period(
        period,
        period * ready.fleet.periods.length,
        ready.fleet.periods.length,
        dict(zip(names, units, strict=True)),
        dict(zip(names, bought, strict=True)),
        capital,
        energy_cost,
        joules,
        tuple(resources),
        min(resources, key=lambda each: each.headroom).name,
        runs,
        odds,
        everyone,
    )


def _joules(problem: Problem, solution: Solution, period: int) -> float:
    """Return the energy of all that is in service [J]."""
    idle = sum(count * item.idle_power for count, item in zip(solution.units[period], problem.items, strict=True))
    busy = sum(
        instances * problem.choices[job][period][number].power
        for job, rows in enumerate(solution.runs)
        for number, instances in rows[period].items()
    )
    return float((idle + busy) * problem.durations[period])


def _spent(ready: Planner, problem: Problem, solution: Solution, period: int) -> list[Resource]:
    """Return the budget, with all that is spent so far."""
    if not np.isfinite(problem.budget):
        return []
    capital = sum(
        (count - item.owned) * item.price for count, item in zip(solution.units[period], problem.items, strict=True)
    )
    price = ready.fleet.money.energy_price * ready.fleet.money.overhead
    energy = sum(_joules(problem, solution, t) for t in range(period + 1)) * price
    return [Resource("budget", capital + energy, problem.budget, "USD")]


def _taken(problem: Problem, solution: Solution, period: int) -> list[Resource]:
    """Return the units that jobs take of each type, and the slots that units take of what they share."""
    units, found = solution.units[period], []
    taken: dict[int, float] = {}
    for job, rows in enumerate(solution.runs):
        for number, instances in rows[period].items():
            choice = problem.choices[job][period][number]
            taken[choice.item] = taken.get(choice.item, 0.0) + instances * choice.taken
    for item, spec in enumerate(problem.items):
        if units[item] == 0:
            continue
        if item in taken:
            found.append(Resource(f"{spec.name}.units", taken[item], float(units[item]), "units"))
        used = sum(units[o] * other.needs[item] for o, other in enumerate(problem.items) if item in other.needs)
        if used:
            found.append(Resource(f"{spec.name}.slots", used, units[item] * spec.slots, "slots"))
    return found


def _busy(ready: Planner, problem: Problem, found: Odds, period: int, solution: Solution) -> list[Resource]:
    """Return how busy the busiest unit's stages are, and what units share."""
    names = [item.name for item in problem.items]
    stages = [
        Resource(f"{names[item]}.{stage}", load, 1.0, "busy") for (item, stage), load in sorted(found.busy.items())
    ]
    first = len(ready.fleet.devices)
    return stages + [
        Resource(f"{names[item]}.service", load, ready.fleet.shared[item - first].utilization, "busy")
        for item, load in sorted(found.served.items())
    ]


def _jobs(
    ready: Planner, problem: Problem, solution: Solution, period: int, found: Odds
) -> tuple[tuple[JobRun, ...], dict[str, float], float]:
    """Return how each job runs, how often it meets its target, and how often all do."""
    runs: list[JobRun] = []
    met: dict[str, NDArray[np.bool_]] = {}
    number = 0
    for job, rows in enumerate(solution.runs):
        spec = ready.fleet.jobs[job]
        for way, instances in rows[period].items():
            choice, kept = problem.choices[job][period][way], found.met[number][1:]
            device = problem.items[choice.item].name
            p, time = float(np.mean(kept)), found.epoch_time[number]
            runs.append(
                JobRun(
                    spec.name, device, instances, choice.shared, choice.copies, choice.share, time, spec.epoch_time, p
                )
            )
            met[spec.name] = met[spec.name] & kept if spec.name in met else kept
            number += 1
    everyone = np.logical_and.reduce(list(met.values()))
    return tuple(runs), {name: float(np.mean(kept)) for name, kept in met.items()}, float(np.mean(everyone))


def orders(ready: Planner, solution: Solution) -> tuple[Order, ...]:
    """Return what must be ordered when, earliest first: so that it arrives at the start of the period that needs it."""
    types: Sequence[Buyable] = (*ready.fleet.devices, *ready.fleet.shared)
    found = []
    for item, spec in enumerate(types):
        before = ready.items[item].owned
        for period, units in enumerate(row[item] for row in solution.units):
            if units > before:
                arrives = period * ready.fleet.periods.length
                price = (units - before) * ready.items[item].price
                found.append(Order(spec.name, units - before, arrives - spec.lead_time, arrives, period, price))
            before = units
    return tuple(sorted(found, key=lambda order: (order.order_s, order.name)))
