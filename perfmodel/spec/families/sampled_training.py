"""Sampled training: a graph on a memory node, mini-batches drawn, sent and trained on (LGNNIC's kind of system)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from perfmodel.errors import shown
from perfmodel.spec._base import Count, NodeCount, Number, Share, Spec, Within, pydantic_error
from perfmodel.spec.families._base import FamilyPlan, FamilySystem, FamilyWorkload
from perfmodel.spec.graph import Graph
from perfmodel.spec.hardware import Device, Link
from perfmodel.spec.precision import Precision

#: Plan of a system that names none.
DEFAULT_PLAN: Final = "default"
_MOST_HOPS: Final = 32


def _fanout(value: object) -> object:
    """Accept ``15,10,5`` and ``[15, 10, 5]`` beside a list."""
    if isinstance(value, str):
        try:
            found: object = [int(part) for part in value.strip().strip("[]").replace(",", " ").split()]
        except ValueError:
            raise pydantic_error("must be whole numbers such as 15,10,5", value, "15,10,5") from None
    else:
        found = [value] if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(found, (list, tuple)) and len(found) > _MOST_HOPS:
        shorter = ",".join(map(str, found[:3]))
        raise pydantic_error(f"must have at most {_MOST_HOPS} hops", f"{len(found)} hops", shorter)
    return found


def _keeps_or_draws(neighbors: object) -> object:
    if isinstance(neighbors, bool) or not isinstance(neighbors, int):
        raise pydantic_error("must be a whole number of neighbors", shown(neighbors), "10")
    if neighbors < -1 or neighbors == 0:
        raise pydantic_error(
            "must be at least 1, or -1 to keep all neighbors", str(neighbors), "-1" if neighbors else "1"
        )
    if neighbors > 1_000_000_000:
        raise pydantic_error("must be at most 1e9 neighbors", str(neighbors), "-1")
    return neighbors


Fanout = Annotated[
    tuple[Annotated[int, BeforeValidator(_keeps_or_draws)], ...], BeforeValidator(_fanout), Field(min_length=1)
]


class SeedSpec(Spec):
    """The training nodes.

    Attributes
    ----------
    node_type : str
        Their type.
    nodes : float
        How many there are [node].
    degree_bias : float
        They were chosen in proportion to ``degree**degree_bias``; 0 is uniform.
    share : tuple of float
        Measured share of them in each degree class, in place of the bias.
    """

    node_type: str
    nodes: NodeCount
    degree_bias: Annotated[float, Within("", low=-5.0, high=5.0)] = 0.0
    share: tuple[Share, ...] = ()


class Sampling(Spec):
    """How a mini-batch is drawn: fanouts in the order of the sampler's semantics, -1 keeps all neighbors."""

    batch: Annotated[float, Within("node", low=1.0, high=1e12)]
    fanout: Fanout
    semantics: Literal["pyg", "dgl"] = "pyg"
    replace: bool = False
    seeds: SeedSpec


class GnnModel(Spec):
    """The network that is trained.

    Attributes
    ----------
    kind : str
        Layer type.
    layers : int, optional
        The most it may have; it is trained with as many as the fanout has hops.
    hidden, classes : float
        Width of hidden layers and of the output.
    aggregation : str
        ``materialized`` keeps a message for every edge (gather and scatter), ``fused`` does not (sparse product),
        ``dense`` multiplies with a full nodes x nodes adjacency matrix.
    trimmed : bool
        Whether each layer runs only on the hops it needs.
    """

    kind: Literal["sage", "gcn", "gat", "gin"] = "sage"
    layers: Annotated[int, Field(ge=1, le=100)] | None = None
    hidden: Count = 256.0
    classes: Count = 2.0
    aggregation: Literal["materialized", "fused", "dense"] = "materialized"
    trimmed: bool = False


class Workload(FamilyWorkload):
    """A graph, how it is sampled, and the model that is trained on it."""

    family: Literal["sampled-training"] = "sampled-training"
    graph: Graph
    sampling: Sampling
    model: GnnModel = GnnModel()
    label_width: Number = 8.0
    accuracy: Mapping[str, Share] = {}

    @model_validator(mode="after")
    def _hops_fit_layers(self) -> Workload:
        hops, layers = len(self.sampling.fanout), self.model.layers
        if layers is not None and hops > layers:
            raise pydantic_error(
                f"sampling.fanout must not have more hops than the model has layers ({layers})",
                ",".join(map(str, self.sampling.fanout)),
                ",".join(map(str, self.sampling.fanout[:layers])),
            )
        seeds = self.sampling.seeds
        if seeds.node_type not in self.graph.node_types:
            raise pydantic_error(
                "sampling.seeds.node_type must be a node type", seeds.node_type, " | ".join(self.graph.node_types)
            )
        known = self.graph.node_types[seeds.node_type].nodes
        if seeds.nodes > known:
            raise pydantic_error(
                f"sampling.seeds.nodes must be at most the {known:,.0f} nodes of type {seeds.node_type}",
                f"{seeds.nodes:,.0f}",
                f"{known:.0f}",
            )
        return self


class System(FamilySystem):
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

    family: Literal["sampled-training"] = "sampled-training"
    memory_node: Device
    compute_node: Device
    gpu: Device
    link: Link | None = None
    gpu_link: Link | None = None

    @model_validator(mode="after")
    def _gpu_is_reached(self) -> System:
        if self.gpu_link is None and self.gpu.kind != "cpu":
            raise pydantic_error(
                f"needs a gpu_link: only a gpu of kind cpu trains without a copy, {self.gpu.name} is of kind {self.gpu.kind}",
                "none",
                "pcie-gen4-x16-pinned",
            )
        return self


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
    window: Annotated[float, Within("", low=1.0, high=1e9, whole=True)] = 1.0


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


class Plan(FamilyPlan):
    """An offload configuration.

    Attributes
    ----------
    fetch : str
        What the memory node ships when sampling runs on the compute node: ``neighborhood`` (all that the hops can
        reach, as LGNNIC's baseline does) or ``frontier`` (hop by hop the neighbor lists of the frontier, then the
        feature rows of the nodes that were drawn).
    """

    family: Literal["sampled-training"] = "sampled-training"
    placement: Placement = Placement()
    precision: PrecisionSpec = PrecisionSpec()
    transfer: TransferSpec = TransferSpec()
    workers: Annotated[float, Within("", high=1e6, whole=True)] = 0.0
    devices: Annotated[float, Within("", low=1.0, high=1e6, whole=True)] = 1.0
    loader: Loader = Loader()
    preprocessing: Preprocessing = Preprocessing()
    fetch: Literal["neighborhood", "frontier"] = "neighborhood"
