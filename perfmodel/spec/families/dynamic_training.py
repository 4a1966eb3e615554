"""Dynamic training: a graph in snapshots on storage devices, graph layers and a recurrent chain over them (M-DGNN)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import model_validator

from perfmodel.spec._base import Count, Number, Share, Spec, Within, pydantic_error
from perfmodel.spec.families._base import FamilyPlan, FamilySystem, FamilyWorkload
from perfmodel.spec.families.sampled_training import Fanout
from perfmodel.spec.hardware import Device, Link
from perfmodel.spec.precision import Precision
from perfmodel.spec.snapshots import ProcessPlan

#: Plan of a system that names none.
DEFAULT_PLAN: Final = "mdgnn-m-dgnn"

Whole = Annotated[float, Within("", low=1.0, high=1e6, whole=True)]


class Temporal(Spec):
    """How snapshots follow one another, and how they are asked for.

    Attributes
    ----------
    snapshots : float
        Of the whole graph.
    shared : float
        Share of a snapshot's rows that all snapshots have; 1 where features do not change over time.
    access : str
        ``scan``: a visit of a snapshot asks for every row once; ``drawn``: rows are drawn by popularity.
    skew : float
        Exponent of Zipf's law by which rows are drawn.
    requests : float
        Rows that a visit draws for each that the snapshot has.
    changed : float
        Share of the nodes whose row or list of neighbors is new in a snapshot, and written to flash when it arrives.
    """

    snapshots: Annotated[float, Within("", low=1.0, high=1e9, whole=True)]
    shared: Share = 1.0
    access: Literal["scan", "drawn"] = "scan"
    skew: Annotated[float, Within("", high=3.0)] = 0.0
    requests: Annotated[float, Within("", high=1e6, above=True)] = 1.0
    changed: Share = 0.0


class RecurrentModel(Spec):
    """The network: GraphSAGE layers, one for each hop of the fanout, and LSTM cells over the snapshots.

    Attributes
    ----------
    cell : str
        ``lstm`` or ``gru``; storage devices and accelerators have LSTM cells.
    hidden : float
        Width of a node's state and of the graph layers' output.
    cells : float
        Layers of recurrent cells on top of one another.
    messages : float
        That the state of one target travels as.
    """

    cell: Literal["lstm", "gru"] = "lstm"
    hidden: Count = 6.0
    cells: Whole = 1.0
    messages: Annotated[float, Within("", low=1e-6, high=1e6)] = 1.0


class Workload(FamilyWorkload):
    """A dynamic graph, how its snapshots are sampled, and the model that is trained on it.

    Attributes
    ----------
    nodes, edges : float
        Of one snapshot.
    degree_bias : float
        Neighbors of a node that a mini-batch reaches, over the mean of all nodes.
    feature_dimension : float
        Elements of a node's row.
    id_bytes : float
        Of one node identifier [B].
    fanout : tuple of int
        Neighbors drawn at each hop from the targets outward.
    """

    family: Literal["dynamic-training"] = "dynamic-training"
    nodes: Count
    edges: Number
    degree_bias: Annotated[float, Within("", above=True, high=1e9)] = 1.0
    feature_dimension: Count
    id_bytes: Annotated[float, Within("B", above=True)] = 4.0
    fanout: Fanout
    temporal: Temporal
    model: RecurrentModel = RecurrentModel()

    @model_validator(mode="after")
    def _draws_neighbors(self) -> Workload:
        if min(self.fanout) < 1:
            raise pydantic_error(
                "fanout must be at least 1 neighbor at every hop", ",".join(map(str, self.fanout)), "3,3"
            )
        return self


class System(FamilySystem):
    """Storage devices on a switch below a host; near the data, they compute themselves.

    Attributes
    ----------
    storage : Device
        What holds the snapshots, with ``flash``; with an ``array`` of its own it trains. A CPU stands for devices by processes.
    host : Device
        With its ``stack``, and the memory that its ``pool`` is pinned in.
    accelerator : Device or None
        What trains in place of the storage devices, as many as there are of them; None near the data.
    link : Link
        Of each device to the switch.
    uplink : Link
        From the switch to the host's memory, shared by all devices.
    stages : float
        Stages that a frame's snapshots pass through in step; 1 where each snapshot is done with before the next.
    loopback : bool
        States go through the exchange also between snapshots of one device.
    """

    family: Literal["dynamic-training"] = "dynamic-training"
    storage: Device
    host: Device
    accelerator: Device | None = None
    link: Link
    uplink: Link
    stages: Whole = 1.0
    loopback: bool = True

    @model_validator(mode="after")
    def _can_read_and_compute(self) -> System:
        if self.storage.kind == "cpu":  # processes on its cores stand for the devices
            return self
        trains = self.accelerator or self.storage
        for device, part in ((self.storage, "flash"), (self.host, "stack"), (trains, "array")):
            if getattr(device, part) is None:
                raise pydantic_error(f"needs a device with {part}: {device.name} has none", "none", device.name)
        return self


class PrecisionSpec(Spec):
    """Precision of rows, states and weights."""

    features: Precision = "fp16"


class PoolPlan(Spec):
    """Whether the host keeps rows for the devices.

    Attributes
    ----------
    policy : str
        ``none``; ``pinned`` (keeps what the window comes back to); ``lru``.
    size : float
        The most that may be pinned [B].
    keeps : str
        ``rows``: features alone, so that a node whose neighbors are drawn is read from flash all the same;
        ``neighborhoods``: rows with the neighbors that were drawn.
    """

    policy: Literal["none", "pinned", "lru"] = "pinned"
    size: Annotated[float, Within("B", infinite=True)] = float("inf")
    keeps: Literal["rows", "neighborhoods"] = "neighborhoods"


class Plan(FamilyPlan):
    """How a frame is run.

    Attributes
    ----------
    devices : float
    partition : str
        What devices share out among themselves: ``snapshot`` (of a frame), ``frame``, ``chunk`` (of every snapshot's nodes).
    exchange : str
        How states reach the next device: ``host-bounced`` or ``peer-to-peer``.
    frame_length : float
        Snapshots of a frame, and paired graph and recurrent layers that they pass.
    batch : float
        Targets of a mini-batch.
    frames : float
        Mini-batches in flight, whose graph work is spread over the devices.
    cut : float
        Share of the drawn neighbors that lie in another chunk, where nodes are shared out at random; chunking keeps some.
    double_buffering : bool
        Rows are fetched from the pool while the last ones are worked on.
    """

    family: Literal["dynamic-training"] = "dynamic-training"
    devices: Whole = 4.0
    partition: Literal["snapshot", "frame", "chunk"] = "snapshot"
    exchange: Literal["host-bounced", "peer-to-peer"] = "peer-to-peer"
    frame_length: Whole = 4.0
    batch: Annotated[float, Within("", low=1.0, high=1e9)] = 128.0
    frames: Whole = 16.0
    cut: Share = 1.0
    double_buffering: bool = True
    precision: PrecisionSpec = PrecisionSpec()
    pool: PoolPlan = PoolPlan()
    processes: ProcessPlan = ProcessPlan()


__all__ = ["DEFAULT_PLAN", "Plan", "System", "Workload"]
