"""Sampled training: where sampling and quantization run, how tensors are sent, on how many memory nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.search.families._base import SearchFamily, Turned
from perfmodel.search.space import Space

_ACCURATE = "accuracy_loss <= 0.01"
_GRAPH = "workload.graph.nodes"
_NODES = ["memory-node", "compute-node"]


class SampledTrainingSearch(SearchFamily):
    """A mini-batch drawn beside remote memory, sent over a link, and trained on."""

    def space(self) -> Space:
        """Return placements, precisions, chunks, window, workers, memory nodes, and fanouts of known accuracy."""
        link = self.scenario.system.link
        there = {"needs": ["system.link"]}
        largest = 2.0**20 if link is None else min(link.max_chunk, 2.0**26)
        parameters: dict[str, Any] = {
            "plan.placement.sampling": {"values": _NODES, **there},
            "plan.placement.quantization": {"values": _NODES, **there},
            "plan.fetch": {
                "values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}, **there,
            },
            "plan.precision.features": {"values": ["fp32", "fp16"], **there},
            "plan.precision.index": ["int32", "int64"],
            "plan.overlap": ["sum", "pipelined", "overlap"],
            "plan.devices": {"values": [1, 2, 3, 4, 6, 8], **there},
            "plan.workers": {"values": [0, 1, 2, 3, 4, 6, 8]},
            "plan.transfer.window": {"values": [1, 2, 4, 8, 16, 32], **there},
            "plan.transfer.chunk": {"low": "4 KiB", "high": largest, "factor": 2, **there},
        }  # fmt: skip
        if not self._known():
            return Space.of({"name": "default space", "parameters": parameters})
        parameters = {"workload.sampling.fanout": self._fanouts(), **parameters}
        return Space.of({"name": "default space", "parameters": parameters, "constraints": [_ACCURATE]})

    def _known(self) -> bool:
        """Return whether the accuracy of the workload's own fanout was measured."""
        return f"{self._fanout()} fp32" in self.scenario.workload.accuracy

    def _fanout(self) -> str:
        return ",".join(map(str, self.scenario.workload.sampling.fanout))

    def _fanouts(self) -> list[str]:
        """Return the workload's fanout, and those of known accuracy that its model has layers for."""
        layers = self.scenario.workload.model.layers
        known = (key.split()[0] for key in self.scenario.workload.accuracy)
        fits = [text for text in known if layers is None or len(text.split(",")) <= layers]
        return list(dict.fromkeys([self._fanout(), *fits]))

    def results(self) -> tuple[str, ...]:
        """Return test accuracy, and how far it is below the best that was measured for the workload."""
        return ("accuracy", "accuracy_loss") if self.scenario.workload.accuracy else ()

    def result(self, name: str) -> float:
        """Return one of them; the loss of what no one measured is infinite."""
        accuracy = self.scenario.workload.accuracy
        precision = self.model.names(self.model.steps()[0], None)["precision"]
        own = accuracy.get(f"{self._fanout()} {precision}")
        if name == "accuracy":
            return 0.0 if own is None else own
        return float("inf") if own is None else max(accuracy.values()) - own

    def no_offload(self) -> Mapping[str, Any]:
        """Return a compute node that samples and rounds by itself; what it fetches is left to the search."""
        keys = ("plan.placement.sampling", "plan.placement.quantization")
        return dict.fromkeys(keys, "compute-node") if self.scenario.system.link else {}

    def switches(self) -> Mapping[str, str]:
        """Return what may tip a placement: the link, the memory nodes, the mini-batch and the graph."""
        found = {"workload.sampling.batch": "mini-batch", _GRAPH: "graph size at the same degrees"}
        link = {"system.link.bandwidth": "link bandwidth", "plan.devices": "memory nodes"}
        return {**link, **found} if self.scenario.system.link else found

    def turned(self, key: str) -> Turned | None:
        """Return the number behind a key; of the graph, all its nodes."""
        if key != _GRAPH:
            return super().turned(key)
        return Turned(self._nodes(), "node", 1.0, 1e15)

    def turn(self, key: str, value: float) -> Mapping[str, Any]:
        """Return the changes that give a key another value; a larger graph has more nodes, edges and seeds alike."""
        if key != _GRAPH:
            return super().turn(key, value)
        workload, factor = self.scenario.workload, value / self._nodes()
        types = workload.graph.node_types
        found: dict[str, Any] = {
            f"workload.graph.node_types.{name}.nodes": node_type.nodes * factor for name, node_type in types.items()
        }
        found["workload.graph.relations"] = [
            {**relation.model_dump(), "edges": relation.edges * factor} for relation in workload.graph.relations
        ]
        found["workload.sampling.seeds.nodes"] = workload.sampling.seeds.nodes * factor
        return found

    def _nodes(self) -> float:
        return float(sum(node_type.nodes for node_type in self.scenario.workload.graph.node_types.values()))


FAMILY = SampledTrainingSearch
