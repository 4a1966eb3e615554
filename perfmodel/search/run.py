"""A search from its question to its answer: carried out the cheapest way, proven, explained, re-evaluated."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from perfmodel.errors import ModelError, SpecError
from perfmodel.estimate import predict
from perfmodel.search.affordable import ENUMERABLE, sweep_seconds
from perfmodel.search.bounds import lower_bound
from perfmodel.search.clock import Clock
from perfmodel.search.evaluator import Evaluation, Evaluator, Failure
from perfmodel.search.explain import explained
from perfmodel.search.explored import Explored, from_memory, from_sweep
from perfmodel.search.grid import Point
from perfmodel.search.importance import effects_of
from perfmodel.search.memory import Memory
from perfmodel.search.pareto import hypervolume
from perfmodel.search.question import Question, SpaceLike, asked
from perfmodel.search.result import Closest, PlanFound, Proof, Robust, SearchResult, StudyUsed
from perfmodel.search.sweep import Sweep, nearest_to_feasible, sweep
from perfmodel.spec.scenario import Scenario
from perfmodel.units import render

_AFFORDABLE: Final = 60.0  # seconds of a sweep that no one asked for
_LARGEST: Final = 10_000_000_000  # plans above which nothing is enumerated, even where one asks for it
_SAME: Final = 1e-9  # relative difference between a plan's value in the search and evaluated again
_BOUNDING: Final = 20.0  # seconds of looking for a lower bound
_ROWS: Final = 100_000


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a search has come.

    Attributes
    ----------
    doing : str
    done, total : int
        Plans; the total is None where it isn't known.
    best : float or None
        The first objective of the best plan so far.
    feasible : int
        Plans among those done.
    """

    doing: str
    done: int
    total: int | None
    best: float | None
    feasible: int


Watcher = Callable[[Progress], None]


def search(
    scenario: Scenario,
    space: SpaceLike | None = None,
    objectives: Sequence[str] | str = ("time",),
    *,
    constraints: Sequence[str] = (),
    method: str = "auto",
    trials: int = 500,
    timeout: float | None = None,
    storage: str | os.PathLike[str] | None = None,
    study: str | None = None,
    seed: int = 0,
    robust: float | None = None,
    sampler: str = "tpe",
    against: Scenario | None = None,
    explain: bool = True,
    progress: Watcher = lambda progress: None,
) -> SearchResult:
    """Find the best plan of a space, and how good it is.

    Parameters
    ----------
    scenario : Scenario
        Workload and system; its plan holds what the space leaves open.
    space : Space, mapping or path, optional
        What is searched; the family's default space where left out.
    objectives : sequence of text
        Names of results, or expressions of them, to be minimized; several give a Pareto front.
    constraints : sequence of text
        Such as ``time <= 50 ms`` and ``memory.gpu <= 40 GiB``.
    method : str
        ``exhaustive``, ``optuna``, or ``auto``: the cheaper of the two that proves the most.
    trials : int
        Plans that Optuna may try.
    timeout : float, optional
        Seconds after which the best so far is the answer.
    storage, study : str, optional
        File or database URL that keeps Optuna's trials, and the study's name in it.
    seed : int
        Same seed, same answer.
    robust : float, optional
        Optimize this quantile of the uncertainty in place of the expected value.
    sampler : str
        Optuna's: ``tpe``, ``random``, ``nsgaii``, ``qmc``.
    against : Scenario, optional
        A plan to explain the winner against.
    explain : bool
        Whether to say why, what limits, and where another plan would win.
    progress : callable
        Told how far the search is.

    Returns
    -------
    SearchResult
        With ``best`` None where nothing is feasible.

    Raises
    ------
    SpecError
        Whatever is wrong with the question, or a storage that fails.

    Examples
    --------
    >>> import perfmodel as pm
    >>> scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    >>> space = {"plan.precision.features": ["fp32", "fp16"], "plan.transfer.window": [1, 2, 4, 8]}
    >>> result = search(scenario, space, objectives=["time"], explain=False)
    >>> result.method, result.best.parameters["plan.precision.features"], result.gap
    ('exhaustive', 'fp16', 0.0)
    """
    question = asked(
        scenario, space, objectives, constraints, method, trials, timeout, storage, study, seed, robust, sampler
    )
    clock = Clock(timeout)
    with clock.listening():
        return _Search(question, clock, progress).answer(against, explain)


class _Search:
    """One search."""

    def __init__(self, question: Question, clock: Clock, watcher: Watcher) -> None:
        self.question, self.clock, self.watcher = question, clock, watcher
        self.grid = question.grid
        self.evaluator = question.evaluator()
        self.importance: dict[str, float] = {}
        self.study: StudyUsed | None = None
        self.warnings: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.ended = ""

    def answer(self, against: Scenario | None, explain: bool) -> SearchResult:
        """Search, prove, explain and evaluate again."""
        way, why = self._way()
        seen = self._swept(self.evaluator) if way == "exhaustive" else self._studied()
        seconds, evaluated = self.clock.seconds, self.evaluator.evaluated
        if seen.best is not None:
            seen = dataclasses.replace(seen, best=plainest(self.evaluator, seen.best))
        if seen.best is None and seen.failures and seen.complete and set(seen.failures) == set(seen.infeasible):
            raise next(iter(seen.failures.values()))
        proof, proven = self._proof(seen, way)
        best = None if seen.best is None else self._plan(seen.best)
        closest = None if best is not None else self._closest(seen)
        explanation = explained(self.question, proven, against, self.clock) if explain and best is not None else {}
        self._comparable(best)
        pareto = self._pareto(seen)
        return SearchResult(
            best=best,
            estimate=self._again(best),
            pareto=pareto,
            hypervolume=_hypervolume(pareto, self.question.objectives),
            evaluated=seen.evaluated,
            feasible=seen.feasible,
            infeasible_by_rule=dict(sorted(seen.infeasible.items(), key=lambda item: -item[1])),
            size=self.grid.size if self.grid.enumerable else None,
            method=way,
            ended=self.ended,
            proof=dataclasses.replace(proof, note=f"{why}; {proof.note}" if why else proof.note),
            closest=closest,
            seconds=seconds,
            evaluations_per_s=evaluated / seconds if seconds > 0 else 0.0,
            objectives=tuple(objective.name for objective in self.question.objectives),
            units={objective.name: objective.unit for objective in self.question.objectives},
            importance=self.importance,
            explanation=explanation,
            robust=self._robust(seen, way),
            study=self.study,
            seed=self.question.seed,
            inputs=self.question.scenario.inputs,
            workload=self.question.scenario.workload.name,
            system=self.question.scenario.system.name,
            rows=self.rows or [self._row(point, {}) for point in _listed(seen)],
            warnings=tuple(self.warnings),
        )

    def _way(self) -> tuple[str, str]:
        """Return how to search, and why where that was left open."""
        question = self.question
        if question.method == "exhaustive":
            if not self.grid.enumerable:
                raise SpecError(
                    "method", "must be optuna where a range has no step, factor or count", "exhaustive", "optuna"
                )
            if self.grid.size > _LARGEST:
                raise SpecError("method", "must be optuna beyond 1e10 plans", f"{self.grid.size:,} plans", "optuna")
            return "exhaustive", ""
        if question.method == "optuna":
            return "optuna", ""
        if question.place.kind != "memory":
            return "optuna", "trials are to be kept, so Optuna searched"
        return (
            ("exhaustive", "every plan can be evaluated")
            if self._affordable()
            else ("optuna", "too many plans to evaluate all")
        )

    def _affordable(self) -> bool:
        if not self.grid.enumerable or self.grid.size > ENUMERABLE:
            return False
        return sweep_seconds(self.evaluator) <= min(_AFFORDABLE, 0.8 * self.clock.left)

    def _swept(self, evaluator: Evaluator, doing: str = "evaluating every plan") -> Explored:
        def told(found: Sweep) -> None:
            best = None if found.best is None else found.best.value
            self.watcher(Progress(doing, found.evaluated, self.grid.size, best, found.feasible))

        found = sweep(evaluator, self.clock.stop, told)
        if found.effects is not None:
            self.importance = self.importance or found.effects.shares()
        self.ended = self.ended or ("every plan evaluated" if found.complete else self.clock.reason())
        return from_sweep(found, self.grid)

    def _studied(self) -> Explored:
        from perfmodel.search.study import Settings, study

        question = self.question

        def told(memory: Memory) -> None:
            best = None if memory.best is None else memory.value
            self.watcher(Progress("trying plans", len(memory), question.trials, best, memory.feasible))

        settings = Settings(trials=question.trials, sampler=question.sampler, seed=question.seed)
        found = study(self.evaluator, question.place, question.study, settings, self._warm(), self.clock.stop, told)
        self.ended = self.clock.reason() or found.ended
        self.study = StudyUsed(found.name, str(question.place), found.trials, question.sampler, question.seed)
        self.importance = effects_of(found.memory, self.grid).shares()
        for point, known in list(found.memory.plans.items())[:_ROWS]:
            values = dict(zip((objective.name for objective in question.objectives), known.values, strict=True))
            self.rows.append(
                self._row(point, {**values, "feasible": known.feasible, "breaks": " | ".join(known.broken)})
            )
        return from_memory(found.memory, self.grid)

    def _warm(self) -> list[Point]:
        """Return the plans to try first: the scenario's own, and those of the catalog."""
        from perfmodel.search.families import search_family

        known = [{}, *search_family(self.question.scenario).known_plans()]
        return [self.grid.nearest_point(plan) for plan in known]

    def _row(self, point: Point, values: Mapping[str, Any]) -> dict[str, Any]:
        if not values:
            batch = self.evaluator.points([point])
            names = (objective.name for objective in self.question.objectives)
            found: dict[str, Any] = dict(zip(names, map(float, batch.values[0]), strict=True))
            values = {**found, "feasible": bool(batch.feasible[0]), "breaks": " | ".join(batch.broken[0])}
        chosen = self.grid.assignment(point)
        return {axis.key: chosen.get(axis.key, "") for axis in self.grid.axes} | dict(values)

    def _proof(self, seen: Explored, way: str) -> tuple[Proof, Explored]:
        """Return how good the best plan is known to be, and the most complete view of the space."""
        if seen.complete:
            return Proof("enumerated", _finite(seen.value), seen.evaluated, "all plans evaluated"), seen
        if way == "exhaustive":
            return Proof(
                "none", None, None, f"{seen.evaluated:,} of {self.grid.size:,} plans evaluated: {self.ended}"
            ), seen
        if self.clock.stop():
            return Proof("none", None, None, f"no time was left to prove it: {self.clock.reason()}"), seen
        if self._affordable():
            all_of_it = self._swept(self.question.evaluator(), "proving the optimum")
            if all_of_it.complete:
                note = "the optimum is that of a sweep over all plans"
                proof = Proof("enumerated", _finite(all_of_it.value), all_of_it.evaluated, note)
                return proof, dataclasses.replace(all_of_it, best=seen.best, value=seen.value)
        return self._bounded(seen), seen

    def _bounded(self, seen: Explored) -> Proof:
        """Return a lower bound by enclosing whole boxes of plans."""
        if self.question.quantile is not None:
            return Proof("none", None, None, "quantiles have no lower bound by intervals")
        limit = Clock(min(_BOUNDING, self.clock.left))
        best = seen.value if math.isfinite(seen.value) else math.inf
        found = lower_bound(self.question.evaluator(), best, lambda: limit.stop() or self.clock.interrupted)
        if found is None or not math.isfinite(found.value):
            return Proof("none", None, None, "no lower bound was found in time")
        how = "no plan can be better by more than 0.1 %" if found.closed else "as close as time allowed"
        note = f"lower bound by intervals over {found.boxes:,} boxes in {found.blocks:,} choices of names, {how}"
        return Proof("bound", found.value, None, note)

    def _plan(self, point: Point) -> PlanFound:
        batch = self.evaluator.points([point])
        names = [objective.name for objective in self.question.objectives]
        values = dict(zip(names, map(float, batch.values[0]), strict=True))
        chosen = self.grid.assignment(point)
        index = self.grid.index(point) if self.grid.enumerable else None
        return PlanFound(chosen, values, self.question.scenario.replace(chosen), index)

    def _again(self, best: PlanFound | None) -> Any:
        """Return the winner predicted from scratch; a time that differs from the search's is a bug."""
        if best is None:
            return None
        estimate = predict(best.scenario)
        found = best.objectives.get("time", best.objectives.get("time_s"))
        if self.question.quantile is None and found is not None and abs(estimate.time_s - found) > _SAME * found:
            raise ModelError(f"the search gives {found!r} s and a prediction of the same plan {estimate.time_s!r} s")
        if not estimate.feasible:
            raise ModelError(f"the search took a plan for feasible that breaks {estimate.violations[0].rule}")
        return estimate

    def _pareto(self, seen: Explored) -> tuple[PlanFound, ...]:
        if len(self.question.objectives) == 1:
            return () if seen.best is None else (self._plan(seen.best),)
        return tuple(self._plan(point) for point, _ in seen.front[:_SHOWN])

    def _closest(self, seen: Explored) -> Closest | None:
        """Return what comes closest where nothing is feasible."""
        near = self._nearest(seen)
        if near is None:
            return None
        point, rule, over = near
        model = self.evaluator.model(self.grid.outer_of(point))
        assert not isinstance(model, Failure)
        numbers = {key: value for key, value in self.grid.assignment(point).items() if key in model.bound.numbers}
        found = self.evaluator.evaluate(model, numbers)
        assert isinstance(found, Evaluation)
        limit = next(limit for limit in found.limits if limit.rule == rule)
        need, most = float(np.ravel(limit.need)[0]), float(np.ravel(limit.limit)[0])
        message = f"{limit.message}: {render(need, limit.unit)} of {render(most, limit.unit)}"
        return Closest(rule, over, need, most, limit.unit, message, self._plan(point))

    def _nearest(self, seen: Explored) -> tuple[Point, str, float] | None:
        if not self.grid.enumerable or not seen.complete:
            return seen.near
        found = nearest_to_feasible(self.question.evaluator(), self.clock.stop)
        return None if found is None else (self.grid.point(found.index), found.rule, found.excess)

    def _robust(self, seen: Explored, way: str) -> Robust | None:
        """Return whether expected values would choose another plan."""
        quantile = self.question.quantile
        if quantile is None or seen.best is None:
            return None
        evaluator = self.question.evaluator(expected=True)
        if way == "exhaustive":
            expected = from_sweep(sweep(evaluator, self.clock.stop), self.grid)
        else:
            from perfmodel.search.storage import Place
            from perfmodel.search.study import Settings, study

            settings = Settings(trials=self.question.trials, sampler=self.question.sampler, seed=self.question.seed)
            found = study(evaluator, Place("memory"), None, settings, self._warm(), self.clock.stop)
            expected = from_memory(found.memory, self.grid)
        if expected.best is None:
            return Robust(quantile, True, None)
        return Robust(quantile, expected.best != seen.best, self._plan(expected.best))

    def _comparable(self, best: PlanFound | None) -> None:
        """Warn where times of unlike mini-batches were compared."""
        if best is None or not any(name.partition("_")[0] == "time" for name in best.objectives):
            return
        from perfmodel.model.bound import bind

        bound = bind(self.question.scenario)
        if bind(best.scenario).batches_per_epoch != bound.batches_per_epoch:
            unit = bound.family.unit
            self.warnings.append(
                f"times are of one {unit}, and the plans differ in what a {unit} holds: epoch_time compares them"
            )


_SHOWN: Final = 1000


def plainest(evaluator: Evaluator, point: Point) -> Point:
    """Return a plan as good as another in every objective, that changes less of the scenario's own plan."""
    grid = evaluator.grid
    best = evaluator.points([point]).values[0]
    for place, axis in enumerate(grid.axes):
        position = point[place]
        if position is None or axis.span is not None or axis.now not in axis.values:
            continue
        wanted = (*point[:place], axis.values.index(axis.now), *point[place + 1 :])
        if wanted == point or any((value is not None) != grid.exists(at, wanted) for at, value in enumerate(wanted)):
            continue
        batch = evaluator.points([wanted])
        if batch.feasible[0] and np.all(batch.values[0] <= best):
            point = wanted
    return point


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _listed(seen: Explored) -> list[Point]:
    """Return the plans worth a row of a table: the front, and the best of each choice of names."""
    best = [] if seen.best is None else [seen.best]
    return list(dict.fromkeys([*best, *(point for point, _ in seen.front), *seen.others]))


def _hypervolume(pareto: Sequence[PlanFound], objectives: Sequence[Any]) -> dict[str, Any] | None:
    """Return the exact volume that a front dominates, up to its own worst values."""
    if len(objectives) < 2 or not pareto:
        return None
    values = np.array([list(plan.objectives.values()) for plan in pareto])
    reference = values.max(axis=0)
    span = np.where(reference > values.min(axis=0), reference - values.min(axis=0), 1.0)
    beyond = reference + 0.1 * span
    return {"value": hypervolume(values, beyond), "reference": [float(value) for value in beyond]}
