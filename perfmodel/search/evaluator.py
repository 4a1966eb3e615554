"""Plans of a grid to the values of objectives and limits: the only place where a search asks the model for numbers."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.estimate import draws_of
from perfmodel.model.bound import Bound, bind
from perfmodel.model.compile import model_hash
from perfmodel.model.families._base import Limit
from perfmodel.search.families import SearchFamily, search_family
from perfmodel.search.goals import Constraint, Objective
from perfmodel.search.grid import Grid, Point
from perfmodel.search.results import Results
from perfmodel.spec.scenario import Scenario
from perfmodel.uncertainty import Draws

_KEPT = 2048  # models that stay bound between batches
#: Rule of plans whose results are no numbers.
FINITE = "finite results"


@dataclasses.dataclass(frozen=True)
class Model:
    """One choice of the outer parameters, bound to the model."""

    scenario: Scenario
    bound: Bound
    family: SearchFamily
    draws: Draws | None


@dataclasses.dataclass(frozen=True)
class Failure:
    """A choice of the outer parameters that the model can't take.

    Attributes
    ----------
    rule : str
        Under which its plans are counted.
    error : SpecError
    """

    rule: str
    error: SpecError


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Values of objectives, and limits with their needs: floats or arrays that broadcast to the plans' shape."""

    values: tuple[Any, ...]
    limits: Sequence[Limit]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Plans evaluated one by one.

    Attributes
    ----------
    values : array of shape (plans, objectives)
        NaN where the model fails.
    feasible : array of shape (plans,)
    broken : list of (mapping of rule to need/limit)
        What each plan breaks.
    """

    values: NDArray[np.float64]
    feasible: NDArray[np.bool_]
    broken: list[dict[str, float]]


class Evaluator:
    """Evaluates plans of a grid.

    Parameters
    ----------
    grid : Grid
    objectives : sequence of Objective
    constraints : sequence of Constraint
    quantile : float, optional
        Objectives and constraints are taken at this quantile of their uncertainty.

    Attributes
    ----------
    evaluated : int
        Plans so far.
    """

    def __init__(
        self,
        grid: Grid,
        objectives: Sequence[Objective],
        constraints: Sequence[Constraint],
        quantile: float | None = None,
    ) -> None:
        self.grid, self.objectives, self.constraints, self.quantile = grid, objectives, constraints, quantile
        self.evaluated = 0
        self._models: collections.OrderedDict[Point, Model | Failure] = collections.OrderedDict()

    def fingerprint(self) -> str:
        """Return a hash of the model and of the scenario's numbers: with another one, old values don't hold."""
        scenario = self.grid.scenario
        text = [part.model_dump_json() for part in (scenario.workload, scenario.system, scenario.plan)]
        return hashlib.sha256("\0".join([model_hash(), *text]).encode()).hexdigest()[:16]

    def model(self, outer: Point, keep: bool = True) -> Model | Failure:
        """Return the model of a choice of outer parameters, or why there is none."""
        found = self._models.get(outer)
        if found is None:
            found = self._bound(outer)
            if keep:
                self._models[outer] = found
                if len(self._models) > _KEPT:
                    self._models.popitem(last=False)
        return found

    def _bound(self, outer: Point) -> Model | Failure:
        changes = self.grid.assignment(outer)
        try:
            scenario = self.grid.scenario.replace(changes) if changes else self.grid.scenario
            bound = bind(scenario)
            draws = None if self.quantile is None else draws_of(scenario)
            return Model(scenario, bound, search_family(scenario), draws)
        except SpecError as error:
            return _failure(error)

    def evaluate(self, model: Model, numbers: Mapping[str, Any]) -> Evaluation | Failure:
        """Evaluate plans of one model.

        Parameters
        ----------
        model : Model
        numbers : mapping of dotted key to float or array
            Of the inner parameters; arrays that broadcast to one shape.

        Returns
        -------
        Evaluation
            Or why there is none, such as a price that no one knows.
        """
        try:
            return self._evaluated(model, numbers)
        except SpecError as error:
            return _failure(error)

    def _evaluated(self, model: Model, numbers: Mapping[str, Any]) -> Evaluation:
        with np.errstate(all="ignore"):
            outcome = model.bound.run(numbers)
            results = Results(model.bound, model.family, numbers, outcome)
            if self.quantile is None or model.draws is None:
                values = tuple(objective.value(results) for objective in self.objectives)
                needs = [constraint.expression.value(results) for constraint in self.constraints]
            else:
                values, needs = self._at_quantile(model, numbers, self.quantile)
        limits = [*outcome.limits]
        limits += [constraint.limit(need) for constraint, need in zip(self.constraints, needs, strict=True)]
        return Evaluation(values, limits)

    def _at_quantile(
        self, model: Model, numbers: Mapping[str, Any], quantile: float
    ) -> tuple[tuple[Any, ...], list[Any]]:
        """Return objectives and constraints at a quantile of their uncertainty; draws lie along the last dimension."""
        assert model.draws is not None
        spread = {key: np.asarray(value)[..., np.newaxis] for key, value in numbers.items()}
        drawn = {key: value for key, value in model.draws.values.items() if key not in numbers}
        outcome = model.bound.run({**spread, **drawn}, model.draws.noise)
        results = Results(model.bound, model.family, spread, outcome)
        values = tuple(_quantile(objective.value(results), quantile) for objective in self.objectives)
        needs = [
            _quantile(constraint.expression.value(results), 1 - quantile if constraint.least else quantile)
            for constraint in self.constraints
        ]
        return values, needs

    def points(self, points: Sequence[Point]) -> Batch:
        """Evaluate single plans, grouped by their model."""
        count, wide = len(points), len(self.objectives)
        values, feasible = np.full((count, wide), np.nan), np.zeros(count, dtype=bool)
        broken: list[dict[str, float]] = [{} for _ in range(count)]
        groups: dict[Point, list[int]] = {}
        for number, point in enumerate(points):
            groups.setdefault(self.grid.outer_of(point), []).append(number)
        for outer, rows in groups.items():
            model = self.model(outer)
            if isinstance(model, Failure):
                for row in rows:
                    broken[row][model.rule] = float("inf")
                continue
            self._fill(model, [points[row] for row in rows], rows, values, broken)
        for row in range(count):
            if not broken[row] and not np.all(np.isfinite(values[row])):
                broken[row][FINITE] = float("inf")
            feasible[row] = not broken[row]
        self.evaluated += count
        return Batch(values, feasible, broken)

    def _fill(
        self, model: Model, points: Sequence[Point], rows: Sequence[int], values: Any, broken: list[dict[str, float]]
    ) -> None:
        """Evaluate plans of one model and put the outcome into their rows."""
        first = len(self.grid.outer)
        numbers = {
            axis.key: np.array([axis.value(point[place]) for point in points], dtype=np.float64)  # type: ignore[arg-type]
            for place, axis in enumerate(self.grid.inner, first)
            if points[0][place] is not None
        }
        found = self.evaluate(model, numbers)
        if isinstance(found, Failure):
            for row in rows:
                broken[row][found.rule] = float("inf")
            return
        for place, value in enumerate(found.values):
            values[rows, place] = value
        for limit in found.limits:
            need, most = (np.broadcast_to(side, len(rows)) for side in (limit.need, limit.limit))
            for row, kept, over in zip(rows, need <= most, excess(need, most), strict=True):
                if not kept:
                    broken[row][limit.rule] = float(over)


def _failure(error: SpecError) -> Failure:
    """Return what the model can't take as a reason to count plans under."""
    return Failure(f"{error.where.removeprefix('--set: ')}: {error.rule}", error)


def excess(need: Any, limit: Any) -> Any:
    """Return by what factor a need passes its limit; infinite where there is no limit to speak of."""
    with np.errstate(all="ignore"):
        ratio = np.where(np.asarray(limit) > 0, np.asarray(need) / np.asarray(limit), np.inf)
    return np.where(np.isnan(ratio), np.inf, ratio)


def _quantile(draws: Any, quantile: float) -> Any:
    """Return a quantile of draws; the first is the point, and what has one value for all draws keeps it."""
    array = np.asarray(draws)
    if array.ndim == 0 or array.shape[-1] == 1:
        return array[..., 0] if array.ndim else array
    return np.quantile(array[..., 1:], quantile, axis=-1)
