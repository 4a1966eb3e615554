"""The result of one prediction: parts, bottleneck, interval, memory, where each number comes from."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import perfmodel
from perfmodel.documents import read
from perfmodel.environment import this_machine
from perfmodel.errors import SpecError
from perfmodel.model.bound import Bound, Outcome, bind
from perfmodel.model.compile import model_hash
from perfmodel.model.families._base import Family
from perfmodel.spec._base import SOURCE_KINDS
from perfmodel.spec.catalog import flattened
from perfmodel.spec.scenario import Scenario
from perfmodel.uncertainty import LEVEL, UNCALIBRATED_SPREAD, Draws, draw, interval
from perfmodel.units import render

SCHEMA: Final = 1


@dataclasses.dataclass(frozen=True)
class PhaseTime:
    """One phase of an estimate."""

    name: str
    time_s: float
    share: float
    where: str
    source: str


@dataclasses.dataclass(frozen=True)
class Violation:
    """A limit that the plan breaks."""

    rule: str
    need: float
    limit: float
    message: str


@dataclasses.dataclass(frozen=True)
class MemoryNeed:
    """Memory of one device [B]."""

    where: str
    need_bytes: float
    capacity_bytes: float


@dataclasses.dataclass(frozen=True)
class Against:
    """The same workload under another plan or on another system."""

    name: str
    time_s: float
    speedup: float
    speedup_interval: tuple[float, float]
    feasible: bool


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Time of one mini-batch, or of the family's ``unit`` [s], and its parts; ``to_dict`` gives the JSON document.

    ``perfmodel`` and ``model`` are the version and the hash of the formulas that made it.
    """

    time_s: float
    interval_s: tuple[float, float]
    epoch_time_s: float
    phases: tuple[PhaseTime, ...]
    bottleneck: str
    overlap: str
    bytes: Mapping[str, float]
    nodes: float | None
    edges: float | None
    memory: tuple[MemoryNeed, ...]
    energy_j: float | None
    energy: Mapping[str, float]
    unit: str
    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]
    plan: Mapping[str, Any]
    workload: str
    system: str
    inputs: Mapping[str, str]
    against: Against | None = None
    interval_level: float = LEVEL
    perfmodel: str = dataclasses.field(default_factory=lambda: perfmodel.__version__)
    model: str = dataclasses.field(default_factory=model_hash)

    @property
    def feasible(self) -> bool:
        """Whether the plan keeps every limit."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values, ready for JSON."""
        document = {
            "schema": SCHEMA,
            "perfmodel": self.perfmodel,
            "model": self.model,
            "feasible": self.feasible,
            **dataclasses.asdict(self),
        }
        if self.against is None:
            del document["against"]
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Estimate:
        """Return the estimate that a document of this or an earlier version holds.

        Raises
        ------
        SpecError
            No such document, or one of a newer schema.

        Examples
        --------
        >>> import perfmodel as pm
        >>> estimate = pm.predict(pm.load_scenario("reddit", "lgnnic-doca-dma"))
        >>> pm.Estimate.from_dict(estimate.to_dict()) == estimate
        True
        """
        return read(cls, document, SCHEMA, "estimate")


@dataclasses.dataclass(frozen=True)
class _Prepared:
    """What stays the same between predictions of one scenario."""

    bound: Bound
    draws: Draws
    sources: Mapping[str, str]
    plan: Mapping[str, Any]
    uncovered: tuple[str, ...]


_PREPARED: weakref.WeakKeyDictionary[Scenario, _Prepared] = weakref.WeakKeyDictionary()


def predict(scenario: Scenario, against: Scenario | None = None) -> Estimate:
    """Predict the time of one mini-batch.

    Parameters
    ----------
    scenario : Scenario
        Workload, system and plan.
    against : Scenario, optional
        What to compare with; common constants are drawn together, what a fit left over is not, as it differs from one
        configuration to the next.

    Returns
    -------
    Estimate

    Raises
    ------
    MissingCalibration
        Where a phase needs a constant that neither the catalog nor a profile gives.

    Examples
    --------
    >>> import perfmodel as pm
    >>> estimate = pm.predict(pm.load_scenario("reddit", "lgnnic-doca-dma"))
    >>> estimate.interval_s[0] < estimate.time_s < estimate.interval_s[1]
    True
    """
    prepared = _prepared(scenario)
    outcome, times = _run(prepared)
    estimate = _estimate(scenario, prepared, outcome, times)
    if against is None:
        return estimate
    other = _prepared(against)
    if _body(against) != _body(scenario):
        other = dataclasses.replace(other, draws=other.draws.apart())
    other_outcome, other_times = _run(other)
    compared = _estimate(against, other, other_outcome, other_times)
    ratio = other_times / times
    return dataclasses.replace(
        estimate,
        against=Against(
            f"{against.workload.name} on {against.system.name} under {against.plan.name}",
            compared.time_s,
            compared.time_s / estimate.time_s,
            interval(ratio[1:]),
            compared.feasible,
        ),
        inputs={**against.inputs, **scenario.inputs},
    )


def _body(scenario: Scenario) -> tuple[Any, ...]:
    return scenario.workload, scenario.system, scenario.plan.model_copy(update={"name": "", "title": "", "sources": {}})


def interval_of(
    scenario: Scenario, quantities: Callable[[Mapping[str, Any]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], list[tuple[float, float]]]:
    """Return point and interval of quantities made from the times of the phases.

    Parameters
    ----------
    scenario : Scenario
    quantities : callable
        From phase times by step name, each of shape (draws,), to an array of shape (quantities, draws).

    Returns
    -------
    points : array of shape (quantities,)
    intervals : list of (low, high)
    """
    prepared = _prepared(scenario)
    outcome = prepared.bound.run(prepared.draws.values)
    noisy = {name: time * prepared.draws.noise[name] for name, time in outcome.phases.items()}
    found = quantities(noisy)
    return found[:, 0], [interval(row[1:]) for row in found]


def _prepared(scenario: Scenario) -> _Prepared:
    found = _PREPARED.get(scenario)
    if found is None:
        bound = bind(scenario)
        sources = {step.step.name: _source(scenario, step) for step in bound.steps}
        spreads, groups, uncovered = _spreads(scenario, bound.family, sources)
        plan = flattened(scenario.plan.model_dump(exclude={"name", "sources", "title"}), "plan.")
        draws = draw(scenario, spreads, groups)
        found = _PREPARED[scenario] = _Prepared(bound, draws, sources, plan, uncovered)
    return found


def draws_of(scenario: Scenario) -> Draws:
    """Return the draws of a scenario's uncertain constants and residual factors that its predictions use."""
    return _prepared(scenario).draws


def _source(scenario: Scenario, bound: Any) -> str:
    """Return where a step's numbers come from: calibrated where a fit set one of them, else the least sure."""
    keys = {argument.key for call in bound.calls for argument in call.arguments if argument.key}
    kinds = {scenario.source_of(key).split(":")[0] for key in keys if key.startswith("system.")}
    known = [kind for kind in SOURCE_KINDS if kind in kinds]
    if not known:
        return "analytic"
    return next((kind for kind in ("measured", "calibrated") if kind in known), known[-1])


def _spreads(
    scenario: Scenario, family: Family, sources: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, str], tuple[str, ...]]:
    """Return each step's residual spread, the group that shares its factor, and the steps that no fit covers."""
    spreads, groups, uncovered = {}, {}, []
    fitted = {parameter.profile for parameter in scenario.uncertain}
    residuals = [scenario.profiles[name].residual for name in sorted(fitted)]
    fitted_with = any(source == "calibrated" and name not in family.transfer_steps for name, source in sources.items())
    for name, source in sources.items():
        group = "transfer" if name in family.transfer_steps else "rest"
        groups[name] = group
        calibrated = source in ("calibrated", "measured") or (fitted_with and name in family.seen_with_others)
        own = [residual[name] for residual in residuals if name in residual and name != group]
        if own and calibrated:
            spreads[name], groups[name] = max(own), name
        elif residuals and calibrated:
            spreads[name] = max(residual.get(group, 0.0) for residual in residuals)
        else:
            spreads[name] = UNCALIBRATED_SPREAD[source]
            groups[name] = name
            uncovered.append(name)
    return spreads, groups, tuple(uncovered)


def _run(prepared: _Prepared) -> tuple[Outcome, Any]:
    """Run the point estimate and all draws in one go; returns the outcome and the times with residual factors."""
    with np.errstate(all="ignore"):  # values near the end of what floats hold; told apart below
        outcome = prepared.bound.run(prepared.draws.values)
        noisy = {name: time * prepared.draws.noise[name] for name, time in outcome.phases.items()}
        times = prepared.bound.composed(noisy)
    if not np.all(np.isfinite(times)):
        slowest = next((name for name, time in outcome.phases.items() if not np.all(np.isfinite(time))), "the sum")
        raise SpecError(f"scenario: {slowest}", "must take a finite time", "values too small or too large for it")
    return outcome, times


def _estimate(scenario: Scenario, prepared: _Prepared, outcome: Outcome, times: Any) -> Estimate:
    point = float(times[0])
    phase_times = {name: _first(time) for name, time in outcome.phases.items()}
    total = sum(phase_times.values()) or 1.0
    where = {bound.step.name: bound.step.where for bound in prepared.bound.steps}
    phases = tuple(
        PhaseTime(name, time, time / total, where[name], prepared.sources[name]) for name, time in phase_times.items()
    )
    sizes = {kind: _first(value) for kind, value in outcome.bytes.items()}
    family = prepared.bound.family
    low, high = interval(times[1:])
    return Estimate(
        time_s=point,
        interval_s=(min(low, point), max(high, point)),
        epoch_time_s=point * prepared.bound.batches_per_epoch,
        phases=phases,
        bottleneck=max(phases, key=lambda phase: phase.time_s).name,
        overlap=scenario.plan.overlap,
        bytes={**sizes, "total": sum(sizes.values())},
        nodes=family.nodes,
        edges=family.edges,
        memory=_memory(prepared.bound, outcome),
        energy_j=None if outcome.energy is None else _first(outcome.energy),
        energy={name: _first(part) for name, part in outcome.energy_parts.items()},
        unit=family.unit,
        violations=_violations(outcome),
        warnings=(
            *_coverage_warning(prepared.uncovered, phases),
            *_domain_warnings(prepared.bound),
            *_machine_warnings(scenario),
        ),
        plan=prepared.plan,
        workload=scenario.workload.name,
        system=scenario.system.name,
        inputs=scenario.inputs,
    )


def _first(value: Any) -> float:
    return float(np.ravel(value)[0])


def _memory(bound: Bound, outcome: Outcome) -> tuple[MemoryNeed, ...]:
    """Return the memory that each device needs, beside what it has."""
    capacity = {step.step.name: bound.values[f"system.{step.step.where}.memory"] for step in bound.memory_steps}
    return tuple(MemoryNeed(name, _first(need), capacity[name]) for name, need in outcome.memory.items())


def _violations(outcome: Outcome) -> tuple[Violation, ...]:
    """Return the limits that are broken, each with a sentence."""
    found = []
    for limit in outcome.limits:
        need, most = _first(limit.need), _first(limit.limit)
        if need > most:
            message = f"{limit.message}: {render(need, limit.unit)} of {render(most, limit.unit)}"
            found.append(Violation(limit.rule, need, most, message))
    return tuple(found)


def _coverage_warning(uncovered: Sequence[str], phases: Sequence[PhaseTime]) -> tuple[str, ...]:
    """Return one sentence on all phases that no fit covers and that take time."""
    named = [f"{phase.name} ({phase.source})" for phase in phases if phase.name in uncovered and phase.time_s > 0]
    if not named:
        return ()
    return (f"no fit covers {', '.join(named)} on these devices: their spread is taken from the kind of source",)


def _machine_warnings(scenario: Scenario) -> list[str]:
    """Return a sentence for each profile in use that was measured on another machine, or by another version."""
    found = []
    for name in sorted({parameter.profile for parameter in scenario.uncertain}):
        made_by = scenario.profiles[name].made_by
        if "machine" in made_by and made_by["machine"] != this_machine():
            found.append(f"profile {name} was measured on another machine: calibrate this one with perfmodel calibrate")
        elif "machine" in made_by and made_by.get("perfmodel") != perfmodel.__version__:
            version = made_by.get("perfmodel", "an unknown version")
            found.append(
                f"profile {name} was made by perfmodel {version}, this is {perfmodel.__version__}: calibrate anew"
            )
    return found


def _domain_warnings(bound: Bound) -> list[str]:
    """Return what a phase says where its domain is left."""
    found: list[str] = []
    for step in bound.steps:
        for call in step.calls:
            keys = {argument.name: argument.key for argument in call.arguments}
            for names, holds, meaning in call.phase.domain:
                known = all(keys.get(name) for name in names)
                if known and not bool(np.all(holds(*[bound.values[keys[name]] for name in names]))):
                    found.append(f"{step.step.name}: {meaning}")
    return sorted(set(found))
