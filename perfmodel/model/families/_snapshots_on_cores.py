"""Dynamic training on processes that share cores: snapshots in turn, pages of a file, states over pipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perfmodel.model.compose import Part, Step, once
from perfmodel.model.families._base import Item, Limit
from perfmodel.model.families.dynamic_training import DynamicTraining
from perfmodel.spec.precision import PRECISIONS

#: Gates of each cell, and the matrices that make its state.
_CELLS: Final[Mapping[str, tuple[float, float]]] = {"lstm": (4.0, 2.0), "gru": (3.0, 1.0)}
_PRODUCTS: Final = {"forward": 2.0, "backward": 4.0}


class SnapshotsOnCores(DynamicTraining):
    """A frame on processes of one machine: each stands for a device and computes on a core that it may share."""

    @property
    def _kept(self) -> bool:
        return bool(self.plan.processes.policy == "lru")

    def steps(self) -> tuple[Step, ...]:
        """Return the steps between the signals that processes and their parent exchange."""
        caches = ("scan_lru_apart", "visits_kept") if self._kept else ("scan_pinned_apart", "visits_pinned")
        layers = Part(("graph_on_core",), "layer")
        relayed = self.plan.exchange == "host-bounced"
        chain = Part(
            (
                "cells_on_core", "state_through_parent" if relayed else "state_to_process", "state_handling",
                "chain_on_cores",
            )
        )  # fmt: skip
        graphs = (Part(("file_pages", "process_room", *caches)), layers, Part(("graphs_on_cores",)))
        return (
            Step("graphs", graphs, "storage", "devices"),
            Step("forward", (chain, Part(("forward_on_cores",))), "storage", "devices"),
            Step("backward", (chain, layers, Part(("backward_on_cores",))), "storage", "devices"),
            once("update", "weights_to_processes", "storage", "devices"),
        )

    def memory_steps(self) -> tuple[Step, ...]:
        """Return what all processes hold together."""
        return (Step("storage", (Part(("file_pages", "memory_of_processes")),), "storage", ""),)

    def energy_steps(self) -> tuple[Step, ...]:
        """Return nothing: what a core draws for a process is not known."""
        return ()

    def values(self) -> dict[str, float]:
        """Return what follows from names, and the layers of the sampled neighborhood."""
        gates, parts = _CELLS[self.workload.model.cell]
        return {
            "plan.row_width": PRECISIONS[self.plan.precision.features][0],
            "plan.is_relayed": float(self.plan.exchange == "host-bounced"),
            "system.is_resident": float(not self.system.loopback),
            "cells.gates": gates,
            "cells.parts": parts,
            **{f"cells.{way}.products": products for way, products in _PRODUCTS.items()},
            **self._item_values(),
        }

    def names(self, step: Step, item: Item | None) -> dict[str, str]:
        """Return whose rates hold: of the cell, of the direction, of pages that are read."""
        direct = self.plan.processes.reading == "direct"
        return super().names(step, item) | {
            "cell": self.workload.model.cell,
            "way": "backward" if step.name == "backward" else "forward",
            "kept": "direct" if direct else "buffered",
            "unkept": "direct" if direct else "unkept",
        }

    def limits(self, values: Mapping[str, Any]) -> list[Limit]:
        """Return what this way of running asks for: snapshots shared out, one frame at a time, as many as processes."""
        few = "each process holds a snapshot of the frame at least"
        found = [Limit("devices", values["plan.devices"], values["plan.frame_length"], "", few)]
        if self.plan.partition != "snapshot":
            found.append(Limit("partition", 1.0, 0.0, "", "processes share out snapshots: plan.partition=snapshot"))
        return found

    def counts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return one machine, whatever the number of processes."""
        return {"storage": 1.0, "host": 1.0}
