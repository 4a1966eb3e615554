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
from perfmodel.spec.scenario import Scenario

_REMEMBERED = ("draws_remembered",) * 5
_CACHES: Mapping[str, tuple[str, ...]] = {
    "lru scan": ("scan_lru",),
    "pinned scan": ("scan_pinned",),
    "lru drawn": (*_REMEMBERED, *("visits_remembered",) * 4, "drawn_lru"),
    "pinned drawn": (*_REMEMBERED, *("draws_admitted",) * 8, "drawn_pinned"),
}
_FOUND = ("remembered_draws", "remembered_visits", "admitted_draws")
_NODES = Part(("hop_nodes",), "hop")
_TRAFFIC = (Part(("hop_nodes", "summed_nodes"), "hop"), _NODES, Part(("graph_traffic",)))
_FLASH = ("flash_bus", "flash_latency", "flash_throughput", "flash_sharpness", "flash_pace", "device_turns")
_READS = ("hop_nodes", "page_reads", "flash_reads")
_ROWS = Part(("hop_nodes", "pool_rows"), "hop")


@dataclasses.dataclass(frozen=True)
class Hop:
    """One hop of the sampled neighborhood, by each target."""

    name: str
    width: float
    depth: float
    fanout: float


@dataclasses.dataclass(frozen=True)
class Layer:
    """One graph layer's work on one hop, whose nodes it computes from them and their neighbors."""

    name: str
    width: float
    depth: float
    fanout: float
    is_first: float
    is_target: float


class DynamicTraining(Family):
    """A frame: a mini-batch of targets through all snapshots of a window, forward and backward."""

    unit: ClassVar = "frame"
    flattened: ClassVar = ("system", "plan", "workload")
    sent_kinds: ClassVar = ()
    fetch: ClassVar = ("storage",)
    scaled_by: ClassVar = "plan.devices"

    @classmethod
    def of(cls, scenario: Scenario) -> Family:
        """Return a scenario on storage devices and accelerators, or on processes where a core stands for them."""
        from perfmodel.model.families._snapshots_on_cores import SnapshotsOnCores  # which builds on this module

        return (SnapshotsOnCores if scenario.system.storage.kind == "cpu" else cls)(scenario)

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
        writes = Step("writes", (Part(("flash_writes",)),), "storage", "devices" if self._is_near_data else "storage")
        overhead = Step("other", (turns, Part(("snapshot_overhead",))), where, stage)
        if self._is_near_data:
            flash = Step("flash", tuple(self._flash_parts()), where, stage)
            work = (*self._graph_parts(), turns, Part(("graph_work",)))
            fetch = (*self._missing_parts(), *work, _ROWS, Part(("pool_fetch",)))
            pool = (Step("pool", fetch, where, stage),) if self._has_pool else ()
            return (flash, graph, *pool, *self._exchanges(stage), writes, overhead)
        pages = (*self._flash_parts(), Part(_READS, "hop"), _NODES, Part(("block_reads",)))
        copy = (_NODES, turns, Part(("accelerator_copy",)))
        reads = Step("block_reads", pages, "storage", "storage"), Step("copy", copy, "host", "host")
        return (*reads, graph, *self._exchanges(stage), writes, overhead)

    @property
    def _has_pool(self) -> bool:
        return bool(self.plan.pool.policy != "none")

    def _missing_parts(self) -> Iterator[Part]:
        """Yield what the caches of a window's pages and rows lack."""
        access = self.workload.temporal.access
        if self._is_near_data:
            yield Part(("local_room", *_CACHES[f"lru {access}"], "local_misses"), anew=_FOUND)
        if self._has_pool:
            chain = ("pool_room", *_CACHES[f"{self.plan.pool.policy} {access}"], "pool_misses")
            yield Part(chain, anew=_FOUND)

    def _flash_parts(self) -> Iterator[Part]:
        """Yield what reading a frame's pages takes; the last part gives the time."""
        yield from self._missing_parts()
        yield Part(_FLASH)
        if self.system.storage.flash.hop_order == "strict":
            yield Part((*_READS, "flash_hop"), "hop")
        else:
            yield Part((*_READS, "hop_ramp"), "hop")
            yield Part(_READS, "hop")
            yield Part(("flash_stream",))

    def _graph_parts(self) -> tuple[Part, ...]:
        """Return what the graph layers of a snapshot take."""
        return (
            Part(("hop_nodes", "layer_products"), "layer"),
            Part(("hop_nodes", "layer_sums"), "layer"),
            *_TRAFFIC,
        )

    def _exchanges(self, stage: str) -> tuple[Step, ...]:
        """Return the recurrent phase, and what devices hand to one another in it or beside it."""
        where, peer = self._trains, self.plan.exchange == "peer-to-peer"
        cells = Part(("forward_cells", "backward_cells"))
        if self.plan.partition == "snapshot":
            if peer:
                chain = Part(("exchange_peer", "chain_peer"))
                return (
                    Step("recurrence", (cells, chain), where, stage),
                    once("control", "control_plane", "host", stage),
                )
            chain = Part(("exchange_bounced", "chain_bounced", "recurrence_bounced"))
            return (Step("recurrence", (cells, chain), where, stage),)
        local = Step("recurrence", (cells, Part(("chain_local",))), where, stage)
        if self.plan.partition == "frame":
            return (local,)
        rows = Part(("rows_peer" if peer else "rows_bounced",))
        return (Step("neighbors", (_NODES, rows), where, stage), local)

    def memory_steps(self) -> tuple[Step, ...]:
        """Return what devices and host must hold."""
        pages = Part(("hop_nodes", "page_reads"), "hop")
        found = [Step(self._trains, (_NODES, Part(("memory_working_set",))), self._trains, "")]
        if self._has_pool:
            found.append(once("host", "memory_pinned", "host", ""))
        elif not self._is_near_data:
            found.append(Step("host", (pages, _NODES, Part(("memory_batches",))), "host", ""))
        return tuple(found)

    def energy_steps(self) -> tuple[Step, ...]:
        """Return the parts of a frame's energy; none where a device's power is not known."""
        spec = self.system
        if None in (spec.storage.power, spec.link.energy_per_byte, (spec.accelerator or spec.storage).power):
            return ()
        missing, reads = tuple(self._missing_parts()), Part(_READS, "hop")
        found = [
            Step("reads", (*missing, reads, Part(("energy_reads",))), "storage", ""),
            Step("flash_idle", (*self._flash_parts(), Part(("energy_flash_idle",))), "storage", ""),
            Step("device_memory", (*_TRAFFIC, Part(("energy_device_memory",))), self._trains, ""),
            once("devices", "energy_static", "storage", ""),
        ]
        if not self._is_near_data:
            found.append(Step("block_reads", (*missing, reads, _NODES, Part(("energy_block_reads",))), "host", ""))
            found.append(once("accelerators", "energy_static", "accelerator", ""))
        elif self._has_pool:
            found.append(Step("pool", (*missing, _ROWS, Part(("energy_pool",))), "host", ""))
        if self.plan.partition == "snapshot":
            name = "states_peer" if self.plan.exchange == "peer-to-peer" else "states_bounced"
            found.append(once(name, f"energy_{name}", "host", ""))
        return tuple(found)

    @property
    def batches_per_epoch(self) -> float:
        """Return the frames that all targets and all positions of the window make."""
        plan = {"plan.frame_length": self.plan.frame_length, "plan.batch": self.plan.batch}
        workload = self.workload
        graph = {"workload.temporal.snapshots": workload.temporal.snapshots, "workload.nodes": workload.nodes}
        return float(self.batches_in({**plan, **graph}))

    def batches_in(self, values: Mapping[str, Any]) -> Any:
        """Return the frames of an epoch where numbers of the scenario are replaced."""
        windows = np.maximum(values["workload.temporal.snapshots"] - values["plan.frame_length"] + 1.0, 1.0)
        return windows * np.ceil(values["workload.nodes"] / values["plan.batch"])

    @property
    def even_counts(self) -> tuple[float, float]:
        """Return the fewest devices, beyond one, and the most that snapshots, frames or chunks are shared out to evenly."""
        parts = {"snapshot": self.plan.frame_length, "frame": 1.0, "chunk": 4.0}[self.plan.partition]
        many = int(parts * self.plan.frames)
        few = next((count for count in range(2, many) if many % count == 0), 1)
        return float(few), float(max(many, 2))

    def values(self) -> dict[str, float]:
        """Return what follows from names and flags, and the hops and layers of the sampled neighborhood."""
        flash, plan = self.system.storage.flash, self.plan
        found = {
            "plan.row_width": PRECISIONS[plan.precision.features][0],
            "plan.by_frame": float(plan.partition == "frame"),
            "plan.by_chunk": float(plan.partition == "chunk"),
            "plan.is_double_buffered": float(plan.double_buffering),
            "plan.pools_lists": float(plan.pool.keeps == "neighborhoods"),
            "system.is_resident": float(not self.system.loopback),
            "flash.planes_read_alone": float(flash.independent_planes),
            "flash.holds_next_page": float(flash.cache_register),
            "flash.sends_rows": float(flash.transfer == "row"),
        }
        return found | self._item_values()

    def _item_values(self) -> dict[str, float]:
        found: dict[str, float] = {}
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
            Layer(
                f"layer {number + 1} {hop.name}",
                hop.width,
                hop.depth,
                hop.fanout,
                float(number == 0),
                float(not hop.depth),
            )
            for number in range(len(fanout))
            for hop in hops[: len(fanout) - number]
        ]
        return {"hop": hops, "layer": layers}

    def items(self, step: Step, each: str) -> Sequence[Item]:
        """Return the hops or the layers."""
        return self._items[each]

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what nothing is missing from: caches that there are not."""
        return {"local_miss_share": 1.0, "pool_miss_share": 1.0}

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
