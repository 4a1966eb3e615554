"""What one run of the pipeline is asked to do, and the same as a scenario of the model."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.measure import measure_graph
from perfmodel.graph.sampler import Csc
from perfmodel.graph.to_spec import workload_table
from perfmodel.spec.scenario import Scenario, load_scenario

SYSTEMS: Mapping[str, str] = {"plain": "this-machine", "pyg": "this-machine-pyg"}
MECHANISMS: Mapping[str, str] = {"tcp": "this-machine-tcp", "shared-memory": "this-machine-shared-memory"}


@dataclasses.dataclass(frozen=True)
class SyntheticGraph:
    """A random graph with a heavy tail: edges join nodes in proportion to log-normal weights.

    Attributes
    ----------
    nodes : int
    mean_degree : float
        Edges a node, each in one direction [edge/node].
    spread : float
        Standard deviation of the logs of the weights.
    seed : int
    """

    nodes: int
    mean_degree: float
    spread: float
    seed: int = 0

    @property
    def name(self) -> str:
        """Return a name that says what it is."""
        return f"synthetic-{self.nodes}-{self.mean_degree:g}-{self.spread:g}-{self.seed}"

    def edge_index(self) -> NDArray[np.int64]:
        """Return sources and targets, of shape (2, edges); no edge is there twice, none is a loop.

        Examples
        --------
        >>> SyntheticGraph(100, 4.0, 0.5).edge_index().shape[0]
        2
        """
        rng = np.random.default_rng(self.seed)
        weight = np.cumsum(np.exp(self.spread * rng.standard_normal(self.nodes)))
        count = int(self.nodes * self.mean_degree)
        ends = np.searchsorted(weight, rng.random((2, count)) * weight[-1]).astype(np.int64)
        source, target = np.divmod(np.unique(ends[0] * self.nodes + ends[1]), self.nodes)
        kept = source != target
        return np.stack([source[kept], target[kept]])


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One run of the pipeline.

    Attributes
    ----------
    graph : SyntheticGraph
    dimension, hidden, classes : int
        Widths of features, hidden layers and output.
    batch : int
        Seeds of a mini-batch [node].
    fanout : tuple of int
        From the seeds outward, -1 keeps all neighbors.
    precision : str
        In which features are sent.
    chunk : int
        Payload of a chunk [B].
    window : int
        Chunks in flight.
    mechanism : str
        ``tcp`` or ``shared-memory``.
    placement : str
        Where sampling runs; on the compute node, whole neighborhoods are sent.
    workers : int
        Processes that sample; 0 leaves it to the memory node itself.
    aggregation : str
        ``preallocated`` or ``regrown``.
    loader : str
        Whose sampler: ``plain`` (perfmodel's own, in numpy) or ``pyg`` (PyG's NeighborLoader).
    """

    graph: SyntheticGraph
    dimension: int = 64
    hidden: int = 32
    classes: int = 16
    batch: int = 256
    fanout: tuple[int, ...] = (10, 5)
    precision: str = "fp32"
    chunk: int = 1 << 18
    window: int = 1
    mechanism: Literal["tcp", "shared-memory"] = "shared-memory"
    placement: Literal["memory-node", "compute-node"] = "memory-node"
    workers: int = 0
    aggregation: Literal["preallocated", "regrown"] = "preallocated"
    loader: Literal["plain", "pyg"] = "plain"

    @property
    def widths(self) -> tuple[int, ...]:
        """Return the widths of the model: as many layers as hops."""
        return (self.dimension, *[self.hidden] * (len(self.fanout) - 1), self.classes)

    @property
    def sent_fanout(self) -> tuple[int, ...]:
        """Return the fanout that the memory node draws with."""
        return self.fanout if self.placement == "memory-node" else (-1,) * len(self.fanout)

    def inputs(self) -> dict[str, Any]:
        """Return the configuration as plain values, by the columns of a table."""
        found = dataclasses.asdict(self)
        return {**found, "graph": self.graph.name, "fanout": ",".join(map(str, self.fanout))}

    def scenario(self, profile: str | Mapping[str, Any] | None = None) -> Scenario:
        """Return the run as a scenario of the model on the calibrated machine."""
        changes: dict[str, Any] = {
            "workload.sampling.batch": float(self.batch),
            "workload.sampling.fanout": self.fanout,
            "workload.model.hidden": float(self.hidden),
            "workload.model.classes": float(self.classes),
            "workload.graph.node_types.node.feature_dimension": float(self.dimension),
            "system.link": MECHANISMS[self.mechanism],
            "plan.precision.features": self.precision,
            "plan.transfer.chunk": float(self.chunk),
            "plan.transfer.window": float(self.window),
            "plan.placement.sampling": self.placement,
            "plan.workers": float(self.workers),
        }
        if self.aggregation != "preallocated":
            changes["system.link.aggregation"] = self.aggregation
        return load_scenario(workload_of(self.graph), SYSTEMS[self.loader], "default", profile, changes)


@functools.lru_cache(maxsize=32)
def csc_of(graph: SyntheticGraph) -> Csc:
    """Return a graph's adjacency, made once."""
    source, target = graph.edge_index()
    return Csc.from_edges(source, target, graph.nodes)


@functools.lru_cache(maxsize=32)
def _workload_of(graph: SyntheticGraph) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory(prefix="perfmodel-") as folder:
        path = pathlib.Path(folder) / f"{graph.name}.npy"
        with room():
            np.save(path, graph.edge_index())
        measured = measure_graph(path)
    return workload_table(measured, graph.name, 1024.0, (10, 5), "pyg", 64.0)


def workload_of(graph: SyntheticGraph) -> dict[str, Any]:
    """Return a graph as ``perfmodel graph`` measures it from a file."""
    return dict(_workload_of(graph))


def store(graph: SyntheticGraph, file: IO[bytes]) -> None:
    """Write a graph's adjacency to a file, from which the memory node loads it."""
    csc = csc_of(graph)
    np.savez(file, indptr=csc.indptr, indices=csc.indices)
    file.flush()


@contextmanager
def room() -> Iterator[None]:
    """Turn what goes wrong while a graph is written into a sentence.

    Raises
    ------
    SpecError
        There is no room for it.
    """
    try:
        yield
    except OSError as error:
        raise SpecError(tempfile.gettempdir(), "must have room for a graph", error.strerror or error) from None
