"""Why the winner wins: against other plans phase by phase, what limits it, and where another placement would win."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from perfmodel.errors import PerfmodelError
from perfmodel.estimate import Estimate, predict
from perfmodel.search.clock import Clock
from perfmodel.search.evaluator import Evaluation, Evaluator, Failure
from perfmodel.search.explored import Explored
from perfmodel.search.families import search_family
from perfmodel.search.grid import Grid, Point
from perfmodel.search.question import Question
from perfmodel.search.result import flat, plain
from perfmodel.search.scaling import scaling
from perfmodel.search.switches import switch_points
from perfmodel.spec.scenario import Scenario

_TIED = 1e-9


def explained(question: Question, seen: Explored, against: Scenario | None, clock: Clock) -> dict[str, Any]:
    """Explain the best plan that was seen.

    Parameters
    ----------
    question : Question
    seen : Explored
        With a best plan.
    against : Scenario, optional
        A plan of the user's to compare with.
    clock : Clock
        Parts that take long are left out where time is up.

    Returns
    -------
    dict
        ``comparisons``, ``binding``, ``switch_points``, ``regime_map``, ``scaling``: plain values, ready for JSON.
    """
    assert seen.best is not None
    evaluator = question.evaluator()
    winner = question.scenario.replace(question.grid.assignment(seen.best))
    found: dict[str, Any] = {
        "comparisons": list(_comparisons(question, evaluator, seen, winner, against)),
        "binding": list(_binding(evaluator, seen)),
    }
    if not clock.stop():
        found |= switch_points(question, seen, clock)
    if not clock.stop():
        found["scaling"] = scaling(question, seen, clock)
    return found


def _comparisons(
    question: Question, evaluator: Evaluator, seen: Explored, winner: Scenario, against: Scenario | None
) -> Iterator[dict[str, Any]]:
    """Yield the winner beside the runner-up, no offload, the scenario's plan and the user's."""
    best = predict(winner)
    for name, point in (("runner-up", _runner_up(evaluator, seen)), ("no offload", _without(question, seen))):
        if point is not None:
            other = question.scenario.replace(question.grid.assignment(point))
            yield _comparison(name, winner, best, other)
    if _differs(winner, question.scenario):
        yield _comparison("the plan at hand", winner, best, question.scenario)
    if against is not None:
        yield _comparison("against", winner, best, against)


def _runner_up(evaluator: Evaluator, seen: Explored) -> Point | None:
    """Return the best plan with another choice of names that is not as good as the winner."""
    candidates = seen.others[:200]
    values = evaluator.points(candidates).values[:, 0]
    worse = [
        point for point, value in zip(candidates, values, strict=True) if value > seen.value + _TIED * abs(seen.value)
    ]
    return worse[0] if worse else None


def _without(question: Question, seen: Explored) -> Point | None:
    """Return the best plan without offload that was seen, None where the winner is one or none was seen."""
    grid = question.grid
    wanted = search_family(question.scenario).no_offload()
    named = {key: value for key, value in wanted.items() if key in grid.places}
    assert seen.best is not None
    if not named or _has(grid, seen.best, named):
        return None
    return next((point for point in seen.others if _has(grid, point, named)), None)


def _has(grid: Grid, point: Point, named: Mapping[str, Any]) -> bool:
    chosen = grid.assignment(point)
    return all(chosen.get(key) == value for key, value in named.items())


def _differs(one: Scenario, other: Scenario) -> bool:
    return bool(_changed(one, other))


def _changed(one: Scenario, other: Scenario) -> dict[str, list[Any]]:
    """Return what differs between two scenarios: plan and workload number by number, devices and links by name."""
    found: dict[str, list[Any]] = {}
    for part in ("workload", "plan"):
        tables = [
            flat(part, getattr(scenario, part).model_dump(exclude={"name", "title", "sources"}))
            for scenario in (one, other)
        ]
        for key in dict.fromkeys([*tables[0], *tables[1]]):
            values = [plain(table.get(key)) for table in tables]
            if values[0] != values[1]:
                found[key] = values
    for name, spec in one.system:
        names = [getattr(spec, "name", None), getattr(getattr(other.system, name, None), "name", None)]
        if names[0] != names[1]:
            found[f"system.{name}"] = names
    return found


def _comparison(name: str, winner: Scenario, best: Estimate, other: Scenario) -> dict[str, Any]:
    """Return one plan beside the winner, phase by phase."""
    try:
        compared = predict(other)
        against = predict(winner, other).against
    except PerfmodelError as error:
        return {"with": name, "error": str(error)}
    assert against is not None
    times = [{phase.name: phase.time_s for phase in estimate.phases} for estimate in (best, compared)]
    phases = []
    for phase in dict.fromkeys([*times[0], *times[1]]):
        own, theirs = times[0].get(phase, 0.0), times[1].get(phase, 0.0)
        phases.append({"name": phase, "winner_s": own, "other_s": theirs, "saved_s": theirs - own})
    return {
        "with": name,
        "time_s": compared.time_s,
        "speedup": against.speedup,
        "speedup_interval": list(against.speedup_interval),
        "feasible": compared.feasible,
        "violations": [dataclasses.asdict(violation) for violation in compared.violations],
        "phases": phases,
        "changed": {key: {"winner": values[0], "other": values[1]} for key, values in _changed(winner, other).items()},
    }


def _binding(evaluator: Evaluator, seen: Explored) -> Iterator[dict[str, Any]]:
    """Yield the limits that keep better plans out, and what each brings where it is relaxed; the worst first."""
    for rule, (point, value) in sorted(seen.relaxed.items(), key=lambda item: item[1][1]):
        limit = limit_of(evaluator, point, rule)
        if limit is not None:
            need, most, unit = limit
            yield {
                "rule": rule, "need": need, "limit": most, "unit": unit, "value": value,
                "gain": 1.0 - value / seen.value if seen.value > 0 else None,
                "parameters": {key: plain(each) for key, each in evaluator.grid.assignment(point).items()},
            }  # fmt: skip


def limit_of(evaluator: Evaluator, point: Point, rule: str) -> tuple[float, float, str] | None:
    """Return need, limit and unit of a rule in one plan."""
    model = evaluator.model(evaluator.grid.outer_of(point))
    if isinstance(model, Failure):
        return None
    chosen = evaluator.grid.assignment(point)
    found = evaluator.evaluate(model, {key: value for key, value in chosen.items() if key in model.bound.numbers})
    if not isinstance(found, Evaluation):
        return None
    limits: Sequence[Any] = [limit for limit in found.limits if limit.rule == rule]
    return next(((float(np.ravel(one.need)[0]), float(np.ravel(one.limit)[0]), one.unit) for one in limits), None)
