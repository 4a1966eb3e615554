"""The cheapest fleet: the integer program against brute force on random instances, and laws of its optimum."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.plan.fleet import cheapest
from perfmodel.plan.problem import Choice, Item, Problem


def partitions(count: int, ways: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to put like instances on choices."""
    if ways == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in partitions(count - first, ways - 1):
            yield (first, *rest)


def period_options(problem: Problem, period: int) -> list[tuple[tuple[int, ...], float, tuple[float, ...]]]:
    """Return, for each combination of a period: units of every item that jobs take, energy cost, work at shared items."""
    jobs = range(len(problem.choices))
    ways = [list(partitions(problem.counts[j][period], len(problem.choices[j][period]))) for j in jobs]
    found: dict[tuple[tuple[int, ...], tuple[float, ...]], float] = {}
    for picked in itertools.product(*ways):
        taken = [0.0] * len(problem.items)
        work = [0.0] * len(problem.items)
        energy = 0.0
        for j in jobs:
            for number, choice in zip(picked[j], problem.choices[j][period], strict=True):
                taken[choice.item] += number * choice.copies * choice.share
                energy += number * choice.power * problem.durations[period] * problem.joule_price
                for item, load in choice.served.items():
                    work[item] += number * load
        key = tuple(math.ceil(one - 1e-9) for one in taken), tuple(work)
        found[key] = min(energy, found.get(key, math.inf))
    kept: list[tuple[tuple[int, ...], float, tuple[float, ...]]] = []
    for (units, work), energy in sorted(found.items(), key=lambda each: each[1]):
        if not any(no_more(one, units) and no_more(load, work) for one, _, load in kept):  # else never better
            kept.append((units, energy, work))
    return kept


def no_more(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def cheapest_by_hand(problem: Problem) -> float | None:
    """Return the least cost, None where no combination keeps the limits."""
    periods = range(len(problem.durations))
    best = math.inf
    # what is in service, cheapest so far: buying as late as possible is never dearer, as prices stay
    states: dict[tuple[int, ...], float] = {tuple(item.owned for item in problem.items): 0.0}
    for t in periods:
        following: dict[tuple[int, ...], float] = {}
        options = period_options(problem, t)
        for have, spent in states.items():
            for need, energy, work in options:
                units = settled(problem, have, need, work, t)
                if units is None:
                    continue
                idle = sum(n * item.idle_power for n, item in zip(units, problem.items, strict=True))
                cost = spent + energy + idle * problem.durations[t] * problem.joule_price
                cost += sum((n - h) * item.price for n, h, item in zip(units, have, problem.items, strict=True))
                if cost < following.get(units, math.inf):
                    following[units] = cost
        states = following
    best = min(states.values(), default=math.inf)
    return best if math.isfinite(best) and best <= problem.budget * (1 + 1e-9) else None


def settled(
    problem: Problem, have: tuple[int, ...], need: tuple[int, ...], work: tuple[float, ...], period: int
) -> tuple[int, ...] | None:
    """Return the least units of everything: what jobs take, then what that stands in, until nothing changes."""
    units = [max(h, n) for h, n in zip(have, need, strict=True)]
    for _ in range(len(units) + 1):
        for item, spec in enumerate(problem.items):
            slots = sum(units[o] * other.needs.get(item, 0.0) for o, other in enumerate(problem.items))
            housed = math.ceil(slots / spec.slots - 1e-9) if slots else 0
            served = math.ceil(work[item] / spec.service - 1e-9) if work[item] else 0
            units[item] = max(units[item], housed, served)
    for n, h, spec in zip(units, have, problem.items, strict=True):
        if n > max(spec.maximum, spec.owned) or (period < spec.earliest and n > h):
            return None
    return tuple(units)


def random_problem(seed: int, jobs: int = 2, devices: int = 2, periods: int = 3) -> Problem:
    """Return a small problem with hosts and switches, leads, maxima, owned units and sometimes a budget."""
    draw = np.random.default_rng(seed)
    hosts, switch = devices, devices + 1
    items = [
        Item(
            f"device-{number}",
            float(draw.integers(5, 60)),
            float(draw.integers(0, 4)),
            owned=int(draw.integers(0, 2)),
            maximum=float(draw.choice([3, 6, math.inf])),
            earliest=int(draw.choice([0, 0, 0, 1])),
            needs={hosts: float(draw.integers(1, 3)), **({switch: 1.0} if draw.random() < 0.5 else {})},
        )
        for number in range(devices)
    ]
    items.append(Item("host", 20.0, 1.0, owned=int(draw.integers(0, 2)), slots=4.0, service=1.5, needs={switch: 1.0}))
    items.append(Item("switch", 35.0, 0.5, slots=float(draw.integers(3, 7))))
    counts = tuple(tuple(sorted(int(n) for n in draw.integers(1, 3, periods))) for _ in range(jobs))
    rows = tuple(
        tuple(
            tuple(
                choice
                for item in range(devices)
                for choice in (
                    Choice(item, False, int(draw.integers(1, 4)), 1.0, {hosts: float(draw.uniform(0, 0.6))}, 2.0),
                    Choice(
                        item,
                        True,
                        int(draw.integers(1, 4)),
                        float(draw.choice([0.5, 0.25])),
                        {},
                        float(draw.uniform(0, 5)),
                    ),
                )[: int(draw.integers(1, 3))]
            )
            for _ in range(periods)
        )
        for _ in range(jobs)
    )
    budget = float(draw.choice([math.inf, 150.0, 300.0]))
    return Problem(tuple(items), (10.0,) * periods, counts, rows, 0.05, budget)


def test_brute_force_agrees_on_200_random_instances() -> None:
    feasible = 0
    for seed in range(200):
        problem = random_problem(seed)
        found, by_hand = cheapest(problem), cheapest_by_hand(problem)
        assert (found is None) == (by_hand is None), seed
        if found is not None and by_hand is not None:
            feasible += 1
            assert found.cost == pytest.approx(by_hand, rel=1e-9, abs=1e-9), seed
            assert found.bound == found.cost
    assert 60 < feasible < 200  # both kinds are among them


@pytest.mark.parametrize("seed", range(20))
def test_a_solution_keeps_every_rule(seed: int) -> None:
    problem = random_problem(seed, jobs=3, devices=3, periods=4)
    found = cheapest(problem)
    if found is None:
        return
    before = tuple(item.owned for item in problem.items)
    for t, units in enumerate(found.units):
        taken = [0.0] * len(units)
        for job, rows in enumerate(found.runs):
            assert sum(rows[t].values()) == problem.counts[job][t]
            for way, number in rows[t].items():
                choice = problem.choices[job][t][way]
                taken[choice.item] += number * choice.copies * choice.share
        for item, spec in enumerate(problem.items):
            assert taken[item] <= units[item]
            assert units[item] >= before[item]
            assert units[item] <= max(spec.maximum, spec.owned)
            stands = sum(units[o] * other.needs.get(item, 0) for o, other in enumerate(problem.items))
            assert stands == 0 or stands <= units[item] * spec.slots
        before = units


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.floats(0.1, 1.0), st.sampled_from([0, 1]))
def test_a_cheaper_device_never_raises_the_cost(seed: int, factor: float, device: int) -> None:
    problem = random_problem(seed)
    item = problem.items[device]
    cheaper = dataclasses.replace(item, price=item.price * factor)
    items = tuple(cheaper if position == device else each for position, each in enumerate(problem.items))
    first, second = cheapest(problem), cheapest(dataclasses.replace(problem, items=items))
    if first is not None:
        assert second is not None
        assert second.cost <= first.cost + 1e-6


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 1), st.integers(0, 2))
def test_one_more_job_never_lowers_the_cost(seed: int, job: int, period: int) -> None:
    problem = dataclasses.replace(random_problem(seed), budget=math.inf)
    counts = tuple(
        tuple(n + (t >= period) if number == job else n for t, n in enumerate(row))
        for number, row in enumerate(problem.counts)
    )
    fewer, more = cheapest(problem), cheapest(dataclasses.replace(problem, counts=counts))
    if more is not None:
        assert fewer is not None
        assert fewer.cost <= more.cost + 1e-6


def test_what_was_bought_stays() -> None:
    one = Item("one", price=10.0, idle_power=1.0)
    ways = ((Choice(0, False, 3),), (Choice(0, False, 1),))
    found = cheapest(Problem((one,), (1.0, 1.0), ((1, 1),), (ways,), joule_price=1.0))
    assert found is not None
    assert found.units == ((3,), (3,))
    assert found.cost == 3 * 10.0 + 3 * 1.0 + 3 * 1.0


def test_a_small_unit_now_and_a_large_one_later_can_cost_more_than_a_large_one_now() -> None:
    """Period by period the small one is cheaper at first; over the horizon it is not."""
    small, large = Item("small", price=6.0, maximum=1), Item("large", price=10.0)
    first = (Choice(0, False, 1), Choice(1, False, 1))
    later = (Choice(0, False, 4), Choice(1, False, 1))
    found = cheapest(Problem((small, large), (1.0, 1.0), ((1, 1),), ((first, later),)))
    assert found is not None
    assert found.units == ((0, 1), (0, 1))
    assert found.cost == 10.0
