"""Message routing: what a run of fire-and-forget messages keeps busy, with and without an agent, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from perfmodel.errors import SpecError
from perfmodel.model.compose import Part, Step, once
from perfmodel.model.families._base import Family, Limit
from perfmodel.spec.scenario import Scenario

_ROUTING = ("transfers", "routing_work")
_APPLICATION = ("memory_work", "emission", "handing_over")


class MessageRouting(Family):
    """Application processes that send messages to each other, on several like nodes."""

    unit: ClassVar[str] = "run"
    flattened: ClassVar = ("system", "plan", "workload")
    # the published ratios are those of the slowest stage, which on the DPU is its memory
    seen_with_others: ClassVar = frozenset({"agent_memory"})

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        if self.offloaded and self.system.agent is None:
            raise SpecError(
                "plan.placement.routing",
                f"must be application on a system without an agent, such as {self.system.name}",
                "agent",
                "application",
            )

    @property
    def offloaded(self) -> bool:
        """Return whether an agent routes the messages."""
        return bool(self.plan.placement.routing == "agent")

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of a run; each stage is one thing that may be the slowest."""
        work = (
            once("memory_work", "memory_work", "host", "application"),
            once("emission", "emission", "host", "application"),
        )
        network = (
            Step("network", (Part(("transfers", "network_bytes", "network"), "", "sent_bytes"),), "link", "network"),
            Step("transfer_window", (Part(("transfers", "transfer_window")),), "link", "transfer_window"),
        )
        if not self.offloaded:
            inline = Step("routing", (Part((*_ROUTING, "routing_inline")),), "host", "application")
            return (*work, inline, *network)
        return (*work, *self._agent_steps(), *network)

    def _agent_steps(self) -> tuple[Step, ...]:
        """Return the steps that an agent brings in."""
        offloaded = (*_ROUTING, "routing_offloaded")
        loads: tuple[str, ...] = ("agent_loads",)
        if self.system.agent.direct_cache is not None:
            loads = (*_APPLICATION, *offloaded, "agent_loads_direct")
        ring = ("emission", "handing_over", *_ROUTING, "ring_window")
        return (
            once("handing_over", "handing_over", "host", "application"),
            once("host_crossing", "host_crossing", "host_link", "host_link"),
            Step("routing", (Part(offloaded),), "agent", "agent"),
            Step("agent_memory", (Part((*loads, "agent_memory")),), "agent", "agent_memory"),
            Step("ring_window", (Part(ring),), "agent", "ring_window"),
        )

    def memory_steps(self) -> tuple[Step, ...]:
        """Return what each device must hold."""
        if not self.offloaded:
            return (once("host", "memory_aggregation", "host", ""),)
        return (once("host", "memory_rings", "host", ""), once("agent", "memory_aggregation", "agent", ""))

    @property
    def batches_per_epoch(self) -> float:
        """Return one: a run is all there is."""
        return 1.0

    def values(self) -> dict[str, float]:
        """Return the ring of a process that hands nothing over."""
        return {"inline.window": 0.0}

    def key(self, quantity: str, step: Step) -> str | None:
        """Return the empty ring where messages are routed inline."""
        return "inline.window" if quantity == "ring_buffers" and not self.offloaded else None

    def limits(self, values: Mapping[str, Any]) -> list[Limit]:
        """Return the limits of the buffers."""
        size, most = values["workload.message_size"] * 1.0, values["plan.buffer_size"]
        return [Limit("buffer_size", size, most, "B", "a message must fit in a buffer")]

    def energy(self, values: Mapping[str, Any], time: Any) -> Any | None:
        """Return time times the power of a node's devices, where each is known."""
        roles = [role for role in self.counts(values) if role == "host" or self.offloaded]
        if any(f"system.{role}.power" not in values for role in roles):
            return None
        return time * sum(values[f"system.{role}.power"] for role in roles)


FAMILY = MessageRouting
