"""What a search found, ready for people, JSON, CSV and ``predict --plan``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import perfmodel
from perfmodel.documents import read
from perfmodel.estimate import Estimate
from perfmodel.model.compile import model_hash
from perfmodel.search.pareto import hypervolume
from perfmodel.search.saved import SCHEMA, SavedSearch
from perfmodel.spec.scenario import Scenario


@dataclasses.dataclass(frozen=True)
class PlanFound:
    """One plan.

    Attributes
    ----------
    parameters : mapping of dotted key to value
        What the search chose.
    objectives : mapping of name to value
        In SI units, at the search's quantile where it has one.
    scenario : Scenario
    index : int, optional
        In the enumeration of the space.
    """

    parameters: Mapping[str, Any]
    objectives: Mapping[str, float]
    scenario: Scenario
    index: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan whole, with whatever else was chosen, and its objectives."""
        whole = flat("plan", self.scenario.plan.model_dump(exclude={"name", "title", "sources"}))
        return {
            "plan": {**whole, **{key: plain(value) for key, value in self.parameters.items()}},
            "parameters": {key: plain(value) for key, value in self.parameters.items()},
            "objectives": dict(self.objectives),
            "index": self.index,
        }


@dataclasses.dataclass(frozen=True)
class Closest:
    """Where nothing is feasible: the plan that breaks its limits least.

    Attributes
    ----------
    rule : str
        The limit that it passes furthest.
    excess : float
        By what factor.
    need, limit, unit : numbers and their unit
    message : str
    """

    rule: str
    excess: float
    need: float
    limit: float
    unit: str
    message: str
    plan: PlanFound


@dataclasses.dataclass(frozen=True)
class Proof:
    """How good the best plan is known to be.

    Attributes
    ----------
    kind : str
        ``enumerated`` (every plan was evaluated), ``bound`` (no plan can be below ``value``) or ``none``.
    value : float, optional
        The optimum, or the bound, of the first objective.
    points : int, optional
        Plans enumerated.
    note : str
        How it was found, or why there is none.
    """

    kind: str
    value: float | None
    points: int | None
    note: str


@dataclasses.dataclass(frozen=True)
class Robust:
    """What the search at a quantile of the uncertainty chose, beside that of the expected values.

    Attributes
    ----------
    quantile : float
    differs : bool
        Whether the choice is another one.
    expected : PlanFound, optional
        The best plan by expected values, with its objectives at the quantile.
    """

    quantile: float
    differs: bool
    expected: PlanFound | None


@dataclasses.dataclass(frozen=True)
class StudyUsed:
    """Optuna's study behind a search."""

    name: str
    storage: str
    trials: int
    sampler: str
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found; ``to_dict`` gives the JSON document."""

    best: PlanFound | None
    estimate: Estimate | None
    pareto: tuple[PlanFound, ...]
    hypervolume: Mapping[str, Any] | None
    evaluated: int
    feasible: int
    infeasible_by_rule: Mapping[str, int]
    size: int | None
    method: str
    ended: str
    proof: Proof
    closest: Closest | None
    seconds: float
    evaluations_per_s: float
    objectives: tuple[str, ...]
    units: Mapping[str, str]
    importance: Mapping[str, float]
    explanation: Mapping[str, Any]
    robust: Robust | None
    study: StudyUsed | None
    seed: int
    inputs: Mapping[str, str]
    workload: str
    system: str
    rows: Sequence[Mapping[str, Any]] = ()
    warnings: tuple[str, ...] = ()

    @property
    def gap(self) -> float | None:
        """Return by what share the best plan is above the optimum, or at most above it where only a bound is known."""
        if self.best is None or self.proof.value is None:
            return None
        found = next(iter(self.best.objectives.values()))
        if found == self.proof.value:
            return 0.0
        return found / self.proof.value - 1.0 if self.proof.value > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, ready for JSON."""
        proof, enumerated = self.proof, self.proof.kind == "enumerated"
        kept = (
            "evaluated",
            "feasible",
            "size",
            "method",
            "ended",
            "seconds",
            "evaluations_per_s",
            "workload",
            "system",
        )
        return {
            "schema": SCHEMA,
            "perfmodel": perfmodel.__version__,
            "model": model_hash(),
            **{name: getattr(self, name) for name in kept},
            "best": None if self.best is None else self.best.to_dict() | _estimated(self.estimate),
            "pareto": [plan.to_dict() for plan in self.pareto],
            "hypervolume": self.hypervolume,
            "infeasible_by_rule": dict(self.infeasible_by_rule),
            "closest": None if self.closest is None else _closest(self.closest),
            "optimum": {"value": proof.value, "points": proof.points} if enumerated else None,
            "bound": {"value": proof.value, "note": proof.note} if proof.kind == "bound" else None,
            "gap": self.gap,
            "proof": {"kind": proof.kind, "note": proof.note},
            "objectives": [{"name": name, "unit": self.units[name]} for name in self.objectives],
            "importance": dict(self.importance),
            "explanation": self.explanation,
            "robust": None if self.robust is None else _robust(self.robust),
            "study": None if self.study is None else dataclasses.asdict(self.study),
            "seed": self.seed,
            "warnings": list(self.warnings),
            "inputs": dict(self.inputs),
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> SavedSearch:
        """Return what a document of this or an earlier version holds; its ``to_dict`` gives the document again.

        Raises
        ------
        SpecError
            No such document, or one of a newer schema.
        """
        return read(SavedSearch, document, SCHEMA, "search result")


def _estimated(estimate: Estimate | None) -> dict[str, Any]:
    """Return what a prediction of the best plan says, as ``perfmodel predict`` has it."""
    if estimate is None:
        return {}
    kept = ("time_s", "interval_s", "interval_level", "epoch_time_s", "bottleneck", "phases", "memory", "energy_j")
    whole = estimate.to_dict()
    return {name: whole[name] for name in kept}


def _closest(closest: Closest) -> dict[str, Any]:
    names = ("rule", "excess", "need", "limit", "unit", "message")
    return {name: getattr(closest, name) for name in names} | {"plan": closest.plan.to_dict()}


def _robust(robust: Robust) -> dict[str, Any]:
    expected = None if robust.expected is None else robust.expected.to_dict()
    return {"quantile": robust.quantile, "differs": robust.differs, "expected": expected}


def flat(prefix: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested table by dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        inner = f"{prefix}.{key}"
        found |= flat(inner, value) if isinstance(value, Mapping) else {inner: plain(value)}
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON and TOML take it."""
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value


def dominated(pareto: Sequence[PlanFound], objectives: Sequence[Any]) -> dict[str, Any] | None:
    """Return the exact volume that a front dominates, up to its own worst values."""
    if len(objectives) < 2 or not pareto:
        return None
    values = np.array([list(plan.objectives.values()) for plan in pareto])
    reference = values.max(axis=0)
    span = np.where(reference > values.min(axis=0), reference - values.min(axis=0), 1.0)
    beyond = reference + 0.1 * span
    return {"value": hypervolume(values, beyond), "reference": [float(value) for value in beyond]}
