"""Plans: what runs where, in which precision, in which chunks, with how many workers and devices."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator

from perfmodel.spec._base import (
    NamedSpec,
    Share,
    Spec,
    Within,
)

#: Bytes of one element, and of the scale that each row carries.
PRECISIONS: Final = MappingProxyType(
    {
        "fp32": (4.0, 0.0),
        "fp16": (2.0, 0.0),
        "bf16": (2.0, 0.0),
        "fp8": (1.0, 4.0),
        "int8": (1.0, 4.0),
        "int4": (0.5, 4.0),
    }
)
Precision = Literal["fp32", "fp16", "bf16", "fp8", "int8", "int4"]

_ROLES: Final = {
    "memory_node": "memory-node", "smartnic": "memory-node", "dpu": "memory-node",
    "compute_node": "compute-node", "host": "compute-node", "cpu": "compute-node",
}  # fmt: skip


def _role(value: object) -> object:
    """Take the name of the device kind that plays a role for the role."""
    return _ROLES.get(value.lower(), value) if isinstance(value, str) else value


Role = Annotated[Literal["memory-node", "compute-node"], BeforeValidator(_role)]


class Placement(Spec):
    """Where each movable phase runs."""

    sampling: Role = "memory-node"
    quantization: Role = "memory-node"


class PrecisionSpec(Spec):
    """Precision of what is sent, tensor by tensor."""

    features: Precision = "fp32"
    index: Literal["int32", "int64"] = "int64"


class TransferSpec(Spec):
    """How a tensor is cut up and kept in flight."""

    chunk: Annotated[float, Within("B", high=1e18, above=True)] = 1048576.0
    window: Annotated[float, Within("", low=1.0, high=1e9)] = 1.0


class Loader(Spec):
    """How worker processes hold memory.

    Attributes
    ----------
    replicated_share : float
        Share of the sampler's graph that each worker comes to hold for itself; LGNNIC saw all of it.
    prefetched : float
        Mini-batches that each worker holds ready (PyTorch's ``prefetch_factor``).
    """

    replicated_share: Share = 1.0
    prefetched: Annotated[float, Within("", high=1e6)] = 2.0


class Preprocessing(Spec):
    """Turning the raw graph into the sampler's on the memory node, where that happens there.

    Attributes
    ----------
    feature_copies : float
        Copies of all features alive at the peak: 1 where they stay memory-mapped or are read once, 2 while an array is
        copied into a tensor, one more for each precomputed hop. 0 leaves preprocessing out: it was done elsewhere.
    edge_copies : float
        Edge lists alive at the peak: 2 for a list and its sorted copy, 6 when edges are also reversed and coalesced.
    """

    feature_copies: Annotated[float, Within("", high=1000.0)] = 0.0
    edge_copies: Annotated[float, Within("", high=1000.0)] = 0.0


class Plan(NamedSpec):
    """An offload configuration.

    Attributes
    ----------
    fetch : str
        What the memory node ships when sampling runs on the compute node: ``neighborhood`` (all that the hops can
        reach, as LGNNIC's baseline does) or ``frontier`` (hop by hop the neighbor lists of the frontier, then the
        feature rows of the nodes that were drawn).
    overlap : str
        ``sum`` (one after the other), ``pipelined`` (every device works on its own mini-batch), ``overlap`` (the next
        mini-batch is fetched while this one trains).
    """

    placement: Placement = Placement()
    precision: PrecisionSpec = PrecisionSpec()
    transfer: TransferSpec = TransferSpec()
    workers: Annotated[float, Within("", high=1e6)] = 0.0
    devices: Annotated[float, Within("", low=1.0, high=1e6)] = 1.0
    loader: Loader = Loader()
    preprocessing: Preprocessing = Preprocessing()
    fetch: Literal["neighborhood", "frontier"] = "neighborhood"
    overlap: Literal["sum", "pipelined", "overlap"] = "sum"
