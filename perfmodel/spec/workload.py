"""Workloads: what is trained on which graph, and how mini-batches are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from perfmodel.errors import shown
from perfmodel.spec._base import (
    Count,
    NamedSpec,
    NodeCount,
    Number,
    Share,
    Spec,
    Within,
    pydantic_error,
)
from perfmodel.spec.graph import Graph


def _fanout(value: object) -> object:
    """Accept ``15,10,5`` and ``[15, 10, 5]`` beside a list."""
    if isinstance(value, str):
        parts = value.strip().strip("[]").replace(",", " ").split()
        try:
            return [int(part) for part in parts]
        except ValueError:
            raise pydantic_error("must be whole numbers such as 15,10,5", value, "15,10,5") from None
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


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


class Workload(NamedSpec):
    """A graph, how it is sampled, and the model that is trained on it."""

    family: Literal["sampled-training"] = "sampled-training"
    graph: Graph
    sampling: Sampling
    model: GnnModel = GnnModel()
    label_width: Number = 8.0
    accuracy: Mapping[str, Share] = {}
    profile: str | None = None

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
        return self
