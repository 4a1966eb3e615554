"""Dynamic training: what devices share out, how states travel, what the host keeps, how many devices there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.search.families._base import SearchFamily
from perfmodel.search.space import Space


class DynamicTrainingSearch(SearchFamily):
    """A frame of snapshots on storage devices, or around a host."""

    def space(self) -> Space:
        """Return partitions, exchanges, pools, devices and frames in flight; what a frame holds stays as it is."""
        parameters: dict[str, Any] = {
            "plan.partition": ["snapshot", "frame", "chunk"],
            "plan.exchange": {
                "values": ["host-bounced", "peer-to-peer"], "when": {"plan.partition": ["snapshot", "chunk"]},
            },
            "plan.pool.policy": {"values": ["none", "pinned", "lru"]},
            "plan.double_buffering": {"values": [True, False], "when": {"plan.pool.policy": ["pinned", "lru"]}},
            "plan.devices": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32],
            "plan.frames": [1, 2, 4, 8, 16, 32, 64, 128],
        }  # fmt: skip
        return Space.of({"name": "default space", "parameters": parameters})

    def placements(self) -> tuple[str, ...]:
        """Return what is shared out, how states travel, and what the host keeps."""
        return ("plan.partition", "plan.exchange", "plan.pool.policy")

    def switches(self) -> Mapping[str, str]:
        """Return device count, links and the width of the chain's states."""
        return {
            "plan.devices": "devices",
            "system.link.bandwidth": "device link bandwidth",
            "system.uplink.bandwidth": "uplink bandwidth",
            "workload.model.hidden": "hidden width",
        }


FAMILY = DynamicTrainingSearch
