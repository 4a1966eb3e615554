"""Odds: on which units jobs stand together, how busy everything is, and how often each target is met in the draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.plan.choices import Site
from perfmodel.plan.contention import residence
from perfmodel.plan.demand import Array, Demand
from perfmodel.plan.problem import Choice


@dataclasses.dataclass(frozen=True)
class Running:
    """Instances of a job under one choice, in one period.

    Attributes
    ----------
    job : int
    instances : int
    rate : float
        Mini-batches that each must do [1/s].
    """

    job: int
    instances: int
    rate: float
    choice: Choice
    demand: Demand
    site: Site


def placed(running: Sequence[Running]) -> dict[int, list[list[int]]]:
    """Put the copies of all jobs on shared units, largest first; returns for each item its units with who is on them.

    Sizes divide each other, so that the first unit with room leaves none unused.
    """
    units: dict[int, list[list[int]]] = {}
    room: dict[int, list[float]] = {}
    copies = [
        (one.choice.share, number)
        for number, one in enumerate(running)
        if one.choice.shared
        for _ in range(one.choice.copies * one.instances)
    ]
    for share, number in sorted(copies, key=lambda copy: (-copy[0], copy[1])):
        item = running[number].choice.item
        left, held = room.setdefault(item, []), units.setdefault(item, [])
        position = next((unit for unit, free in enumerate(left) if free >= share), None)
        if position is None:
            position = len(left)
            left.append(1.0)
            held.append([])
        left[position] -= share
        held[position].append(number)
    return units


@dataclasses.dataclass(frozen=True)
class Odds:
    """What the draws say of one period.

    Attributes
    ----------
    met : tuple by running of array of shape (draws,)
        Whether the target is met; the first is the estimate.
    epoch_time : tuple by running of float
        At the estimate [s].
    busy : mapping of (item, stage) to float
        How busy the busiest unit's stage is at the estimate.
    served : mapping of item to float
        How busy what units share is at the estimate.
    """

    met: tuple[NDArray[np.bool_], ...]
    epoch_time: tuple[float, ...]
    busy: Mapping[tuple[int, str], float]
    served: Mapping[int, float]


def odds(running: Sequence[Running], period: int, service: Mapping[int, float]) -> Odds:
    """Return how often targets are met.

    Parameters
    ----------
    running : sequence of Running
    period : int
    service : mapping of item to float
        Mini-batches' work that shared items can have in hand, with no time left.
    """
    served = _served(running, period, service)
    busy: dict[tuple[int, str], Array] = {}
    cycles: dict[int, Array] = {}
    for item, units in placed(running).items():
        for held in units:
            loads = _loads([running[number] for number in held], period)
            for stage, load in loads.items():
                busy[item, stage] = np.maximum(busy.get((item, stage), 0.0), load)
            for number in set(held):
                cycle = _cycle(running[number], period, loads, served)
                cycles[number] = np.maximum(cycles.get(number, 0.0), cycle)
    found = [_outcome(one, period, served, cycles.get(number), busy) for number, one in enumerate(running)]
    return Odds(
        tuple(met for met, _ in found),
        tuple(time for _, time in found),
        {key: float(np.ravel(load)[0]) for key, load in busy.items()},
        {item: float(np.ravel(load)[0]) for item, load in served.items()},
    )


def _served(running: Sequence[Running], period: int, service: Mapping[int, float]) -> dict[int, Array]:
    """Return how busy shared items are in each draw."""
    found: dict[int, Any] = {}
    for one in running:
        for stage, item in one.site.elsewhere.items():
            if stage in one.demand.stages:
                load = one.instances * one.rate * one.demand.stages[stage][period] / service[item]
                found[item] = found.get(item, 0.0) + load
    return found


def _loads(held: Sequence[Running], period: int) -> dict[str, Array]:
    """Return how busy a unit's stages are with the copies that it holds."""
    found: dict[str, Any] = {}
    for one in held:
        for stage, times in one.demand.stages.items():
            if stage not in one.site.elsewhere:
                found[stage] = found.get(stage, 0.0) + one.rate / one.choice.copies * times[period]
    return found


def _cycle(one: Running, period: int, loads: Mapping[str, Array], served: Mapping[int, Array]) -> Array:
    """Return how long a mini-batch takes on a unit whose stages are that busy."""
    found: Any = 0.0
    for stage, times in one.demand.stages.items():
        item = one.site.elsewhere.get(stage)
        found = found + residence(times[period], loads[stage] if item is None else served[item])
    return np.asarray(found)


def _outcome(
    one: Running,
    period: int,
    served: Mapping[int, Array],
    cycle: Array | None,
    busy: dict[tuple[int, str], Array],
) -> tuple[NDArray[np.bool_], float]:
    """Return whether a job meets its target in each draw, and its epoch time at the estimate."""
    demand, choice = one.demand, one.choice
    stages = {name: times[period] for name, times in demand.stages.items()}
    if cycle is None:
        waited = {
            name: residence(time, served[one.site.elsewhere[name]]) if name in one.site.elsewhere else time
            for name, time in stages.items()
        }
        cycle = np.asarray(demand.alone(waited, demand.batches[period]))
        for name, time in stages.items():
            if name not in one.site.elsewhere:
                load = one.rate / choice.copies * time
                busy[choice.item, name] = np.maximum(busy.get((choice.item, name), 0.0), load)
        between = cycle / choice.copies
    else:
        between = cycle / (choice.copies * demand.in_flight)
    with np.errstate(invalid="ignore"):
        met = np.isfinite(between) & (one.rate * between <= 1.0 + 1e-9)
    for name, need in demand.memory.items():
        met = met & (need[period] <= demand.capacity[name] * choice.share * (1.0 + 1e-9))
    return met, float(np.ravel(between)[0] * demand.batches[period])
