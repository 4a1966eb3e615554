"""A scenario bound to its compiled phases: every argument of every phase looked up once, ready to run on arrays."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from perfmodel.errors import MissingCalibration
from perfmodel.model.compile import CompiledPhase, compiled
from perfmodel.model.compose import Step
from perfmodel.model.families import families, family
from perfmodel.model.families._base import Item, Limit
from perfmodel.model.policies import POLICIES
from perfmodel.spec._base import NamedSpec, Within, within
from perfmodel.spec.hardware import Device
from perfmodel.spec.scenario import Scenario
from perfmodel.symbols import NOMENCLATURE

_SETTLING = 3  # rounds of time and displacement; what further ones would change is told from the last two changes
_STEEPEST = 0.9  # of a change to the one before it, as far as that is trusted
_NOTHING = 1e-30  # seconds; below any change of a mini-batch's time


@dataclasses.dataclass(frozen=True)
class Argument:
    """Where a phase's argument comes from: ``result`` of another phase, or the scenario's value at ``key``."""

    name: str
    key: str = ""


@dataclasses.dataclass(frozen=True)
class Call:
    """One compiled phase with its arguments, for one item or none."""

    phase: CompiledPhase
    arguments: tuple[Argument, ...]


@dataclasses.dataclass(frozen=True)
class BoundPart:
    """A part of a step: its chain once for each item, or once where there are none to tell apart."""

    items: tuple[Item, ...]
    chains: tuple[tuple[Call, ...], ...]


@dataclasses.dataclass(frozen=True)
class BoundStep:
    """A step with all its calls."""

    step: Step
    parts: tuple[BoundPart, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return every call of the step."""
        return tuple(call for part in self.parts for chain in part.chains for call in chain)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run gives; every value a float or an array.

    Attributes
    ----------
    phases : mapping of step name to time [s]
    stages : mapping of step name to the stage that it keeps busy
    time, epoch_time : time of the family's unit and of an epoch [s]
    bytes : mapping of kind to bytes as sent [B]
    memory : mapping of memory step name to need [B]
    energy : energy of the family's unit [J], None where it is not known
    energy_parts : mapping of energy step name to its part [J]
    limits : sequence of Limit
        What may break: needs beside what there is.
    """

    phases: Mapping[str, Any]
    stages: Mapping[str, str]
    time: Any
    epoch_time: Any
    bytes: Mapping[str, Any]
    memory: Mapping[str, Any]
    energy: Any | None
    energy_parts: Mapping[str, Any]
    limits: Sequence[Limit]

    @property
    def feasible(self) -> Any:
        """Return whether every limit is kept."""
        kept: Any = True
        for limit in self.limits:
            kept = np.logical_and(kept, limit.need <= limit.limit)
        return kept

    def columns(self) -> dict[str, Any]:
        """Return the outcome as named columns."""
        total: Any = sum(self.bytes.values())
        found = {"time_s": self.time, "epoch_time_s": self.epoch_time, "bytes.total": total, "feasible": self.feasible}
        if self.energy is not None:
            found["energy_j"] = self.energy
        return found | {f"phases.{name}": time for name, time in self.phases.items()}


class Bound:
    """A scenario ready to run.

    Attributes
    ----------
    numbers : mapping of dotted key to Within
        Keys whose values may be replaced by arrays in ``run``.
    values : mapping of dotted key to float
        Every value that a phase can ask for.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.family, self.plan, self.system = family(scenario), scenario.plan, scenario.system
        self.numbers: dict[str, Within] = {}
        self.values: dict[str, Any] = {}
        for key, mark, value in _numbers_of(scenario, self.family.flattened):
            if value is not None:
                self.numbers[key], self.values[key] = mark, value
        self.values |= self.family.values()
        self.values["batch.time"] = 0.0
        self.steps = tuple(self._bound(step) for step in self.family.steps())
        self.memory_steps = tuple(self._bound(step) for step in self.family.memory_steps())
        self.energy_steps = tuple(self._bound(step) for step in self.family.energy_steps())
        self.batches_per_epoch = self.family.batches_per_epoch
        devices = [spec for _, spec in self.system if isinstance(spec, Device)]
        self.displaces = any(np.isfinite(device.displacement_time) for device in devices)
        if self.displaces:
            self.values["batch.time"] = float(self.run({}).time)

    def _bound(self, step: Step) -> BoundStep:
        parts: list[BoundPart] = []
        results: set[str] = set()
        for part in step.parts:
            phases = [compiled()[name] for name in part.chain]
            results |= {phase.result for phase in phases}
            items = tuple(self.family.items(step, part.each)) if part.each else ()
            stands_for = [
                {"where": step.where, "precision": "", **self.family.names(step, item)}
                for item in (items if part.each else (None,))
            ]
            chains = tuple(
                tuple(
                    Call(phase, tuple(self._argument(name, step, named, results) for name in phase.arguments))
                    for phase in phases
                )
                for named in stands_for
            )
            parts.append(BoundPart(items, chains))
        return BoundStep(step, tuple(parts))

    def _argument(self, name: str, step: Step, named: Mapping[str, str], results: set[str]) -> Argument:
        if name in results or not NOMENCLATURE[name].key:
            return Argument(name)
        own = self.family.key(name, step)
        if own is not None:
            return Argument(name, own)
        template = NOMENCLATURE[name].key
        key = template.format(**named)
        if key not in self.values:
            key = template.replace(".{precision}", "").format(**named)
        if key not in self.values:
            role = self._device_name(step.where)
            rule = f"is needed by {step.name} on {role}, and neither its file nor a profile gives it"
            raise MissingCalibration(key, rule, "nothing", f"--set {key}=VALUE or --profile FILE")
        return Argument(name, key)

    def _device_name(self, where: str) -> str:
        found = getattr(self.system, where, None)
        return found.name if isinstance(found, NamedSpec) else where

    def run(self, changed: Mapping[str, Any], factors: Mapping[str, Any] | None = None) -> Outcome:
        """Evaluate all steps.

        Parameters
        ----------
        changed : mapping of dotted key to float or array
            Laid over the scenario's values; arrays that broadcast to one shape.
        factors : mapping of step name to float or array, optional
            On the times of steps, such as draws of what a fit left over.
        """
        values = {**self.values, **changed}
        if self.displaces:
            values["batch.time"] = self._settled(values)
        phases, sizes, results = self._run_phases(values)
        if factors is not None:
            phases = {name: time * factors.get(name, 1.0) for name, time in phases.items()}
        results["batch_bytes"] = sum(sizes.values())
        memory = {bound.step.name: _run_step(bound, values, results, {}) for bound in self.memory_steps}
        results |= {"total_time": self.composed(phases, values)}
        energy = {bound.step.name: _run_step(bound, values, results, {}) for bound in self.energy_steps}
        return self._outcome(values, phases, sizes, memory, energy)

    def _settled(self, values: dict[str, Any]) -> Any:
        """Return the time of a mini-batch that displaces what makes it take that time.

        From nothing displaced on, each round changes the time by a share of the change before; the shares fall, as what is
        displaced saturates. The rest is taken for a geometric series. Profiles of displacement times above 4 ms settle
        within 0.1 % (tests/phases/test_displacement.py).
        """
        times: list[Any] = [0.0]
        for _ in range(_SETTLING):
            values["batch.time"] = times[-1]
            times.append(self.composed(self._run_phases(values)[0], values))
        before, change = times[-2] - times[-3], times[-1] - times[-2]
        falling = np.maximum(before - change, np.maximum((1.0 - _STEEPEST) * before, _NOTHING))
        return times[-1] + change * change / falling

    def _run_phases(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the time of each step, the bytes of each kind of tensor, and the results that other formulas use."""
        phases: dict[str, Any] = {}
        sizes: dict[str, Any] = {}
        results: dict[str, Any] = self.family.given(values)
        for bound in self.steps:
            phases[bound.step.name] = _run_step(bound, values, results, sizes)
        return phases, sizes, results

    def _outcome(
        self,
        values: Mapping[str, Any],
        phases: dict[str, Any],
        sizes: dict[str, Any],
        memory: dict[str, Any],
        energy: dict[str, Any],
    ) -> Outcome:
        stages = {bound.step.name: bound.step.stage for bound in self.steps}
        time, batches = self.composed(phases, values), self.family.batches_in(values)
        sizes = dict.fromkeys(self.family.sent_kinds, 0.0) | sizes
        total = sum(energy.values()) if energy else self.family.energy(values, time)
        limits = [*self._memory_limits(values, memory), *self.family.limits(values)]
        return Outcome(phases, stages, time, time * batches, sizes, memory, total, energy, limits)

    def _memory_limits(self, values: Mapping[str, Any], memory: Mapping[str, Any]) -> list[Limit]:
        """Return what each device must hold beside what it can."""
        return [
            Limit(
                f"memory.{bound.step.name}",
                memory[bound.step.name],
                values[f"system.{bound.step.where}.memory"],
                "B",
                f"{bound.step.name} on {self._device_name(bound.step.where)} needs more memory than there is",
            )
            for bound in self.memory_steps
        ]

    def composed(self, phases: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> Any:
        """Return the time of a mini-batch from the times of its phases, by the plan's policy; ``values`` as in ``run``."""
        batches = self.batches_per_epoch if values is None else self.family.batches_in(values)
        busy: dict[str, Any] = {}
        for bound in self.steps:
            stage = bound.step.stage
            busy[stage] = busy.get(stage, 0.0) + phases[bound.step.name]
        return POLICIES[self.plan.overlap](busy, batches, np.maximum, self.family.fetch)


def _run_step(bound: BoundStep, values: Mapping[str, Any], given: Mapping[str, Any], sizes: dict[str, Any]) -> Any:
    """Run a step's parts; adds the bytes that are sent to ``sizes`` and returns the last part's result."""
    results = dict(given)
    total: Any = 0.0
    for part, spec in zip(bound.parts, bound.step.parts, strict=True):
        total = 0.0
        results.update(dict.fromkeys(spec.anew, 0.0))
        for position, chain in enumerate(part.chains):
            for call in chain:
                arguments = [values[a.key] if a.key else results[a.name] for a in call.arguments]
                results[call.phase.result] = call.phase.function(*arguments)
            total = total + results[chain[-1].phase.result]
            if spec.counted:
                kind = getattr(part.items[position], "kind", bound.step.name) if spec.each else bound.step.name
                sizes[kind] = sizes.get(kind, 0.0) + results[spec.counted]
        if spec.each:
            results[compiled()[spec.chain[-1]].result] = total
    return total


def _numbers_of(scenario: Scenario, parts: Sequence[str]) -> Iterator[tuple[str, Within, float | None]]:
    """Yield the numbers of a scenario's parts by dotted key, with their unit and bounds; None where one is left out."""
    stack: list[tuple[str, BaseModel]] = [(part, getattr(scenario, part)) for part in reversed(parts)]
    while stack:
        prefix, spec = stack.pop()
        for name, mark in _fields(type(spec)):
            value, key = getattr(spec, name), f"{prefix}.{name}"
            if isinstance(value, BaseModel):
                stack.append((key, value))
            elif mark is not None and (value is None or isinstance(value, float)):
                yield key, mark, value


@functools.cache
def _fields(kind: type[BaseModel]) -> tuple[tuple[str, Within | None], ...]:
    return tuple((name, within(field)) for name, field in kind.model_fields.items())


def number_keys(scenario: Scenario) -> tuple[dict[str, Within], dict[str, Within]]:
    """Return the dotted keys whose values arrays may replace: those that the scenario has, and those that it leaves out."""
    found: tuple[dict[str, Within], dict[str, Within]] = ({}, {})
    for key, mark, value in _numbers_of(scenario, families()[scenario.workload.family].flattened):
        found[value is None][key] = mark
    return found


_BOUND: weakref.WeakKeyDictionary[Scenario, Bound] = weakref.WeakKeyDictionary()


def bind(scenario: Scenario) -> Bound:
    """Return the scenario bound to its phases, built once for each scenario."""
    found = _BOUND.get(scenario)
    if found is None:
        found = _BOUND[scenario] = Bound(scenario)
    return found
