"""A scenario bound to its compiled phases: every argument of every phase looked up once, ready to run on arrays."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from perfmodel.errors import MissingCalibration
from perfmodel.graph.from_spec import BatchQuantities, Item, Tensor, frontier, neighborhood, sampled_batch
from perfmodel.model.compile import CompiledPhase, compiled
from perfmodel.model.compose import Step, memory_steps, steps
from perfmodel.model.gnn_work import work
from perfmodel.model.policies import POLICIES
from perfmodel.spec._base import NamedSpec, Within, within
from perfmodel.spec.graph import Graph
from perfmodel.spec.plan import PRECISIONS
from perfmodel.spec.scenario import Scenario
from perfmodel.symbols import NOMENCLATURE

_BATCHES: Mapping[str, Callable[[Any], BatchQuantities]] = {
    "batch": sampled_batch,
    "neighborhood": neighborhood,
    "frontier": frontier,
}
_SETTLING = 2  # rounds of time and displacement: each changes the time by less than a tenth of the last change
_INDEX_WIDTH = {"int32": 4.0, "int64": 8.0}


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
class Limit:
    """A need beside its limit, in one unit; floats or arrays."""

    rule: str
    need: Any
    limit: Any
    unit: str
    message: str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run gives; every value a float or an array.

    Attributes
    ----------
    phases : mapping of step name to time [s]
    stages : mapping of step name to the stage that it keeps busy
    time, epoch_time : time of a mini-batch and of an epoch [s]
    bytes : mapping of tensor kind to bytes as sent [B]
    memory : mapping of memory step name to need [B]
    limits : sequence of Limit
        What may break: needs beside what there is.
    """

    phases: Mapping[str, Any]
    stages: Mapping[str, str]
    time: Any
    epoch_time: Any
    bytes: Mapping[str, Any]
    memory: Mapping[str, Any]
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
        self.workload, self.plan, self.system = scenario.workload, scenario.plan, scenario.system
        self.numbers: dict[str, Within] = {}
        self.values: dict[str, Any] = {}
        for part in ("system", "plan"):
            self._collect(part, getattr(scenario, part))
        self.steps_taken = steps(scenario)
        self.batches = {name: _BATCHES[name](scenario.workload) for name in self._batches_needed()}
        for name, batch in self.batches.items():
            self.values |= batch_values(name, batch)
        self._derive()
        self.values["batch.time"] = 0.0
        self.steps = tuple(self._bound(step) for step in self.steps_taken)
        self.memory_steps = tuple(self._bound(step) for step in memory_steps(scenario))
        seeds = scenario.workload.sampling.seeds.nodes
        self.batches_per_epoch = float(np.ceil(seeds / scenario.workload.sampling.batch))
        self.displaces = any(
            np.isfinite(getattr(self.system, role).displacement_time) for role in ("memory_node", "compute_node", "gpu")
        )
        if self.displaces:
            self.values["batch.time"] = float(self.run({}).time)

    def _batches_needed(self) -> list[str]:
        return sorted({"batch", *(step.batch for step in self.steps_taken)})

    def _collect(self, prefix: str, spec: BaseModel) -> None:
        """Flatten a spec's numbers to dotted keys."""
        for name, field in type(spec).model_fields.items():
            value, key = getattr(spec, name), f"{prefix}.{name}"
            if isinstance(value, BaseModel):
                self._collect(key, value)
                continue
            mark = within(field)
            if mark is not None and isinstance(value, float):
                self.numbers[key] = mark
                self.values[key] = value

    def _derive(self) -> None:
        """Work out what follows from names in the plan: widths, flags, the work of training."""
        plan, workload = self.plan, self.workload
        stored = workload.graph.feature_precision
        early = plan.placement.quantization == "memory-node" and self.system.link is not None
        narrower = PRECISIONS[plan.precision.features] < PRECISIONS[stored]
        chosen = plan.precision.features if narrower and self.system.link is not None else stored
        self.sent_precision = chosen
        sent_precision = chosen if early else stored
        self.sent_width = dict(zip(("features", "scale"), PRECISIONS[sent_precision], strict=True))
        self.values["plan.is_quantized"] = float(chosen != stored)
        done = work(workload, self.batches["batch"])
        self.values |= done.values() | graph_values(workload.graph, workload.label_width)
        self.values["plan.index_width"] = _INDEX_WIDTH[plan.precision.index]
        many = self.values["graph.edges"] > 2**31 - 1
        self.values["plan.offset_width"] = 8.0 if many else self.values["plan.index_width"]
        copied = stored if early else chosen
        self.values["copied.width"], self.values["copied.scale"] = PRECISIONS[copied]

    def _bound(self, step: Step) -> BoundStep:
        parts: list[BoundPart] = []
        results: set[str] = set()
        for part in step.parts:
            phases = [compiled()[name] for name in part.chain]
            results |= {phase.result for phase in phases}
            items = self.batches[step.batch].items(part.each) if part.each else ()
            chains = tuple(
                tuple(
                    Call(phase, tuple(self._argument(name, step, item, results) for name in phase.arguments))
                    for phase in phases
                )
                for item in (items if part.each else (None,))
            )
            parts.append(BoundPart(items, chains))
        return BoundStep(step, tuple(parts))

    def _argument(self, name: str, step: Step, item: Item | None, results: set[str]) -> Argument:
        if name in results or not NOMENCLATURE[name].key:
            return Argument(name)
        label, kind = (f"{step.batch}:{item.name}" if item is not None else ""), getattr(item, "kind", "")
        if name == "devices" and (step.where == "compute_node" or self.system.link is None):
            self.values["compute_node.devices"] = 1.0  # memory nodes share their own work, never the compute node's
            return Argument(name, "compute_node.devices")
        template = NOMENCLATURE[name].key
        named = {
            "where": step.where,
            "batch": step.batch,
            "item": label,
            "kind": kind,
            "precision": self.sent_precision,
        }
        key = template.format(**named)
        if key not in self.values:
            key = template.replace(".{precision}", "").format(**named)
        if isinstance(item, Tensor):
            self._tensor_widths(label, item)
        if key not in self.values:
            role = self._device_name(step.where)
            rule = f"is needed by {step.name} on {role}, and neither its file nor a profile gives it"
            raise MissingCalibration(key, rule, "nothing", f"--set {key}=VALUE or --profile FILE")
        return Argument(name, key)

    def _tensor_widths(self, label: str, tensor: Tensor) -> None:
        widths = {
            "features": self.sent_width["features"],
            "edge_index": _INDEX_WIDTH[self.plan.precision.index],
            "labels": self.workload.label_width,
        }
        self.values[f"{label}.width"] = widths[tensor.kind]
        self.values[f"{label}.scale_bytes"] = self.sent_width["scale"] if tensor.kind == "features" else 0.0

    def _device_name(self, where: str) -> str:
        found = getattr(self.system, where, None)
        return found.name if isinstance(found, NamedSpec) else where

    def run(self, changed: Mapping[str, Any]) -> Outcome:
        """Evaluate all steps.

        Parameters
        ----------
        changed : mapping of dotted key to float or array
            Laid over the scenario's values; arrays of one shape.
        """
        values = {**self.values, **changed}
        if self.displaces:  # how much is displaced depends on the time, and the time on what is displaced
            values["batch.time"] = 0.0
            for _ in range(_SETTLING):
                values["batch.time"] = self.composed(self._run_phases(values)[0])
        phases, sizes, results = self._run_phases(values)
        results["batch_bytes"] = sum(sizes.values())
        memory = {bound.step.name: _run_step(bound, values, results, {}) for bound in self.memory_steps}
        return self._outcome(values, phases, sizes, memory)

    def _run_phases(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the time of each step, the bytes of each kind of tensor, and the results that other formulas use."""
        phases: dict[str, Any] = {}
        sizes: dict[str, Any] = {}
        results: dict[str, Any] = {"decoded_bytes": self._decoded(values)}
        for bound in self.steps:
            phases[bound.step.name] = _run_step(bound, values, results, sizes)
        return phases, sizes, results

    def _decoded(self, values: Mapping[str, Any]) -> Any:
        """Return the bytes of the mini-batch as they are copied to the GPU."""
        total: Any = 0.0
        for tensor in self.batches["batch"].tensors:
            elements, rows = (values[f"batch:{tensor.name}.{field}"] for field in ("elements", "rows"))
            if tensor.kind == "features":
                total = total + elements * values["copied.width"] + rows * values["copied.scale"]
            else:
                total = total + elements * (
                    _INDEX_WIDTH["int64"] if tensor.kind == "edge_index" else self.workload.label_width
                )
        return total

    def _outcome(
        self, values: Mapping[str, Any], phases: dict[str, Any], sizes: dict[str, Any], memory: dict[str, Any]
    ) -> Outcome:
        stages = {bound.step.name: bound.step.stage for bound in self.steps}
        time = self.composed(phases)
        sizes = {kind: sizes.get(kind, 0.0) for kind in ("features", "edge_index", "labels")}
        return Outcome(phases, stages, time, time * self.batches_per_epoch, sizes, memory, self._limits(values, memory))

    def _limits(self, values: Mapping[str, Any], memory: Mapping[str, Any]) -> list[Limit]:
        """Return every limit of the system beside what the plan needs."""
        found = [
            Limit(
                f"memory.{bound.step.name}",
                memory[bound.step.name],
                values[f"system.{bound.step.where}.memory"],
                "B",
                f"{bound.step.name} on {self._device_name(bound.step.where)} needs more memory than there is",
            )
            for bound in self.memory_steps
        ]
        link = self.system.link
        if link is not None:
            chunk, most = values["plan.transfer.chunk"], values["system.link.max_chunk"]
            found.append(Limit("transfer.chunk", chunk, most, "B", f"{link.name} takes no larger chunk"))
        else:
            found.append(
                Limit("devices", values["plan.devices"], 1.0, "", "a system without a link has one memory node")
            )
        if self.plan.precision.index == "int32":
            largest = max(node_type.nodes for node_type in self.workload.graph.node_types.values())
            found.append(Limit("precision.index", largest, 2.0**31 - 1, "", "node ids need int64"))
        return found

    def composed(self, phases: Mapping[str, Any]) -> Any:
        """Return the time of a mini-batch from the times of its phases, by the plan's policy."""
        busy: dict[str, Any] = {}
        for bound in self.steps:
            stage = bound.step.stage
            busy[stage] = busy.get(stage, 0.0) + phases[bound.step.name]
        return POLICIES[self.plan.overlap](busy, self.batches_per_epoch, np.maximum)


def _run_step(bound: BoundStep, values: Mapping[str, Any], given: Mapping[str, Any], sizes: dict[str, Any]) -> Any:
    """Run a step's parts; adds the tensors' bytes to ``sizes`` and returns the last part's result."""
    results = dict(given)
    total: Any = 0.0
    for part, spec in zip(bound.parts, bound.step.parts, strict=True):
        total = 0.0
        for position, chain in enumerate(part.chains):
            for call in chain:
                arguments = [values[a.key] if a.key else results[a.name] for a in call.arguments]
                results[call.phase.result] = call.phase.function(*arguments)
            total = total + results[chain[-1].phase.result]
            if spec.each == "tensor":
                kind = part.items[position].kind  # type: ignore[union-attr]
                sizes[kind] = sizes.get(kind, 0.0) + results["tensor_bytes"]
        if spec.each:
            results[compiled()[spec.chain[-1]].result] = total
    return total


def batch_values(name: str, batch: BatchQuantities) -> dict[str, float]:
    """Return a mini-batch's numbers by dotted key."""
    values = {f"{name}.{field}": value for field, value in batch.values().items()}
    items: tuple[Item, ...] = (*batch.node_types, *batch.relations, *batch.tables, *batch.tensors)
    for item in items:
        for field, value in dataclasses.asdict(item).items():
            if isinstance(value, float):
                values[f"{name}:{item.name}.{field}"] = value
    return values


def graph_values(graph: Graph, label_width: float) -> dict[str, float]:
    """Return the sizes of a whole graph by the keys that formulas use."""
    width, scale = PRECISIONS[graph.feature_precision]
    types = graph.node_types
    return {
        "graph.feature_bytes": sum(
            t.nodes * (t.feature_dimension * width + scale) for t in types.values() if t.feature_dimension
        ),
        "graph.label_bytes": label_width * max(t.nodes for t in types.values()),
        "graph.edges": sum(relation.edges for relation in graph.relations),
        "graph.targets": sum(types[relation.target].nodes + 1.0 for relation in graph.relations),
    }


_BOUND: weakref.WeakKeyDictionary[Scenario, Bound] = weakref.WeakKeyDictionary()


def bind(scenario: Scenario) -> Bound:
    """Return the scenario bound to its phases, built once for each scenario."""
    found = _BOUND.get(scenario)
    if found is None:
        found = _BOUND[scenario] = Bound(scenario)
    return found
