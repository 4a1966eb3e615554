"""Systems: which device plays which role, and the link between them."""

from __future__ import annotations

from perfmodel.spec._base import NamedSpec
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
    link : Link or None
        From the memory node to the compute node.
    gpu_link : Link
        From the host's memory to the GPU's.
    """

    memory_node: Device
    compute_node: Device
    gpu: Device
    link: Link | None = None
    gpu_link: Link
    profile: str | None = None
