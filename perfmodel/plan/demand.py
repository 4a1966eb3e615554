"""Demand: times, memory and limits of a job on a type of device in every period and draw, in one run of the model.

What grows changes only values, so that the compiled model runs once for all periods and all draws of the uncertain
constants, the draws that ``predict`` uses. The last period is bound in full as well; where the two differ, each period
is bound by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.estimate import draws_of
from perfmodel.model.bound import Outcome, bind
from perfmodel.model.families import family
from perfmodel.model.policies import POLICIES
from perfmodel.spec.scenario import Scenario
from perfmodel.uncertainty import Draws

Array = NDArray[np.float64]
_SAME: Final = 1e-9  # relative difference of a period's time that rounding explains
_FLIGHT: Final = {"sum": 1.0, "overlap": 2.0}  # mini-batches that a replica has in flight; else one for each stage


@dataclasses.dataclass(frozen=True, eq=False)
class Demand:
    """What one job asks of one type of device; arrays over periods and draws, the first draw being the estimate.

    Attributes
    ----------
    stages : mapping of stage to array of shape (periods, draws)
        Time that a mini-batch keeps it busy [s].
    batches : array of shape (periods,)
        Mini-batches of an epoch.
    memory : mapping of need to array of shape (periods, draws)
        Of what each device must hold [B].
    capacity : mapping of need to float
        What it can hold [B].
    broken : tuple by period of str
        The limit beside memory that is broken, with its numbers; empty where none is.
    overlap : str
    fetch : tuple of str
        Stages up to the mini-batch's arrival, for the policy ``overlap``.
    """

    stages: Mapping[str, Array]
    batches: Array
    memory: Mapping[str, Array]
    capacity: Mapping[str, float]
    broken: tuple[str, ...]
    overlap: str
    fetch: tuple[str, ...]

    @property
    def in_flight(self) -> float:
        """Return the mini-batches that one replica has in flight."""
        return _FLIGHT.get(self.overlap, float(len(self.stages)))

    def alone(self, stages: Mapping[str, Any], batches: Any) -> Any:
        """Return the time between mini-batches of a replica whose stages wait for no one, by the plan's policy [s]."""
        return POLICIES[self.overlap](stages, batches, np.maximum, self.fetch)


@dataclasses.dataclass(frozen=True)
class Rows:
    """The values that follow from a workload in each period, before and after those that formulas take as they are.

    Attributes
    ----------
    first, last : mapping of dotted key to float
        What the family makes of the first values and of the last period.
    values : tuple by period of mappings
    batches : array of shape (periods,)
        Mini-batches of an epoch.
    """

    first: Mapping[str, float]
    last: Mapping[str, float]
    values: tuple[Mapping[str, float], ...]
    batches: Array

    def hold_for(self, scenario: Scenario, last: Scenario) -> bool:
        """Return whether another scenario of the same workload has the same values, at first and in the last period."""
        return family(scenario).values() == self.first and family(last).values() == self.last


def rows_of(scenario: Scenario, changes: Sequence[Mapping[str, Any]]) -> Rows:
    """Return a workload's values in each period, from one scenario that has it."""
    later = [family(scenario.replace(each) if each else scenario) for each in changes]
    values = tuple(each.values() for each in later)
    return Rows(family(scenario).values(), values[-1], values, np.array([each.batches_per_epoch for each in later]))


def demand(scenario: Scenario, changes: Sequence[Mapping[str, Any]], rows: Rows | None = None) -> Demand:
    """Return the demand of a scenario that changes from period to period.

    Parameters
    ----------
    scenario : Scenario
        Of the first values.
    changes : sequence by period of mappings of dotted key to value
    rows : Rows, optional
        Of the same workload and changes, found for another system; used where they hold for this one.

    Raises
    ------
    SpecError
        Where a period's values can't be run.
    """
    last = scenario.replace(changes[-1]) if changes[-1] else scenario
    if rows is None or not rows.hold_for(scenario, last):
        rows = rows_of(scenario, changes)
    draws = draws_of(scenario)
    values = _changed(scenario, rows, changes, draws)
    if values is not None:
        outcome, check = _run(scenario, {**draws.values, **values}), bind(last).run({})
        estimate = np.broadcast_to(outcome.time, (len(changes), _size(draws)))[-1, 0]
        same = abs(estimate / float(np.ravel(check.time)[0]) - 1.0) < _SAME
        if same and _broken(check, 1) == _broken(outcome, len(changes))[-1:]:
            return _demand(scenario, rows.batches, outcome, draws)
    return _one_by_one([scenario.replace(each) if each else scenario for each in changes])


def _size(draws: Draws) -> int:
    return max((len(each) for each in (*draws.values.values(), *draws.noise.values())), default=1)


def _changed(
    scenario: Scenario, rows: Rows, changes: Sequence[Mapping[str, Any]], draws: Draws
) -> dict[str, Array] | None:
    """Return the values that change, each of shape (periods, 1) or (periods, draws); None where more than values do."""
    bound = bind(scenario)
    direct = [{key: float(value) for key, value in each.items() if key in bound.numbers} for each in changes]
    if any(row.keys() != rows.first.keys() for row in rows.values):
        return None
    found: dict[str, Array] = {}
    for key in {*rows.first, *(key for each in direct for key in each)}:
        series = [one.get(key, row.get(key, bound.values[key])) for one, row in zip(direct, rows.values, strict=True)]
        column = np.array(series, dtype=np.float64)
        if np.any(column != bound.values[key]):
            drawn = draws.values.get(key)
            found[key] = column[:, None] * (1.0 if drawn is None or drawn[0] == 0 else drawn / drawn[0])
    return found


def _run(scenario: Scenario, values: Mapping[str, Any]) -> Outcome:
    with np.errstate(all="ignore"):
        outcome = bind(scenario).run(values)
    if not np.all(np.isfinite(outcome.time)):
        where = f"{scenario.workload.name} on {scenario.system.name}"
        raise SpecError(where, "must take a finite time in every period", "values too large for it")
    return outcome


def _demand(scenario: Scenario, batches: Array, outcome: Outcome, draws: Draws) -> Demand:
    shape = (len(batches), _size(draws))
    stages: dict[str, Array] = {}
    for name, time in outcome.phases.items():
        noisy = np.broadcast_to(time * draws.noise[name], shape)
        stage = outcome.stages[name]
        stages[stage] = stages[stage] + noisy if stage in stages else noisy
    bound = bind(scenario)
    return Demand(
        stages,
        batches,
        {name: np.broadcast_to(need, shape) for name, need in outcome.memory.items()},
        {step.step.name: float(bound.values[f"system.{step.step.where}.memory"]) for step in bound.memory_steps},
        tuple(_broken(outcome, len(batches))),
        scenario.plan.overlap,
        tuple(bound.family.fetch),
    )


def _broken(outcome: Outcome, periods: int) -> list[str]:
    """Return the first broken limit of each period at the estimate."""
    found = [""] * periods
    for limit in outcome.limits:
        if limit.rule.startswith("memory."):
            continue
        need, most = (np.broadcast_to(_estimate(side), (periods,)) for side in (limit.need, limit.limit))
        for t in range(periods):
            if need[t] > most[t] and not found[t]:
                found[t] = f"{limit.message}: {need[t]:.4g} of {most[t]:.4g} {limit.unit}".strip()
    return found


def _estimate(value: Any) -> Any:
    """Return the first draw of each period."""
    value = np.asarray(value)
    return value[..., 0] if value.ndim else value


def _one_by_one(later: Sequence[Scenario]) -> Demand:
    """Bind each period by itself."""
    found = []
    for each in later:
        draws = draws_of(each)
        batches = np.array([bind(each).batches_per_epoch])
        found.append(_demand(each, batches, _run(each, draws.values), draws))
    first = found[0]
    return Demand(
        {name: np.concatenate([one.stages[name] for one in found]) for name in first.stages},
        np.concatenate([one.batches for one in found]),
        {name: np.concatenate([one.memory[name] for one in found]) for name in first.memory},
        first.capacity,
        tuple(one.broken[0] for one in found),
        first.overlap,
        first.fetch,
    )
