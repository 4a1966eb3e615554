"""What is asked of a search, checked before anything runs."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.model.bound import Bound, bind
from perfmodel.search.evaluator import Evaluator, Failure
from perfmodel.search.families import SearchFamily, search_family
from perfmodel.search.goals import Constraint, Objective, constraints_of, objectives_of
from perfmodel.search.grid import Grid
from perfmodel.search.results import names_of
from perfmodel.search.space import Space
from perfmodel.search.storage import Place
from perfmodel.spec.scenario import Scenario

METHODS: Final = ("auto", "optuna", "exhaustive")
_MOST_TRIALS: Final = 10_000_000

SpaceLike = Space | Mapping[str, Any] | str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Question:
    """A search that was asked for.

    Attributes
    ----------
    scenario : Scenario
    grid : Grid
    objectives, constraints : sequences
    quantile : float or None
    method : str
        ``auto``, ``optuna`` or ``exhaustive``.
    trials, timeout, seed, sampler : settings of the study
    place : Place
    study : str or None
        Name of the study.
    """

    scenario: Scenario
    grid: Grid
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    quantile: float | None
    method: str
    trials: int
    timeout: float | None
    seed: int
    sampler: str
    place: Place
    study: str | None

    def evaluator(self, expected: bool = False) -> Evaluator:
        """Return an evaluator of the question's plans, or of their expected values where a quantile was asked for."""
        return Evaluator(self.grid, self.objectives, self.constraints, None if expected else self.quantile)


def asked(
    scenario: Scenario,
    space: SpaceLike | None,
    objectives: Sequence[str] | str,
    constraints: Sequence[str],
    method: str,
    trials: int,
    timeout: float | None,
    storage: str | os.PathLike[str] | None,
    study: str | None,
    seed: int,
    robust: float | None,
    sampler: str,
) -> Question:
    """Check what is asked of a search.

    Raises
    ------
    SpecError
    """
    if method not in METHODS:
        raise SpecError("method", f"must be one of {', '.join(METHODS)}", shown(method), nearest(str(method), METHODS))
    _check_number("trials", trials, 1, _MOST_TRIALS)
    _check_number("seed", seed, 0, 2**32 - 1)
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        raise SpecError("timeout", "must be seconds above 0", shown(timeout), "60")
    if robust is not None and not (isinstance(robust, (int, float)) and 0 < robust < 1):
        raise SpecError("robust", "must be a quantile between 0 and 1", shown(robust), "0.9")
    if method == "exhaustive" and (storage is not None or study is not None):
        raise SpecError("storage", "keeps trials of a study, and an exhaustive search has none", "method exhaustive")
    if study is not None and (not isinstance(study, str) or not study.strip() or len(study) > 200):
        raise SpecError("study", "must be a name of at most 200 letters", shown(study), "my search")
    if study is not None and storage is None:
        raise SpecError("study", "needs a storage to be kept in", "none", "--storage study.journal")
    if isinstance(constraints, str):
        constraints = [constraints]
    wanted = search_family(scenario).space() if space is None else _space(space)
    grid = Grid.of(scenario, wanted)
    known = known_results(grid)
    bound = bind(scenario)
    return Question(
        scenario=scenario,
        grid=grid,
        objectives=objectives_of(objectives, known, bound),
        constraints=constraints_of([*wanted.constraints, *constraints], known, bound),
        quantile=robust,
        method=method,
        trials=trials,
        timeout=timeout,
        seed=seed,
        sampler=sampler,
        place=Place.of(storage),
        study=study,
    )


def _space(space: SpaceLike) -> Space:
    return Space.of(pathlib.Path(space) if isinstance(space, os.PathLike) else space)


def _check_number(name: str, number: object, low: int, high: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        close = str(min(max(number, low), high)) if isinstance(number, (int, float)) and number == number else str(low)
        raise SpecError(name, f"must be a whole number from {low:,} to {high:,}", shown(number), close)


def known_results(grid: Grid) -> set[str]:
    """Return the names of all results: those of the scenario, and of each other name that a parameter may have."""
    evaluator = Evaluator(grid, (), ())
    base = grid.nearest_point({})
    outers = {grid.outer_of(base)} | {grid.outer_of(point) for _, point in grid.neighbors(base)}
    models = [evaluator.model(outer) for outer in sorted(outers, key=str)]
    known = _names(bind(grid.scenario), search_family(grid.scenario))
    for model in models:
        if not isinstance(model, Failure):
            known |= _names(model.bound, model.family)
    return known


def _names(bound: Bound, family: SearchFamily) -> set[str]:
    return names_of(bound, family, bound.run({}))
