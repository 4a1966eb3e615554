"""What a search found, read back from its document: without the scenarios, which the document names by their files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

SCHEMA: Final = 1


@dataclasses.dataclass(frozen=True)
class SavedPlan:
    """One plan.

    Attributes
    ----------
    plan : mapping of dotted key to value
        Whole.
    parameters : mapping of dotted key to value
        What the search chose of it.
    objectives : mapping of name to value
        In SI units.
    index : int, optional
        In the enumeration of the space.
    """

    plan: Mapping[str, Any]
    parameters: Mapping[str, Any]
    objectives: Mapping[str, float]
    index: int | None = None


@dataclasses.dataclass(frozen=True)
class SavedSearch:
    """What ``SearchResult.to_dict`` wrote; ``best`` also holds the prediction of its plan, as ``predict`` has it."""

    best: Mapping[str, Any] | None
    pareto: tuple[SavedPlan, ...]
    hypervolume: Mapping[str, Any] | None
    evaluated: int
    feasible: int
    infeasible_by_rule: Mapping[str, int]
    size: int | None
    method: str
    ended: str
    optimum: Mapping[str, Any] | None
    bound: Mapping[str, Any] | None
    gap: float | None
    proof: Mapping[str, Any]
    closest: Mapping[str, Any] | None
    seconds: float
    evaluations_per_s: float
    objectives: tuple[Mapping[str, str], ...]
    importance: Mapping[str, float]
    explanation: Mapping[str, Any]
    robust: Mapping[str, Any] | None
    study: Mapping[str, Any] | None
    seed: int
    inputs: Mapping[str, str]
    workload: str
    system: str
    perfmodel: str
    model: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document."""
        return {"schema": SCHEMA, **dataclasses.asdict(self)}
