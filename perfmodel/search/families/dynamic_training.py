"""Dynamic training: what devices share out, how states travel, what the host keeps, how many devices there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.search.families._base import SearchFamily
from perfmodel.search.space import Space

_POOLED = {"when": {"plan.pool.policy": ["pinned", "lru"]}}
_POOLS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0)  # of the host's memory
_DEVICES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


class DynamicTrainingSearch(SearchFamily):
    """A frame of snapshots on storage devices, or around a host."""

    def space(self) -> Space:
        """Return how a frame is shared out, handed on, pooled and kept, on how many devices.

        What a frame holds (its length, its batch) stays as it is: another one is another training, whose frames don't
        compare. So do devices and links, the fastest of which always wins. A space of one's own may name them all.
        """
        parameters = self._on_cores() if self.scenario.system.storage.kind == "cpu" else self._on_devices()
        return Space.of({"name": "default space", "parameters": parameters})

    def _on_devices(self) -> dict[str, Any]:
        memory = self.scenario.system.host.memory
        return {
            "plan.partition": ["snapshot", "frame", "chunk"],
            "plan.exchange": {
                "values": ["host-bounced", "peer-to-peer"], "when": {"plan.partition": ["snapshot", "chunk"]},
            },
            "plan.pool.policy": ["none", "pinned", "lru"],
            "plan.pool.keeps": {"values": ["neighborhoods", "rows"], **_POOLED},
            "plan.double_buffering": {"values": [True, False], **_POOLED},
            "plan.overlap": {"values": ["sum", "pipelined", "overlap"], "needs": ["system.accelerator"]},
            "plan.precision.features": ["fp16", "fp32"],
            "plan.devices": _DEVICES,
            "plan.frames": [1, 2, 4, 8, 16, 32, 64, 128],
            "plan.pool.size": {"values": [share * memory for share in _POOLS], **_POOLED},
        }  # fmt: skip

    def _on_cores(self) -> dict[str, Any]:
        return {
            "plan.exchange": ["host-bounced", "peer-to-peer"],
            "plan.processes.policy": ["pinned", "lru"],
            "plan.processes.reading": ["buffered", "direct"],
            "plan.devices": [count for count in _DEVICES if count <= max(self.scenario.plan.frame_length, 1)],
            "plan.processes.cache": {"low": "1 MiB", "high": "1 GiB", "factor": 2},
        }

    def placements(self) -> tuple[str, ...]:
        """Return what is shared out, how states travel, and what is kept."""
        return ("plan.partition", "plan.exchange", "plan.pool.policy", "plan.processes.policy")

    def switches(self) -> Mapping[str, str]:
        """Return device count, links, what a state takes on either way, and the width of the chain's states."""
        return {
            "plan.devices": "devices",
            "system.link.bandwidth": "device link bandwidth",
            "system.uplink.bandwidth": "uplink bandwidth",
            "system.storage.peer.time_per_message": "message to a peer",
            "system.host.stack.time_per_pass": "pass through the host's software",
            "workload.model.hidden": "hidden width",
        }


FAMILY = DynamicTrainingSearch
