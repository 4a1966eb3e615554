"""Sampled training: what a mini-batch goes through from the memory node to trained weights, and what limits it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from perfmodel.graph.from_spec import BatchQuantities, Tensor, frontier, neighborhood, sampled_batch
from perfmodel.graph.from_spec import Item as BatchItem
from perfmodel.model.compose import Part, Step, once
from perfmodel.model.families._base import Family, Item, Limit
from perfmodel.model.gnn_work import work
from perfmodel.spec.graph import Graph
from perfmodel.spec.precision import PRECISIONS

_BATCHES: Mapping[str, Callable[[Any], BatchQuantities]] = {
    "batch": sampled_batch,
    "neighborhood": neighborhood,
    "frontier": frontier,
}
_INDEX_WIDTH = {"int32": 4.0, "int64": 8.0}
_SAMPLING = (
    Part(("renaming",), "node_type"),
    Part(("drawing",), "relation"),
    Part(("gathering",), "table"),
    Part(("sampling",)),
)


class SampledTraining(Family):
    """A mini-batch drawn beside remote memory, sent over a link, and trained on."""

    sent_kinds: ClassVar = ("features", "edge_index", "labels")
    fetch: ClassVar = ("memory_node", "link")
    transfer_steps: ClassVar = frozenset({"quantization", "transfer", "dequantization"})
    # a fit sees them only together with sampling, as the rest of an execution time
    seen_with_others: ClassVar = frozenset({"gpu_copy", "training"})

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of a mini-batch in the order of the data."""
        link = self.system.link
        if link is None:
            return (Step("sampling", _SAMPLING, "compute_node", "memory_node"), *self._training())
        sent, early = self._sent, self._rounded_early
        named = "sampling" if sent == "batch" else f"{sent}_lookup"
        found = [Step(named, _SAMPLING, "memory_node", "memory_node", sent)]
        if early:
            found.append(once("quantization", "quantization", "memory_node", "memory_node", sent))
        sending = {"preallocated": "transfer", "regrown": "transfer_regrown"}[link.aggregation]
        chunks = Part(("tensor_volume", f"aggregation_{link.aggregation}", sending), "tensor", "tensor_bytes")
        parts = (chunks, Part(("sending",))) if link.restart_time > 0 else (chunks,)
        found.append(Step("transfer", parts, "link", "link", sent))
        if early:
            found.append(once("dequantization", "dequantization", "compute_node", "compute_node", sent))
        if sent == "neighborhood":
            found.append(once("indexing", "indexing", "compute_node", "compute_node", sent))
        if sent != "batch":
            found.append(Step("sampling", _SAMPLING, "compute_node", "compute_node"))
        if not early:
            found.append(once("quantization", "quantization", "compute_node", "compute_node"))
        return (*found, *self._training())

    def _training(self) -> tuple[Step, ...]:
        """Return the steps from the compute node's memory to trained weights."""
        on_core = self.system.gpu.kind == "cpu"
        trains = once("training", "training_on_core" if on_core else "training", "gpu", "gpu")
        if self.system.gpu_link is None:
            return (trains,)
        return (once("gpu_copy", "gpu_copy", "gpu", "compute_node"), trains)

    def memory_steps(self) -> tuple[Step, ...]:
        """Return what each device must hold."""
        plan, local = self.plan, self.system.link is None
        held = Part(("memory_graph", "memory_sampling"))
        found = [Step("memory_node", (held,), "memory_node", "", "batch" if local else self._sent)]
        if not local:
            found.append(once("compute_node", "memory_buffers", "compute_node", ""))
        if plan.preprocessing.feature_copies or plan.preprocessing.edge_copies:
            found.append(once("preprocessing", "memory_preprocessing", "memory_node", ""))
        return (*found, once("gpu", "memory_training", "gpu", ""))

    @property
    def _sent(self) -> str:
        return "batch" if self.plan.placement.sampling == "memory-node" else str(self.plan.fetch)

    @property
    def _rounded_early(self) -> bool:
        return bool(self.plan.placement.quantization == "memory-node")

    @property
    def batches_per_epoch(self) -> float:
        """Return the mini-batches that all seeds make."""
        return float(np.ceil(self.workload.sampling.seeds.nodes / self.workload.sampling.batch))

    @functools.cached_property
    def batches(self) -> Mapping[str, BatchQuantities]:
        """Return what the steps work on, by name."""
        needed = sorted({"batch", *(step.batch for step in self.steps())})
        return {name: _BATCHES[name](self.workload) for name in needed}

    @property
    def nodes(self) -> float:
        """Return the nodes of the mini-batch."""
        return self.batches["batch"].nodes

    @property
    def edges(self) -> float:
        """Return the edges of the mini-batch."""
        return self.batches["batch"].edges

    @property
    def _chosen_precision(self) -> str:
        """Return the precision that features are turned into: no wider than they are stored."""
        plan, stored = self.plan, self.workload.graph.feature_precision
        narrower = PRECISIONS[plan.precision.features] < PRECISIONS[stored]
        return str(plan.precision.features if narrower and self.system.link is not None else stored)

    def values(self) -> dict[str, float]:
        """Return what follows from names in the plan (widths, flags), the mini-batch, and the work of training."""
        plan, workload = self.plan, self.workload
        stored, chosen = workload.graph.feature_precision, self._chosen_precision
        early = self._rounded_early and self.system.link is not None
        found = self.workload_values() | work(workload, self.batches["batch"]).values()
        found |= graph_values(workload.graph, workload.label_width)
        found["plan.is_quantized"] = float(chosen != stored)
        found["plan.index_width"] = _INDEX_WIDTH[plan.precision.index]
        many = found["graph.edges"] > 2**31 - 1
        found["plan.offset_width"] = 8.0 if many else found["plan.index_width"]
        found["copied.width"], found["copied.scale"] = PRECISIONS[stored if early else chosen]
        found["compute_node.devices"] = 1.0
        width, scale = PRECISIONS[chosen if early else stored]
        widths = {"features": width, "edge_index": found["plan.index_width"], "labels": workload.label_width}
        for name, batch in self.batches.items():
            for tensor in batch.tensors:
                found[f"{name}:{tensor.name}.width"] = widths[tensor.kind]
                found[f"{name}:{tensor.name}.scale_bytes"] = scale if tensor.kind == "features" else 0.0
        return found

    def workload_values(self) -> dict[str, float]:
        """Return the quantities of the mini-batches."""
        return {key: value for name, batch in self.batches.items() for key, value in _batch_values(name, batch).items()}

    def items(self, step: Step, each: str) -> Sequence[BatchItem]:
        """Return the node types, relations, tables or tensors of what a step works on."""
        return self.batches[step.batch].items(each)

    def names(self, step: Step, item: Item | None) -> dict[str, str]:
        """Return the item, its kind, and the precision that features are sent in."""
        kind = item.kind if isinstance(item, Tensor) else ""
        return super().names(step, item) | {"kind": kind, "precision": self._chosen_precision}

    def key(self, quantity: str, step: Step) -> str | None:
        """Memory nodes share their own work, never the compute node's."""
        alone = step.where == "compute_node" or self.system.link is None
        return "compute_node.devices" if quantity == "devices" and alone else None

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the bytes of the mini-batch as they are copied to the GPU."""
        total: Any = 0.0
        for tensor in self.batches["batch"].tensors:
            elements, rows = (values[f"batch:{tensor.name}.{field}"] for field in ("elements", "rows"))
            if tensor.kind == "features":
                total = total + elements * values["copied.width"] + rows * values["copied.scale"]
            else:
                width = _INDEX_WIDTH["int64"] if tensor.kind == "edge_index" else self.workload.label_width
                total = total + elements * width
        return {"decoded_bytes": total}

    def limits(self, values: Mapping[str, Any]) -> list[Limit]:
        """Return the limits of the link and of the index width."""
        link, found = self.system.link, []
        if link is not None:
            chunk, most = values["plan.transfer.chunk"], values["system.link.max_chunk"]
            found.append(Limit("transfer.chunk", chunk, most, "B", f"{link.name} takes no larger chunk"))
        else:
            one = "a system without a link has one memory node"
            found.append(Limit("devices", values["plan.devices"], 1.0, "", one))
        if self.plan.precision.index == "int32":
            largest = max(node_type.nodes for node_type in self.workload.graph.node_types.values())
            found.append(Limit("precision.index", largest, 2.0**31 - 1, "", "node ids need int64"))
        return found

    def counts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the devices of each role; without a link nothing stands beside the compute node."""
        found: dict[str, Any] = {"compute_node": 1.0, "gpu": 1.0}
        return found if self.system.link is None else found | {"memory_node": values["plan.devices"]}

    def energy(self, values: Mapping[str, Any], time: Any) -> Any | None:
        """Return time times the power of all devices, where each is known."""
        counts = self.counts(values)
        if any(f"system.{role}.power" not in values for role in counts):
            return None
        return time * sum(values[f"system.{role}.power"] * count for role, count in counts.items())


FAMILY = SampledTraining


def _batch_values(name: str, batch: BatchQuantities) -> dict[str, float]:
    """Return a mini-batch's numbers by dotted key."""
    values = {f"{name}.{field}": value for field, value in batch.values().items()}
    items: tuple[BatchItem, ...] = (*batch.node_types, *batch.relations, *batch.tables, *batch.tensors)
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
