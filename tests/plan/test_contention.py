"""Contention against exact mean value analysis, and sharing against what really stands on each unit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.plan.choices import Site, choices
from perfmodel.plan.contention import divisible, residence
from perfmodel.plan.demand import Demand
from perfmodel.plan.odds import Running, odds, placed
from perfmodel.plan.problem import Choice


def exact(demands: np.ndarray, population: tuple[int, ...], think: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return throughput by class and residence by class and station: the exact recursion over all populations."""
    classes, stations = demands.shape
    queue = {(0,) * classes: np.zeros(stations)}
    throughput, waits = np.zeros(classes), np.zeros((classes, stations))
    for state in itertools.product(*(range(n + 1) for n in population)):
        if not any(state):
            continue
        throughput, waits = np.zeros(classes), np.zeros((classes, stations))
        for c in range(classes):
            if state[c]:
                fewer = tuple(n - (number == c) for number, n in enumerate(state))
                waits[c] = demands[c] * (1.0 + queue[fewer])
                throughput[c] = state[c] / (think[c] + waits[c].sum())
        queue[state] = throughput @ waits
    return throughput, waits


def test_the_exact_recursion_knows_the_textbook() -> None:
    """A closed network of two equal stations and n customers: throughput n / (n + 1) of a station's rate."""
    for n in (1, 2, 5, 20):
        throughput, _ = exact(np.array([[1.0, 1.0]]), (n,), np.zeros(1))
        assert throughput[0] == pytest.approx(n / (n + 1.0), rel=1e-12)


@settings(max_examples=100)
@given(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=4), st.integers(1, 12), st.floats(0.0, 5.0))
def test_of_one_class_it_is_a_bound(demands: list[float], population: int, think: float) -> None:
    work = np.array([demands])
    throughput, waits = exact(work, (population,), np.array([think]))
    bound = residence(work[0], throughput[0] * work[0])
    assert np.all(waits[0] <= bound * (1 + 1e-9))


@settings(max_examples=60)
@given(st.integers(0, 100_000))
def test_of_several_classes_it_is_on_the_slow_side(seed: int) -> None:
    draw = np.random.default_rng(seed)
    work, population = draw.uniform(0.05, 1.0, (3, 3)), tuple(int(n) for n in draw.integers(1, 4, 3))
    throughput, waits = exact(work, population, draw.uniform(0.0, 5.0, 3))
    bound = residence(work, throughput @ work)
    assert np.all(waits.sum(axis=1) <= bound.sum(axis=1) * (1 + 1e-9))


def test_an_overloaded_station_never_finishes() -> None:
    assert residence(1.0, 1.0) == math.inf
    assert residence(1.0, 1.5) == math.inf
    assert residence(0.0, 1.5) == 0.0


@given(st.floats(1e-6, 1.0))
def test_divisible_shares(share: float) -> None:
    found = divisible(share)
    assert share * (1 - 1e-9) <= found < 2 * share * (1 + 1e-9)
    assert math.frexp(found)[0] == 0.5


def demand(stages: dict[str, float], memory: float = 1.0, overlap: str = "sum") -> Demand:
    """Return a demand of one period without uncertainty."""
    return Demand(
        {name: np.full((1, 4), time) for name, time in stages.items()},
        np.array([100.0]),
        {"unit": np.full((1, 4), memory)},
        {"unit": 16.0},
        ("",),
        overlap,
        (),
    )


SITE = Site(0, 0.7, {}, {}, 100.0)


def test_alone_it_takes_what_predict_says() -> None:
    found, _ = choices(demand({"sample": 0.6, "train": 0.4}), SITE, 0, rate=2.5, quantile=0.9, replicas=math.inf)
    assert (found[0].copies, found[0].share, found[0].shared) == (3, 1.0, False)
    assert found[0].power == 250.0


def test_pipelined_it_takes_what_its_slowest_stage_says() -> None:
    slow = demand({"sample": 0.6, "train": 0.4}, overlap="pipelined")
    found, _ = choices(slow, SITE, 0, rate=3.0, quantile=0.9, replicas=math.inf)
    assert found[0].copies == 2  # 0.6 s between mini-batches and a hundredth of the rest: 1.81 units


def test_memory_of_each_copy_counts() -> None:
    small, _ = choices(demand({"train": 0.01}, memory=1.0), SITE, 0, 1.0, 0.9, math.inf)
    large, _ = choices(demand({"train": 0.01}, memory=5.0), SITE, 0, 1.0, 0.9, math.inf)
    none, refused = choices(demand({"train": 0.01}, memory=17.0), SITE, 0, 1.0, 0.9, math.inf)
    assert [small[1].share, large[1].share] == [0.0625, 0.5]
    assert not none
    assert refused is not None
    assert (refused.rule, refused.need, refused.limit) == ("memory.unit", 17.0, 16.0)


def test_replicas_limit_units() -> None:
    found, refused = choices(demand({"train": 1.0}), SITE, 0, rate=2.5, quantile=0.9, replicas=2.0)
    assert not found
    assert refused is not None
    assert (refused.rule, refused.need) == ("replicas", 2.5)


def test_waiting_at_what_is_shared_takes_more_units() -> None:
    shared = Site(0, 0.7, {"train": 3}, {3: 0.75}, 0.0)
    found, _ = choices(demand({"sample": 0.5, "train": 0.5}), shared, 0, rate=1.0, quantile=0.9, replicas=math.inf)
    assert found[0].copies == 3  # 0.5 s and 0.5 s / (1 - 0.75)
    assert found[0].served == {3: 0.5}


@settings(max_examples=80)
@given(st.integers(0, 100_000))
def test_every_unit_that_jobs_share_keeps_its_memory_and_its_utilization(seed: int) -> None:
    """Sized one by one, packed together: as many units as their shares add up to, and each within its limits."""
    draw = np.random.default_rng(seed)
    running = []
    for job in range(int(draw.integers(1, 8))):
        one = demand(
            {"sample": float(draw.uniform(0.01, 1.0)), "train": float(draw.uniform(0.01, 1.0))},
            float(draw.uniform(0.1, 12)),
        )
        rate = float(10 ** draw.uniform(-2, 0.5))
        found, _ = choices(one, SITE, 0, rate, 0.9, math.inf)
        running += [
            Running(job, int(draw.integers(1, 4)), rate, choice, one, SITE) for choice in found if choice.shared
        ]
    if not running:
        return
    units = placed(running)[0]
    assert len(units) == math.ceil(sum(one.instances * one.choice.taken for one in running))
    for held in units:
        assert sum(running[number].demand.memory["unit"][0, 0] for number in held) <= 16.0
        for stage in ("sample", "train"):
            busy = sum(running[n].rate / running[n].choice.copies * running[n].demand.stages[stage][0, 0] for n in held)
            assert busy <= 0.7 * (1 + 1e-9)
    found = odds(running, 0, {})
    assert all(np.all(met) for met in found.met)  # planned at the worst utilization, met at the real one
    assert max(found.busy.values()) <= 0.7 * (1 + 1e-9)


def test_draws_that_are_slower_than_planned_miss_the_target() -> None:
    slow = demand({"train": 1.0})
    slow.stages["train"][0, 1:] = [0.5, 1.0, 1.5]
    one = Running(0, 1, 1.0, Choice(0, False, 1), slow, SITE)
    assert odds([one], 0, {}).met[0].tolist() == [True, True, True, False]
