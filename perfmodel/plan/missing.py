"""Where no fleet meets the targets: from which period on, and what would be missing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from perfmodel.plan.fleet import cheapest
from perfmodel.plan.planner import Planner
from perfmodel.plan.problem import Problem
from perfmodel.plan.result import Missing
from perfmodel.units import render

_HALVINGS = 7  # of the share of the targets that can be met


def missing(ready: Planner, problem: Problem, quantile: float, time_limit: float) -> Missing:
    """Return the first period that no fleet can serve, and the nearest miss."""
    period = _first_failing(problem, time_limit)
    short = problem.first(period + 1)
    rule, need, limit, unit, message = _reason(ready, short, period, quantile, time_limit)
    share = _share(ready, short, period, quantile, time_limit)
    return Missing(period, rule, need, limit, unit, message, share, _dropped(ready, short, time_limit))


def _first_failing(problem: Problem, time_limit: float) -> int:
    """Return the first period with which no fleet serves; what serves more periods serves fewer."""
    good, bad = 0, len(problem.durations)
    while bad - good > 1:
        middle = (good + bad) // 2
        if cheapest(problem.first(middle), time_limit) is None:
            bad = middle
        else:
            good = middle
    return bad - 1


def _reason(
    ready: Planner, short: Problem, period: int, quantile: float, time_limit: float
) -> tuple[str, float, float, str, str]:
    """Return the rule that is in the way, its need beside its limit, and a sentence."""
    for job, rows in enumerate(short.choices):
        if not rows[period]:
            return _no_way(ready, job, period, quantile)
    budget = dataclasses.replace(short, budget=math.inf)
    found = cheapest(budget, time_limit)
    if found is not None:
        message = f"devices and energy cost {render(found.cost, 'USD')} at least"
        return "budget", found.cost, short.budget, "USD", message
    timely = dataclasses.replace(budget, items=tuple(dataclasses.replace(item, earliest=0) for item in short.items))
    if cheapest(timely, time_limit) is not None:
        late = max(range(len(short.items)), key=lambda item: short.items[item].earliest)
        types = (*ready.fleet.devices, *ready.fleet.shared)
        lead, notice = types[late].lead_time, ready.fleet.periods.notice or 0.0
        start = period * ready.fleet.periods.length
        message = (
            f"what is ordered at the earliest is not there yet; {types[late].name} takes {render(lead / 86400, 'd')}"
        )
        return "lead_time", lead, notice + start, "s", message
    more = tuple(dataclasses.replace(item, maximum=math.inf) if item.maximum > 0 else item for item in timely.items)
    found = cheapest(dataclasses.replace(timely, items=more), time_limit)  # what there can be none of is no way out
    if found is not None:
        return _too_many(short, found.units[-1])
    return "targets", math.inf, 1.0, "", "no number of units is enough"


def _no_way(ready: Planner, job: int, period: int, quantile: float) -> tuple[str, float, float, str, str]:
    _, refused = ready.ways(job, period, quantile)
    device, near = min(refused, key=lambda pair: pair[1].excess)
    name, where = ready.fleet.jobs[job].name, ready.fleet.devices[device].name
    if math.isinf(near.need):
        return near.rule, near.need, near.limit, near.unit, f"{name} can't run on {where}: {near.message}"
    numbers = f"{render(near.need, near.unit)} of {render(near.limit, near.unit)}"
    message = f"{name} fits no type of device; {where} comes nearest: {near.message}, {numbers}"
    return near.rule, near.need, near.limit, near.unit, message


def _too_many(short: Problem, units: Sequence[int]) -> tuple[str, float, float, str, str]:
    """Return the type of which the cheapest unlimited fleet has most above its maximum."""
    over = max(range(len(units)), key=lambda item: units[item] - short.items[item].maximum)
    item = short.items[over]
    more = ", ".join(
        f"{count - each.maximum:g} more of {each.name}"
        for count, each in zip(units, short.items, strict=True)
        if count > each.maximum
    )
    return "maximum", float(units[over]), item.maximum, "units", f"the cheapest fleet without maxima has {more}"


def _share(ready: Planner, short: Problem, period: int, quantile: float, time_limit: float) -> float:
    """Return the largest share of the failing period's targets that a fleet meets, the periods before being served."""
    good, bad = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2
        ways = tuple(
            (*rows[:period], ready.ways(job, period, quantile, middle)[0]) for job, rows in enumerate(short.choices)
        )
        if cheapest(dataclasses.replace(short, choices=ways), time_limit) is None:
            bad = middle
        else:
            good = middle
    return good


def _dropped(ready: Planner, short: Problem, time_limit: float) -> tuple[str, ...]:
    """Return the jobs that go unserved in the last period when they are served in the order of their priority."""
    jobs = ready.fleet.jobs
    dropped: list[int] = []
    served: list[int] = []
    for job in sorted(range(len(jobs)), key=lambda number: -jobs[number].priority):
        counts = tuple(
            (*row[:-1], row[-1] if number in (*served, job) else 0) for number, row in enumerate(short.counts)
        )
        if short.choices[job][-1] and cheapest(dataclasses.replace(short, counts=counts), time_limit) is not None:
            served.append(job)
        else:
            dropped.append(job)
    return tuple(jobs[job].name for job in sorted(dropped))
