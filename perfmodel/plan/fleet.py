"""The cheapest fleet over all periods as a mixed-integer program, solved by HiGHS with proof that none is cheaper.

Whole numbers: units of every item in service, and instances of every job under every choice. What was bought stays.
Costs are what is bought, what units in service draw, and what jobs add to that. Jobs take whole units or shares that are
powers of 1/2; such shares fill whole units without a gap, largest first, so that their sum says how many are needed.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.plan.problem import Problem, Solution

_INFEASIBLE: Final = 2  # status of scipy.optimize.milp
_TIME_LIMIT: Final = 1
_UNLIMITED: Final = 1e6  # units that nobody buys more of


@dataclasses.dataclass
class _Program:
    """Variables and rows as they come; a row is coefficients by variable, and an upper bound (or both)."""

    cost: list[float] = dataclasses.field(default_factory=list)
    low: list[float] = dataclasses.field(default_factory=list)
    high: list[float] = dataclasses.field(default_factory=list)
    entries: list[tuple[int, int, float]] = dataclasses.field(default_factory=list)
    row_low: list[float] = dataclasses.field(default_factory=list)
    row_high: list[float] = dataclasses.field(default_factory=list)

    def variable(self, cost: float, low: float, high: float) -> int:
        """Add a whole number and return its position."""
        self.cost.append(cost)
        self.low.append(low)
        self.high.append(high)
        return len(self.cost) - 1

    def row(self, terms: Iterable[tuple[int, float]], high: float, low: float = -math.inf) -> None:
        """Ask that the terms add up to something between ``low`` and ``high``."""
        self.entries += [(len(self.row_high), position, value) for position, value in terms]
        self.row_low.append(low)
        self.row_high.append(high)


class _Fleet:
    """The program of a problem, and how its variables read."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.program = problem, _Program()
        self.periods = range(len(problem.durations))
        self.units = [[self._units(item, t) for item in range(len(problem.items))] for t in self.periods]
        self.runs = [[self._runs(job, t) for t in self.periods] for job in range(len(problem.choices))]
        for t in self.periods:
            self._kept(t)
            self._jobs(t)
            self._housed(t)
        self.fixed = sum(item.owned * item.price for item in problem.items)
        if math.isfinite(problem.budget):
            terms = [(position, cost) for position, cost in enumerate(self.program.cost) if cost]
            self.program.row(terms, problem.budget + self.fixed)

    def _units(self, item: int, period: int) -> int:
        """Return the units of an item in service; those of the last period are what is paid for."""
        spec, problem = self.problem.items[item], self.problem
        most = max(spec.owned, spec.maximum) if period >= spec.earliest else spec.owned
        last = period == len(problem.durations) - 1
        energy = spec.idle_power * problem.durations[period] * problem.joule_price
        return self.program.variable(energy + spec.price * last, spec.owned, min(most, _UNLIMITED))

    def _runs(self, job: int, period: int) -> list[int]:
        """Return the instances of a job under each choice."""
        problem, joules = self.problem, self.problem.durations[period] * self.problem.joule_price
        most = problem.counts[job][period]
        return [self.program.variable(way.power * joules, 0.0, most) for way in problem.choices[job][period]]

    def _kept(self, period: int) -> None:
        """Ask that what was bought stays."""
        if period:
            for before, now in zip(self.units[period - 1], self.units[period], strict=True):
                self.program.row([(before, 1.0), (now, -1.0)], 0.0)

    def _jobs(self, period: int) -> None:
        """Ask that every instance runs, and that its units are there."""
        taken: dict[int, list[tuple[int, float]]] = {}
        for job, runs in enumerate(self.runs):
            count = self.problem.counts[job][period]
            self.program.row([(run, 1.0) for run in runs[period]], count, count)
            for run, choice in zip(runs[period], self.problem.choices[job][period], strict=True):
                taken.setdefault(choice.item, []).append((run, choice.taken))
        for item, terms in taken.items():
            self.program.row([*terms, (self.units[period][item], -1.0)], 0.0)

    def _housed(self, period: int) -> None:
        """Ask for the slots that units take, and for the service that jobs take of shared items."""
        problem, units = self.problem, self.units[period]
        served: dict[int, list[tuple[int, float]]] = {}
        for job, runs in enumerate(self.runs):
            for run, choice in zip(runs[period], problem.choices[job][period], strict=True):
                for item, work in choice.served.items():
                    served.setdefault(item, []).append((run, work / problem.items[item].service))
        for item, spec in enumerate(problem.items):
            housed = [(units[o], other.needs[item]) for o, other in enumerate(problem.items) if item in other.needs]
            if housed:
                self.program.row([*housed, (units[item], -spec.slots)], 0.0)
            if item in served:
                self.program.row([*served[item], (units[item], -1.0)], 0.0)


def cheapest(problem: Problem, time_limit: float = 60.0) -> Solution | None:
    """Return the cheapest fleet, None where there is none.

    Parameters
    ----------
    problem : Problem
    time_limit : float
        After which the best so far is returned, its ``bound`` below its ``cost`` [s].

    Raises
    ------
    SpecError
        Where the time was not enough to find any.

    Examples
    --------
    >>> from perfmodel.plan.problem import Choice, Item, Problem
    >>> small, large = Item("small", price=3.0), Item("large", price=5.0)
    >>> ways = (Choice(0, shared=False, copies=4), Choice(1, shared=False, copies=2))
    >>> found = cheapest(Problem((small, large), (1.0,), ((1,),), (((ways),),)))
    >>> found.cost, found.units
    (10.0, ((0, 2),))
    """
    if any(
        count and not ways
        for job in zip(problem.counts, problem.choices, strict=True)
        for count, ways in zip(*job, strict=True)
    ):
        return None
    fleet = _Fleet(problem)
    started = time.perf_counter()
    outcome = _solved(fleet.program, time_limit)
    if outcome.status == _INFEASIBLE:
        return None
    if outcome.x is None:
        rule = "must be long enough to find a fleet"
        raise SpecError("time limit", rule, f"{time_limit:g} s, {outcome.message}", "a longer --timeout")
    whole = np.rint(outcome.x).astype(int)
    cost = float(np.dot(fleet.program.cost, whole)) - fleet.fixed
    bound = min(cost, float(outcome.mip_dual_bound) - fleet.fixed)
    if outcome.status != _TIME_LIMIT:
        bound = cost  # proven: the gap that was asked for is 0
    return Solution(
        tuple(tuple(int(whole[position]) for position in row) for row in fleet.units),
        tuple(tuple(_chosen(row, whole) for row in job) for job in fleet.runs),
        cost,
        bound,
        int(outcome.mip_node_count),
        time.perf_counter() - started,
    )


def _chosen(runs: list[int], whole: Any) -> dict[int, int]:
    return {number: int(whole[position]) for number, position in enumerate(runs) if whole[position]}


def _solved(program: _Program, time_limit: float) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    rows, columns, values = zip(*program.entries, strict=True)
    matrix = csr_array((values, (rows, columns)), shape=(len(program.row_high), len(program.cost)))
    return milp(
        np.asarray(program.cost),
        integrality=np.ones(len(program.cost), dtype=np.int64),
        bounds=Bounds(np.asarray(program.low), np.asarray(program.high)),
        constraints=LinearConstraint(matrix, np.asarray(program.row_low), np.asarray(program.row_high)),
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
