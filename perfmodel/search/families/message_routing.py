"""Message routing: who routes, over how many hops, with how many threads, in which buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.search.families._base import SearchFamily
from perfmodel.search.space import Space


class MessageRoutingSearch(SearchFamily):
    """Application processes that send messages to each other, on several like nodes."""

    def space(self) -> Space:
        """Return what routes, hops, threads of the agent, buffers and what may be underway; nodes stay as they are."""
        agent, offloaded = {"needs": ["system.agent"]}, {"when": {"plan.placement.routing": "agent"}}
        parameters: dict[str, Any] = {
            "plan.placement.routing": {"values": ["application", "agent"], **agent},
            "plan.hops": [1, 2],
            "plan.threads": {"values": self._threads(), **agent, **offloaded},
            "plan.window": {"values": [1, 2, 4, 8, 16, 32, 64], **agent, **offloaded},
            "plan.buffer_size": {"low": "1 KiB", "high": "1 MiB", "factor": 2},
            "plan.outstanding": [1, 4, 16, 64, 128, 256, 512],
        }
        return Space.of({"name": "default space", "parameters": parameters})

    def _threads(self) -> list[float]:
        """Return thread counts up to the agent's cores."""
        agent = self.scenario.system.agent
        most = 1.0 if agent is None else agent.cores
        return sorted({count for count in (1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0) if count < most} | {most})

    def no_offload(self) -> Mapping[str, Any]:
        """Return routing by the application."""
        return {"plan.placement.routing": "application"} if self.scenario.system.agent else {}

    def switches(self) -> Mapping[str, str]:
        """Return Buddy's ratio, the size of messages, nodes and the network."""
        return {
            "workload.memory_ratio": "memory to communication",
            "workload.message_size": "message size",
            "plan.nodes": "nodes",
            "system.link.bandwidth": "network bandwidth",
        }


FAMILY = MessageRoutingSearch
