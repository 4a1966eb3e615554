"""Message routing: fire-and-forget messages, routed by the application's core or by an agent (Buddy's kind of system)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, model_validator

from perfmodel.spec._base import Count, PositiveBytes, Spec, Within, pydantic_error
from perfmodel.spec.families._base import FamilyPlan, FamilySystem, FamilyWorkload
from perfmodel.spec.hardware import Device, Link

#: Plan of a system that names none.
DEFAULT_PLAN: Final = "route-inline"


class Workload(FamilyWorkload):
    """What an application process sends in one run.

    Attributes
    ----------
    messages : float
        It sends in a run.
    message_size : float
        Of one message with its header.
    memory_ratio : float
        Memory traffic of the application's own work over its communication, byte by byte.
    run_length : float
        Messages in a row that go to one node; 1 where each goes to a node of its own.
    locality : float
        How many times likelier than any other node its own is as a target: 1 is uniform, 0 never.
    """

    family: Literal["message-routing"] = "message-routing"
    messages: Annotated[float, Within("message", low=1.0)]
    message_size: Annotated[float, Within("B/message", above=True)]
    memory_ratio: Annotated[float, Within("")]
    run_length: Annotated[float, Within("message", low=1.0)] = 1.0
    locality: Annotated[float, Within("")] = 1.0


class System(FamilySystem):
    """One of several like nodes: a host, what routes beside it, and the links.

    Attributes
    ----------
    host : Device
        Runs the application's processes, and routes where the plan says so.
    agent : Device or None
        What messages can be handed to: a DPU, or spare cores of the host (the host's own device once more).
    link : Link
        Between nodes.
    host_link : Link or None
        Between the host and the agent.
    """

    family: Literal["message-routing"] = "message-routing"
    host: Device
    agent: Device | None = None
    link: Link
    host_link: Link | None = None

    @model_validator(mode="after")
    def _agent_is_reached(self) -> System:
        if self.agent is not None and self.host_link is None:
            raise pydantic_error(f"needs a host_link to its agent {self.agent.name}", "none", "pcie-gen5-x16")
        return self


_PLACES: Final = {
    "application": "application", "inline": "application", "application-core": "application", "host": "application",
    "agent": "agent", "dpu": "agent", "smartnic": "agent", "spare-core": "agent",
}  # fmt: skip


def _place(value: object) -> object:
    """Take the name of what routes for the role."""
    return _PLACES.get(value.lower(), value) if isinstance(value, str) else value


class Placement(Spec):
    """Where messages are routed: ``application``, between its own work, or ``agent``, beside it."""

    routing: Annotated[Literal["application", "agent"], BeforeValidator(_place)] = "application"


class Plan(FamilyPlan):
    """A routing configuration.

    Attributes
    ----------
    overlap : str
        ``bottleneck`` (everything is busy at once and the slowest sets the pace) or ``sum`` (one after the other).
    nodes, processes : float
        Nodes that exchange messages, and application processes on each.
    hops : float
        Network hops of a message: with 2, nodes form a square and a message goes along a row and a column.
    threads : float
        Routing threads of a node's agent.
    buffers : float
        Aggregation buffers that are open at once for each process, one for each next hop that has one.
    buffer_size : float
        Of each aggregation buffer, and of each buffer that is handed over.
    window : float
        Buffers of a process that may be handed over and not given back yet.
    outstanding : float
        Transfers of a process that may be on the network and not acknowledged yet.
    """

    family: Literal["message-routing"] = "message-routing"
    overlap: Literal["bottleneck", "sum"] = "bottleneck"  # type: ignore[assignment]
    placement: Placement = Placement()
    nodes: Count = 8.0
    processes: Count = 4.0
    hops: Annotated[float, Within("", low=1.0, high=64.0)] = 1.0
    threads: Count = 8.0
    buffers: Count = 8.0
    buffer_size: PositiveBytes = 8192.0
    window: Count = 8.0
    outstanding: Count = 128.0
