"""The searches that are compared: each gets a grid and a budget, and leaves the best value after every evaluation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.search.evaluator import Evaluator
from perfmodel.search.families import search_family
from perfmodel.search.grid import Grid, Point
from perfmodel.search.storage import Place
from perfmodel.search.study import Settings, study

Array = NDArray[np.float64]
Trail = list[float]

_WORST: Final = 1e12  # what an infeasible plan counts to a method that knows no constraints, times what it breaks
_GENERATION: Final = 20  # plans of a generation of differential evolution


def own(evaluator: Evaluator, budget: int, seed: int) -> Trail:
    """Return the trail of perfmodel's search: Optuna's TPE, neighbors of good plans, the catalog's plans first."""
    grid = evaluator.grid
    family = search_family(grid.scenario)
    warm = [grid.nearest_point(plan) for plan in ({}, *family.known_plans())]
    return _studied(evaluator, Settings(trials=budget, seed=seed, patience=budget), warm)


def sampler_alone(evaluator: Evaluator, budget: int, seed: int) -> Trail:
    """Return the trail of Optuna's TPE by itself: no neighbors, no plans to begin with."""
    return _studied(evaluator, Settings(trials=budget, seed=seed, patience=budget, near=0.0), [])


def _studied(evaluator: Evaluator, settings: Settings, warm: Sequence[Point]) -> Trail:
    memory = study(evaluator, Place("memory"), None, settings, warm).memory
    return _trail([known.values[0] if known.feasible else np.inf for known in memory.plans.values()])


def random_search(evaluator: Evaluator, budget: int, seed: int) -> Trail:
    """Return the trail of plans drawn evenly, parameter by parameter, none of them twice where there are enough."""
    generator = np.random.default_rng(seed)
    points: dict[Point, None] = {}
    for _ in range(20 * budget):
        points[evaluator.grid.random(generator)] = None
        if len(points) == budget:
            break
    batch = evaluator.points(list(points))
    return _trail(np.where(batch.feasible, batch.values[:, 0], np.inf))


def differential_evolution(evaluator: Evaluator, budget: int, seed: int) -> Trail:
    """Return the trail of scipy's differential evolution on the unit cube, a dimension for each parameter."""
    from scipy import optimize

    grid, seen = evaluator.grid, []
    wide = len(grid.axes)

    def values(columns: Array) -> Array:
        points = [_point(grid, column) for column in np.atleast_2d(columns.T)]
        batch = evaluator.points(points)
        over = [_WORST * max(min(max(broken.values()), 1e6), 1.0) if broken else 0.0 for broken in batch.broken]
        seen.extend(np.where(batch.feasible, batch.values[:, 0], np.inf).tolist())
        found: Array = np.where(batch.feasible, np.nan_to_num(batch.values[:, 0]), over)
        return found

    evolve: Any = optimize.differential_evolution  # its types know functions of one point only
    evolve(
        values, [(0.0, 1.0)] * wide, init=_first(wide, seed), maxiter=budget // _GENERATION - 1, tol=0.0,
        rng=np.random.default_rng(seed), polish=False, vectorized=True, updating="deferred",
    )  # fmt: skip
    return _trail(seen[:budget])


def _first(wide: int, seed: int) -> Array:
    """Return a first generation that is spread evenly over every dimension."""
    generator = np.random.default_rng([seed, 1])
    columns = [(generator.permutation(_GENERATION) + generator.uniform(size=_GENERATION)) / _GENERATION]
    columns += [
        (generator.permutation(_GENERATION) + generator.uniform(size=_GENERATION)) / _GENERATION
        for _ in range(wide - 1)
    ]
    return np.stack(columns, axis=1)


def _point(grid: Grid, column: Array) -> Point:
    point: list[int | float | None] = []
    for place, axis in enumerate(grid.axes):
        count = len(axis.values)
        point.append(min(int(column[place] * count), count - 1) if grid.exists(place, point) else None)
    return tuple(point)


def _trail(values: Sequence[float] | Array) -> Trail:
    """Return the least value so far after every evaluation."""
    return list(itertools.accumulate(map(float, values), min))


METHODS: Final[Mapping[str, Callable[[Evaluator, int, int], Trail]]] = {
    "perfmodel search": own,
    "Optuna's TPE alone": sampler_alone,
    "random search": random_search,
    "differential evolution": differential_evolution,
}
