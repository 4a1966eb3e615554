"""The sweep against plans evaluated one by one: the same optimum, the same counts, in chunks of any size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel as pm
from perfmodel.model.bound import bind
from perfmodel.search import sweep as sweep_module
from perfmodel.search.evaluator import Evaluator
from perfmodel.search.goals import constraints_of, objectives_of
from perfmodel.search.grid import Block, Grid
from perfmodel.search.pareto import Front, hypervolume, nondominated
from perfmodel.search.space import Space
from perfmodel.search.sweep import chunks, nearest_to_feasible, sweep

NAMES = {"time", "energy", "epoch_time", "bytes.total", "memory.gpu", "memory.memory_node", "phases.transfer", "power"}
SMALL: dict[str, Any] = {
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.precision.features": ["fp32", "fp16"],
    "plan.overlap": ["sum", "pipelined", "overlap"],
    "plan.devices": [1, 2, 5],
    "plan.workers": [0, 1, 4, 40],
    "plan.transfer.window": [1, 3, 8],
    "plan.transfer.chunk": {"low": "4 KiB", "high": "8 MiB", "factor": 4},
}


def evaluator(
    scenario: pm.Scenario, parameters: dict[str, Any], objective: str = "time", constraints: tuple[str, ...] = ()
) -> Evaluator:
    grid = Grid.of(scenario, Space.of({"parameters": parameters}))
    bound = bind(scenario)
    return Evaluator(grid, objectives_of(objective, NAMES, bound), constraints_of(constraints, NAMES, bound))


def listed(grid: Grid) -> dict[str, list[Any]]:
    """Return all plans of a grid as columns; where a parameter does not exist it has the scenario's value."""
    columns: dict[str, list[Any]] = {axis.key: [] for axis in grid.axes}
    for index in range(grid.size):
        values = grid.assignment(grid.point(index))
        for axis in grid.axes:
            columns[axis.key].append(values.get(axis.key, axis.now))
    return columns


@pytest.mark.parametrize("workload", ["ogbn-products", "ogbn-mag"])
@pytest.mark.parametrize("system", ["lgnnic-doca-dma", "lgnnic-sockets"])
@pytest.mark.parametrize("chunk", [1, 7, 100, 2**17])
def test_a_sweep_is_evaluate_for_every_plan(
    workload: str, system: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = pm.load_scenario(workload, system)
    parameters = SMALL if chunk > 1 else {**SMALL, "plan.overlap": ["pipelined"], "plan.workers": [0, 40]}
    found = evaluator(scenario, parameters)
    table = pm.evaluate(scenario, listed(found.grid))
    monkeypatch.setattr(sweep_module, "CHUNK", chunk)
    outcome = sweep(found)
    time, feasible = table["time_s"], table["feasible"]
    assert outcome.complete
    assert outcome.evaluated == found.evaluated == found.grid.size == len(table)
    assert outcome.feasible == np.count_nonzero(feasible)
    assert outcome.best is not None
    best = np.where(feasible, time, np.inf)
    assert outcome.best.value == pytest.approx(best.min(), rel=1e-14)
    assert best[outcome.best.index] == pytest.approx(best.min(), rel=1e-14)
    broken = [rule for rule, plans in outcome.infeasible.items() for _ in range(plans)]
    assert len(broken) >= np.count_nonzero(~feasible)


@pytest.mark.parametrize("system", ["lgnnic-doca-dma", "lgnnic-sockets"])
def test_every_plan_of_a_sweep_has_the_value_that_evaluate_gives(system: str) -> None:
    """Not only the best: all values of all chunks, to the last bits."""
    scenario = pm.load_scenario("reddit", system)
    found = evaluator(scenario, SMALL, "time,energy,phases.transfer")
    table = pm.evaluate(scenario, listed(found.grid))
    names = ("time_s", "energy_j", "phases.transfer") if "energy_j" in table.columns else ("time_s", "phases.transfer")
    if len(names) == 2:
        found = evaluator(scenario, SMALL, "time,phases.transfer")
    for block in found.grid.blocks():
        model = found.model(block.outer)
        for start, parts, shape in chunks(block, 500):
            values = found.evaluate(model, sweep_module.meshed(block, parts)).values  # type: ignore[arg-type]
            rows = slice(block.offset + start, block.offset + start + int(np.prod(shape)))
            for name, value in zip(names, values, strict=True):
                np.testing.assert_allclose(np.broadcast_to(value, shape).ravel(), table[name][rows], rtol=1e-14)


def test_single_plans_are_what_evaluate_gives() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL)
    table = pm.evaluate(scenario, listed(found.grid))
    some = np.random.default_rng(0).choice(found.grid.size, 300, replace=False)
    batch = found.points([found.grid.point(int(index)) for index in some])
    np.testing.assert_allclose(batch.values[:, 0], table["time_s"][some], rtol=1e-14)
    np.testing.assert_array_equal(batch.feasible, table["feasible"][some])
    assert {rule for broken in batch.broken for rule in broken} == {"transfer.chunk", "memory.memory_node"}


def test_reasons_are_counted_plan_by_plan() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL, constraints=("time <= 500 ms",))
    batch = found.points([found.grid.point(index) for index in range(found.grid.size)])
    counts: dict[str, int] = {}
    for broken in batch.broken:
        for rule in broken:
            counts[rule] = counts.get(rule, 0) + 1
    assert sweep(found).infeasible == counts
    assert set(counts) == {"transfer.chunk", "memory.memory_node", "time <= 500 ms"}


def test_what_relaxing_a_rule_brings_is_the_best_plan_that_breaks_it_alone() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL, constraints=("memory.gpu <= 5.4 GB",))
    points = [found.grid.point(index) for index in range(found.grid.size)]
    batch = found.points(points)
    best = np.min(batch.values[batch.feasible, 0], initial=np.inf)
    expected = {}
    for rule in {rule for broken in batch.broken for rule in broken}:
        alone = [value for value, broken in zip(batch.values[:, 0], batch.broken, strict=True) if set(broken) == {rule}]
        if alone and min(alone) < best:
            expected[rule] = pytest.approx(min(alone), rel=1e-14)
    assert {rule: one.value for rule, one in sweep(found).relaxed.items()} == expected
    assert expected


def test_the_closest_plan_where_none_is_feasible() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL, constraints=("time <= 10 ms", "memory.gpu <= 4 GB"))
    outcome = sweep(found)
    near = nearest_to_feasible(found)
    assert outcome.best is None
    assert outcome.feasible == 0
    assert near is not None
    batch = found.points([found.grid.point(index) for index in range(found.grid.size)])
    furthest = [max(broken.values()) for broken in batch.broken]
    assert near.excess == pytest.approx(min(furthest))
    assert batch.broken[near.index][near.rule] == pytest.approx(near.excess)


def test_a_model_that_fails_is_a_reason_and_not_the_end() -> None:
    """Two hops with a model of one layer: each value is fine by itself, together they are refused."""
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma", changes={"workload.sampling.fanout": "25"})
    parameters = {"workload.sampling.fanout": ["25", "25,10"], "workload.model.layers": [1, 3], "plan.workers": [0, 1]}
    outcome = sweep(evaluator(scenario, parameters))
    assert outcome.best is not None
    assert outcome.feasible == 6
    assert list(outcome.infeasible.values()) == [2]
    assert "must not have more hops" in next(iter(outcome.infeasible))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 9), max_size=5), st.integers(1, 60))
def test_chunks_cover_a_block_once_and_in_order(shape: list[int], most: int) -> None:
    class Fixed(Block):
        @property
        def shape(self) -> tuple[int, ...]:
            return tuple(shape)

    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    seen: list[int] = []
    for start, parts, part_shape in chunks(Fixed(0, (), ()), most):
        part = numbers[tuple(parts)]
        assert part.shape == part_shape
        assert part.size <= max(most, 1)
        assert start == part.flat[0] == len(seen)
        seen += part.ravel().tolist()
    assert seen == list(range(numbers.size))


points = st.integers(0, 6).map(float)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 4).flatmap(lambda wide: st.lists(st.tuples(*[points] * wide), min_size=1, max_size=40)))
def test_a_front_is_what_nothing_dominates(rows: list[tuple[float, ...]]) -> None:
    values = np.array(rows)
    kept = nondominated(values)
    front = {tuple(row) for row in values[kept]}
    expected = {
        row
        for row in rows
        if not any(all(a <= b for a, b in zip(other, row, strict=True)) and other != row for other in rows)
    }
    assert front == expected
    assert len(kept) == len(front)
    assert all(rows.index(tuple(values[place])) == place for place in kept)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4).flatmap(lambda wide: st.lists(st.tuples(*[points] * wide), min_size=1, max_size=12)))
def test_the_hypervolume_counts_unit_cells(rows: list[tuple[float, ...]]) -> None:
    values = np.array(rows)
    reference = np.full(values.shape[1], 7.0)
    cells = itertools.product(range(7), repeat=values.shape[1])
    expected = sum(any(all(cell >= own for cell, own in zip(one, row, strict=True)) for row in rows) for one in cells)
    assert hypervolume(values, reference) == pytest.approx(expected)


def test_the_front_of_a_sweep() -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL, "time,memory.memory_node,phases.transfer")
    points = [found.grid.point(index) for index in range(found.grid.size)]
    batch = found.points(points)
    outcome = sweep(found)
    places = np.flatnonzero(batch.feasible)
    whole = Front(3)
    whole.merge(batch.values[places], places)
    np.testing.assert_allclose(outcome.front.values, whole.values, rtol=1e-13)
    assert len(outcome.front.values) > 3


def test_a_sweep_stops_when_told_to() -> None:
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    found = evaluator(scenario, SMALL)
    outcome = sweep(found, stop=lambda: found.evaluated > 200)
    assert not outcome.complete
    assert 200 < outcome.evaluated < found.grid.size
    assert outcome.best is not None
