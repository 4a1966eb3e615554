"""Systems: which device plays which role, and the link between them."""

from __future__ import annotations

from pydantic import model_validator

from perfmodel.spec._base import NamedSpec, pydantic_error
from perfmodel.spec.hardware import Device, Link


class System(NamedSpec):
    """A memory node that holds the graph, a compute node, its GPU, and the links between them.

    Attributes
    ----------
    memory_node : Device
        Holds the graph; samples and quantizes where the plan says so.
    compute_node : Device
        Host of the GPU; where ``link`` is None it is the same machine as the memory node.
    gpu : Device
        What trains: a GPU, or a core of the compute node (a device of kind ``cpu``).
    link : Link or None
        From the memory node to the compute node.
    gpu_link : Link or None
        From the host's memory to the GPU's; None where the compute node trains itself and copies nothing.
    """

    memory_node: Device
    compute_node: Device
    gpu: Device
    link: Link | None = None
    gpu_link: Link | None = None
    profile: str | None = None

    @model_validator(mode="after")
    def _gpu_is_reached(self) -> System:
        if self.gpu_link is None and self.gpu.kind != "cpu":
            raise pydantic_error(
                f"needs a gpu_link: only a gpu of kind cpu trains without a copy, {self.gpu.name} is of kind {self.gpu.kind}",
                "none",
                "pcie-gen4-x16-pinned",
            )
        return self
