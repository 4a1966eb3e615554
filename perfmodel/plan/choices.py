"""Choices: what a job takes of a type of device in a period, on units of its own or on a share of units with others.

All is sized at one quantile of the model's uncertainty. A job alone on its units runs as ``predict`` says. Where jobs
share a unit, each stage is busy for at most the unit's utilization, every copy of a job holds its own memory, and a
mini-batch stays at each stage as ``contention.residence`` has it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from perfmodel.plan.contention import divisible, residence
from perfmodel.plan.demand import Array, Demand
from perfmodel.plan.problem import Choice

_ROOM: Final = 1e-9  # of a unit, that rounding may cost
_MORE: Final = 4  # numbers of copies that are looked at from the least on
_UNITS: Final = 1e5  # that one job may take


@dataclasses.dataclass(frozen=True)
class Site:
    """A type of device as a job meets it.

    Attributes
    ----------
    item : int
    utilization : float
        How busy a stage of a shared unit may be.
    elsewhere : mapping of stage to item
        Stages that run on what units share.
    busy : mapping of item to float
        How busy that may be.
    power : float
        Of a unit above idling [W].
    """

    item: int
    utilization: float
    elsewhere: Mapping[str, int]
    busy: Mapping[int, float]
    power: float

    def waited(self, stages: Mapping[str, Array], own: float = 0.0) -> dict[str, Array]:
        """Return stages with the waiting at what is shared, and at the unit's own stages where these are busy, too."""
        return {
            name: residence(time, self.busy[self.elsewhere[name]] if name in self.elsewhere else own)
            for name, time in stages.items()
        }


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why a job can't run on a type of device: a need beside its limit, and where that is."""

    rule: str
    need: float
    limit: float
    unit: str
    message: str

    @property
    def excess(self) -> float:
        """Return by what factor the limit is passed."""
        return self.need / self.limit if self.limit > 0 else math.inf


def choices(
    demand: Demand, site: Site, period: int, rate: float, quantile: float, replicas: float
) -> tuple[list[Choice], Refusal | None]:
    """Return the ways to run a job on a type of device, or why there is none.

    Parameters
    ----------
    demand : Demand
    site : Site
    period : int
    rate : float
        Mini-batches that an instance must do [1/s].
    quantile : float
        Of the model's uncertainty.
    replicas : float
        Units that an instance can train on at once.
    """
    if demand.broken[period]:
        return [], Refusal("limit", math.inf, 1.0, "", demand.broken[period])
    need = {name: _at(row[period], quantile) for name, row in demand.memory.items()}
    for name, size in need.items():
        if size > demand.capacity[name]:
            return [], Refusal(f"memory.{name}", size, demand.capacity[name], "B", f"memory of {name}")
    stages = {name: row[period] for name, row in demand.stages.items()}
    alone = rate * _at(demand.alone(site.waited(stages), demand.batches[period]), quantile)
    units = _whole(alone)
    power = rate * float(demand.alone(stages, demand.batches[period])[0]) * site.power
    served: dict[int, float] = {}
    for name, item in site.elsewhere.items():
        if name in stages:
            served[item] = served.get(item, 0.0) + rate * _at(stages[name], quantile)
    if units > min(replicas, _UNITS):
        message = "units that it trains on at once"
        return [], Refusal("replicas", alone, min(replicas, _UNITS), "units", message)
    found = [Choice(site.item, False, units, 1.0, served, min(power, units * site.power))]
    share = max((size / demand.capacity[name] for name, size in need.items()), default=0.0)
    together = _together(demand, site, stages, rate, quantile, share, replicas)
    if together is not None and together[0] * together[1] < units:
        found.append(Choice(site.item, True, together[0], together[1], served, power))
    return found, None


def _together(
    demand: Demand,
    site: Site,
    stages: Mapping[str, Array],
    rate: float,
    quantile: float,
    memory: float,
    replicas: float,
) -> tuple[int, float] | None:
    """Return the copies on shared units that take least, and the share of a unit of each; None where it is a whole one."""
    cycle = sum(site.waited(stages, site.utilization).values(), np.zeros(1))
    own = [rate * _at(time, quantile) for name, time in stages.items() if name not in site.elsewhere]
    work = max(own, default=0.0)
    least = max(_whole(rate * _at(cycle, quantile) / demand.in_flight), _whole(work / site.utilization))
    ways = [
        (copies, divisible(max(memory, work / copies / site.utilization)))
        for copies in range(least, least + _MORE)
        if copies <= replicas
    ]
    best = min(ways, key=lambda way: way[0] * way[1], default=None)
    return None if best is None or best[1] >= 1.0 else best


def _at(draws: Any, quantile: float) -> float:
    """Return a quantile of draws; the first is the estimate and no draw."""
    values = np.asarray(draws, dtype=np.float64)
    return float(values[0]) if values.size < 2 else float(np.quantile(values[1:], quantile))


def _whole(amount: float) -> int:
    """Return the units that an amount takes, at least one."""
    return max(1, math.ceil(min(amount, 1e9) * (1.0 - _ROOM)))
