"""The capacity plan: the cheapest fleet, sized so that each target is met with the confidence that is asked for."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from perfmodel.plan.fleet import cheapest
from perfmodel.plan.missing import missing
from perfmodel.plan.odds import Odds, Running, odds
from perfmodel.plan.planner import Demands, Planner, Progress, planner
from perfmodel.plan.problem import Problem, Solution
from perfmodel.plan.read import fleet_of, read_table
from perfmodel.plan.report import orders, period_result
from perfmodel.plan.result import CapacityPlan, FleetProof
from perfmodel.spec.catalog import Reference
from perfmodel.spec.fleet import Fleet

_STEP = 0.01  # of the quantile, from one attempt to the next


def plan_capacity(
    fleet: Reference,
    changes: Mapping[str, Any] | None = None,
    *,
    time_limit: float = 60.0,
    progress: Progress = lambda done, total: None,
) -> CapacityPlan:
    """Find the cheapest fleet that meets all targets in every period.

    Parameters
    ----------
    fleet : str, path or mapping
        Catalog name, path of a TOML file, or the table itself.
    changes : mapping of dotted key to value, optional
        Laid over it: ``{"jobs.0.growth.edges": 2.0, "devices.bluefield.price": "2500 USD"}``.
    time_limit : float
        After which the best fleet so far is taken, with the gap to what is proven [s].
    progress : callable, optional
        Called with how many demands are found, and of how many.

    Returns
    -------
    CapacityPlan
        Where no fleet does, its ``missing`` says from which period on and why; the periods before have a plan.

    Raises
    ------
    SpecError
        A broken file, unknown names, values outside their bounds.

    Examples
    --------
    >>> import perfmodel as pm
    >>> plan = pm.plan_capacity("three-jobs", {"devices.host.price": "30000 USD"})
    >>> plan.feasible, len(plan.periods), plan.proof.gap
    (True, 6, 0.0)
    """
    table, inputs = read_table(fleet)
    found = planned(fleet_of(table, changes), Demands(), time_limit, progress)
    return dataclasses.replace(found, inputs={**inputs, **found.inputs})


def planned(
    fleet: Fleet, known: Demands, time_limit: float = 60.0, progress: Progress = lambda done, total: None
) -> CapacityPlan:
    """Return the plan of a fleet's spec, asking the model only for demands that ``known`` lacks."""
    started = time.perf_counter()
    ready = planner(fleet, known, progress)
    solution, problem, quantile, found = _confident(ready, time_limit)
    lacking = None
    if solution is None:
        lacking = missing(ready, problem, quantile, time_limit)
        if lacking.period:
            shorter = _shortened(ready, lacking.period)
            solution, problem, quantile, found = _confident(shorter, time_limit)
    periods = () if solution is None else tuple(
        period_result(ready, problem, solution, t, found[t]) for t in range(len(problem.durations))
    )  # fmt: skip
    proof = None if solution is None else FleetProof(solution.cost, solution.bound, solution.nodes, solution.seconds)
    return CapacityPlan(
        fleet.name,
        periods,
        () if solution is None else orders(ready, solution),
        fleet.confidence,
        quantile,
        proof,
        lacking,
        dict(sorted(known.inputs.items())),
        time.perf_counter() - started,
        _warnings(periods, fleet, solution),
    )


def _shortened(ready: Planner, periods: int) -> Planner:
    """Return the planner of the first periods; demands keep all of theirs."""
    horizon = ready.fleet.periods.model_copy(update={"count": float(periods)})
    return dataclasses.replace(ready, fleet=ready.fleet.model_copy(update={"periods": horizon}))


def _confident(ready: Planner, time_limit: float) -> tuple[Solution | None, Problem, float, list[Odds]]:
    """Return the cheapest fleet at the first quantile at which every target is met with the asked confidence.

    Quantiles are the same hundredths for every confidence, from it upwards: what a higher confidence accepts a lower one
    would have accepted too, so that a fleet never gets cheaper with it.
    """
    quantile = float(np.ceil(ready.fleet.confidence / _STEP - 1e-9) * _STEP)
    while True:
        problem = ready.problem(min(quantile, 1.0))
        solution = cheapest(problem, time_limit)
        if solution is None:
            return None, problem, quantile, []
        found = [_odds(ready, problem, solution, t) for t in range(len(problem.durations))]
        least = min(float(np.mean(met[1:])) for one in found for met in one.met)
        if least >= ready.fleet.confidence or quantile >= 1.0 - 1e-9:
            return solution, problem, quantile, found
        quantile = round(quantile + _STEP, 10)


def running(ready: Planner, problem: Problem, solution: Solution, period: int) -> list[Running]:
    """Return which instances of which jobs run how in a period."""
    found = []
    for job, rows in enumerate(solution.runs):
        for number, instances in rows[period].items():
            choice = problem.choices[job][period][number]
            demand = ready.demands[job][choice.item]
            assert demand is not None
            rate = float(ready.rates[job, period])
            found.append(Running(job, instances, rate, choice, demand, ready.sites[choice.item]))
    return found


def _odds(ready: Planner, problem: Problem, solution: Solution, period: int) -> Odds:
    first = len(ready.fleet.devices)
    service = {
        first + number: spec.servers * solution.units[period][first + number]
        for number, spec in enumerate(ready.fleet.shared)
    }
    return odds(running(ready, problem, solution, period), period, service)


def _warnings(periods: tuple[Any, ...], fleet: Fleet, solution: Solution | None) -> tuple[str, ...]:
    found = []
    if solution is not None and solution.bound < solution.cost:
        found.append("the time limit ended the proof: a cheaper fleet may exist, down to the bound")
    low = min((p for period in periods for p in period.p_meets_target.values()), default=1.0)
    if low < fleet.confidence:
        found.append(f"a target is met with {low:.0%} only, though sized at the largest of the draws")
    return tuple(found)
