"""Dynamic training: what a frame of snapshots goes through, near the data or around the host, and what limits it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from perfmodel.model.compose import Part, Step, once
from perfmodel.model.families._base import Family, Item, Limit
from perfmodel.spec.precision import PRECISIONS

_REACH = ("reach_start", *("reach_step",) * 4)
_CACHES: Mapping[str, tuple[str, ...]] = {
    "lru scan": ("scan_lru",),
    "pinned scan": ("scan_pinned",),
    "lru drawn": (*_REACH, "visits_start", *("visits_step",) * 4, "drawn_lru"),
    "pinned drawn": (*_REACH, "pool_start", *("pool_step",) * 7, "drawn_pinned"),
}
_KNEE = ("knee_start", "knee_step", "flash_sharpness")
_TRAFFIC = (
    Part(("hop_nodes", "summed_nodes"), "hop"),
    Part(("scratchpad_share",)),
    Part(("hop_nodes", "hop_traffic"), "hop"),
    Part(("hop_nodes",), "hop"),
)
_FLASH = ("flash_bus", "flash_latency", "flash_throughput", *_KNEE, "flash_pace", "device_turns")


@dataclasses.dataclass(frozen=True)
class Hop:
    """One hop of the sampled neighborhood, by each target."""

    name: str
    width: float
    depth: float
    fanout: float


@dataclasses.dataclass(frozen=True)
class Layer:
    """One graph layer: nodes that it computes and nodes that it sums up, by each target."""

    name: str
    nodes: float
    sources: float
    is_first: float


class DynamicTraining(Family):
    """A frame: a mini-batch of targets through all snapshots of a window, forward and backward."""

    unit: ClassVar = "frame"
    flattened: ClassVar = ("system", "plan", "workload")
    sent_kinds: ClassVar = ()
    fetch: ClassVar = ("storage",)

    @property
    def _is_near_data(self) -> bool:
        return self.system.accelerator is None

    @property
    def _trains(self) -> str:
        return "storage" if self._is_near_data else "accelerator"

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of a frame in the order of the data."""
        where = self._trains
        stage = "devices" if self._is_near_data else "accelerator"
        turns = Part(("device_turns",))
        graph = Step("graph", (*self._graph_parts(), turns, Part(("graph_work",))), where, stage)
        overhead = Step("other", (turns, Part(("snapshot_overhead",))), where, stage)
        if self._is_near_data:
            flash = Step("flash", tuple(self._flash_parts()), where, stage)
            fetch = (*self._missing_parts(), *self._graph_parts(), turns, Part(("pool_fetch",)))
            pool = (Step("pool", fetch, where, stage),) if self._has_pool else ()
            return (flash, graph, *pool, *self._exchanges(stage), overhead)
        nodes = Part(("hop_nodes",), "hop")
        pages = (*self._flash_parts(), Part(("page_reads",), "hop"), nodes, Part(("block_reads",)))
        copy = (nodes, turns, Part(("accelerator_copy",)))
        reads = Step("block_reads", pages, "storage", "storage"), Step("copy", copy, "host", "host")
        return (*reads, graph, *self._exchanges(stage), overhead)

    @property
    def _has_pool(self) -> bool:
        return bool(self.plan.pool.policy != "none")

    def _missing_parts(self) -> Iterator[Part]:
        """Yield what the caches of a window's pages and rows lack."""
        access = self.workload.temporal.access
        if self._is_near_data:
            yield Part(("local_pages", "local_room", *_CACHES[f"lru {access}"], "local_missing"))
        if self._has_pool:
            yield Part(("pool_rows", "pool_room", *_CACHES[f"{self.plan.pool.policy} {access}"], "pool_missing"))

    def _flash_parts(self) -> Iterator[Part]:
        """Yield what reading a frame's pages takes; the last part gives the time."""
        yield from self._missing_parts()
        yield Part(_FLASH)
        if self.system.storage.flash.hop_order == "strict":
            yield Part(("page_reads", "flash_hop"), "hop")
        else:
            yield Part(("page_reads", "hop_ramp"), "hop")
            yield Part(("page_reads",), "hop")
            yield Part(("flash_stream",))

    def _graph_parts(self) -> tuple[Part, ...]:
        """Return what the graph layers of a snapshot take."""
        return (
            Part(("layer_products",), "layer"),
            Part(("layer_sums",), "layer"),
            *_TRAFFIC,
            Part(("snapshot_graph",)),
        )

    def _exchanges(self, stage: str) -> tuple[Step, ...]:
        """Return the recurrent phase, and what devices hand to one another in it or beside it."""
        where, peer = self._trains, self.plan.exchange == "peer-to-peer"
        cells = Part(("forward_cells", "backward_cells"))
        if self.plan.partition == "snapshot":
            if peer:
                chain = Part(("exchange_peer", "exchange_engine", "chain_peer"))
                return (
                    Step("recurrence", (cells, chain), where, stage),
                    once("control", "control_plane", "host", stage),
                )
            chain = Part(("exchange_bounced", "exchange_link", "exchange_stack", "chain_bounced"))
            delivery = Part(("state_delivery", "recurrence_bounced"))
            return (Step("recurrence", (cells, chain, delivery), where, stage),)
        local = Step("recurrence", (cells, Part(("chain_local",))), where, stage)
        if self.plan.partition == "frame":
            return (local,)
        rows = Part(("remote_rows", "rows_peer" if peer else "rows_bounced"))
        return (Step("neighbors", (Part(("hop_nodes",), "hop"), rows), where, stage), local)

    def memory_steps(self) -> tuple[Step, ...]:
        """Return what devices and host must hold."""
        nodes, pages = Part(("hop_nodes",), "hop"), Part(("page_reads",), "hop")
        found = [Step(self._trains, (nodes, Part(("memory_working_set",))), self._trains, "")]
        if self._has_pool:
            found.append(once("host", "memory_pinned", "host", ""))
        elif not self._is_near_data:
            found.append(Step("host", (nodes, pages, Part(("memory_batches",))), "host", ""))
        return tuple(found)

    def energy_steps(self) -> tuple[Step, ...]:
        """Return the parts of a frame's energy; none where a device's power is not known."""
        spec = self.system
        if None in (spec.storage.power, spec.link.energy_per_byte, (spec.accelerator or spec.storage).power):
            return ()
        missing, nodes, pages = tuple(self._missing_parts()), Part(("hop_nodes",), "hop"), Part(("page_reads",), "hop")
        needs: dict[str, tuple[Part, ...]] = {
            "reads": (*missing, pages),
            "flash_idle": tuple(self._flash_parts()),
            "device_memory": _TRAFFIC,
            "devices": (),
        }
        if not self._is_near_data:
            needs |= {"block_reads": (*missing, pages, nodes), "accelerators": ()}
        elif self._has_pool:
            needs["pool"] = (*missing, nodes)
        if self.plan.partition == "snapshot":
            needs["states_peer" if self.plan.exchange == "peer-to-peer" else "states_bounced"] = ()
        return tuple(Step(name, (*parts, Part((f"energy_{name}",))), self._trains, "") for name, parts in needs.items())

    @property
    def batches_per_epoch(self) -> float:
        """Return the frames that all targets and all positions of the window make."""
        windows = max(self.workload.temporal.snapshots - self.plan.frame_length + 1.0, 1.0)
        return float(windows * np.ceil(self.workload.nodes / self.plan.batch))

    def values(self) -> dict[str, float]:
        """Return what follows from names and flags, and the hops and layers of the sampled neighborhood."""
        flash, plan = self.system.storage.flash, self.plan
        found = {
            "plan.row_width": PRECISIONS[plan.precision.features][0],
            "plan.by_frame": float(plan.partition == "frame"),
            "plan.by_chunk": float(plan.partition == "chunk"),
            "plan.is_double_buffered": float(plan.double_buffering),
            "system.is_resident": float(not self.system.loopback),
            "flash.planes_read_alone": float(flash.independent_planes),
            "flash.holds_next_page": float(flash.cache_register),
            "flash.sends_rows": float(flash.transfer == "row"),
        }
        for each in ("hop", "layer"):
            for item in self._items[each]:
                fields = dataclasses.asdict(item).items()
                found |= {f"batch:{item.name}.{name}": float(value) for name, value in fields if name != "name"}
        return found

    @property
    def _items(self) -> Mapping[str, Sequence[Hop | Layer]]:
        fanout = [float(neighbors) for neighbors in self.workload.fanout]
        widths = list(itertools.accumulate(fanout, lambda width, neighbors: width * neighbors, initial=1.0))
        hops = [
            Hop(f"hop {depth}", width, float(depth), neighbors)
            for depth, (width, neighbors) in enumerate(zip(widths, [*fanout, 0.0], strict=True))
        ]
        layers = [
            Layer(f"layer {number + 1}", sum(widths[: count + 1]), sum(widths[1 : count + 2]), float(number == 0))
            for number, count in enumerate(reversed(range(len(fanout))))
        ]
        return {"hop": hops, "layer": layers}

    def items(self, step: Step, each: str) -> Sequence[Item]:
        """Return the hops or the layers."""
        return self._items[each]

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what nothing is missing from: caches that there are not."""
        return {"local_missing": 1.0, "pool_missing": 1.0}

    def limits(self, values: Mapping[str, Any]) -> list[Limit]:
        """Return the limit of the flash: every node's pages, on each device or shared out."""
        sizes = [values[f"system.storage.flash.{part}"] for part in ("channels", "packages", "dies", "planes")]
        blocks = values["system.storage.flash.blocks"] * values["system.storage.flash.pages"]
        page = values["system.storage.flash.page"]
        row = values["workload.feature_dimension"] * values["plan.row_width"]
        lists = values["workload.edges"] / values["workload.nodes"] * values["workload.id_bytes"]
        need = values["workload.nodes"] * np.ceil((row + lists) / page) * page
        if self.plan.partition == "chunk":
            need = need / values["plan.devices"]
        name = self.system.storage.name
        return [
            Limit("flash", need, np.prod(sizes, axis=0) * blocks * page, "B", f"a snapshot on {name} needs more flash")
        ]

    def counts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return one host, and as many storage devices and accelerators as the plan has devices."""
        many = {"storage": values["plan.devices"], "host": 1.0}
        return many if self._is_near_data else many | {"accelerator": values["plan.devices"]}


FAMILY = DynamicTraining
