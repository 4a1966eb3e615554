"""Devices and links: what the machines can do. A number that no one knows is left out, and asking for it is an error."""

from __future__ import annotations

from typing import Annotated, Literal

from perfmodel.spec._base import (
    Bandwidth,
    Bytes,
    Count,
    Efficiency,
    Limit,
    NamedSpec,
    Number,
    PositiveBytes,
    Seconds,
    SecondsPerByte,
    SecondsPerEdge,
    SecondsPerNode,
    Share,
    Spec,
    Within,
)
from perfmodel.spec.snapshots import SnapshotRates
from perfmodel.spec.storage import Flash, GraphRates, HostPool, JoulesPerByte, PeerEngine, SoftwareStack, SystolicArray

INFINITE = float("inf")


class SamplingRates(Spec):
    """Cost of drawing mini-batches on a device, one core unless said otherwise."""

    time_per_batch: Seconds = 0.0
    time_per_call: Seconds = 0.0
    time_per_expanded_node: SecondsPerNode = 0.0
    time_per_edge: SecondsPerEdge | None = None
    time_per_fresh_edge: SecondsPerEdge = 0.0
    time_per_node: SecondsPerNode | None = None
    time_per_miss: SecondsPerNode = 0.0
    array_entry: Annotated[float, Within("B/node", above=True)] = 8.0
    array_nodes: Annotated[float, Within("node")] = 1e6
    hash_slot: Annotated[float, Within("B/node", above=True)] = 34.0
    edge_entry: Annotated[float, Within("B/edge", above=True)] = 8.0
    time_per_choosing_call: Seconds = 0.0
    time_per_choice: SecondsPerEdge = 0.0
    time_per_indexed_edge: Seconds = 0.0
    time_per_indexed_node: Seconds = 0.0
    time_per_indexing: Seconds = 0.0
    indexing_restart_time: Seconds = 0.0
    gather_bandwidth: Bandwidth = INFINITE
    time_per_row: SecondsPerNode = 0.0
    time_per_missed_row: SecondsPerNode = 0.0
    time_per_missed_byte: SecondsPerByte = 0.0
    time_per_handover: Seconds = 0.0
    restart_time: Seconds = 0.0
    serial_share: Share = 0.0
    contention: Share = 0.0


class PrecisionRates(Spec):
    """Cost of rounding to one precision and widening back, of each element and of each row's scale."""

    time_per_element: Seconds | None = None
    time_per_element_back: Seconds | None = None
    time_per_row: Seconds | None = None
    time_per_row_back: Seconds | None = None


class QuantizationRates(PrecisionRates):
    """Cost of changing the precision: of those named, and in general of all others and where one leaves a number out."""

    time_per_row: Seconds = 0.0
    time_per_row_back: Seconds = 0.0
    fp32: PrecisionRates | None = None
    time_per_displaced_byte: SecondsPerByte = 0.0
    time_per_displaced_byte_back: SecondsPerByte = 0.0
    time_per_call: Seconds = 0.0
    time_per_call_back: Seconds = 0.0
    restart_time: Seconds = 0.0
    restart_time_back: Seconds = 0.0
    fp16: PrecisionRates | None = None
    bf16: PrecisionRates | None = None
    fp8: PrecisionRates | None = None
    int8: PrecisionRates | None = None
    int4: PrecisionRates | None = None


class TrainingRates(Spec):
    """Cost of a training step on a core, beside its dense products."""

    time_per_passed_element: Seconds = 0.0
    time_per_read_element: Seconds = 0.0
    time_per_written_element: Seconds = 0.0
    time_per_missed_byte: SecondsPerByte = 0.0
    time_per_layer: Seconds = 0.0
    restart_time: Seconds = 0.0


SecondsPerMessage = Annotated[float, Within("s/message")]


class RoutingRates(Spec):
    """Cost of fire-and-forget messages on a device, one core: the application's work for them, emitting, routing them.

    Attributes
    ----------
    work_bandwidth, time_per_slice : float
        Memory traffic of the application's own work, and what each buffer's share of it takes besides.
    time_per_emission, time_per_emitted_message, time_per_emitted_byte : float
        Writing messages into a buffer: of each buffer, message and byte.
    time_per_buffer, time_per_partner, time_per_routed_message, time_per_routed_byte : float
        Sorting a buffer's messages by next hop.
    time_per_transfer, time_per_delivered_message, time_per_delivered_byte : float
        Sending an aggregation buffer off and taking one in, and delivering what it holds.
    restart_time, time_per_displaced_byte, displacement : float
        What a buffer's routing takes longer when the application has displaced its tables from the caches, what each
        of its bytes takes longer on its way, and after how much memory traffic most of them are.
    serial_share, contention : float
        Of routing threads, by the Universal Scalability Law.
    """

    work_bandwidth: Bandwidth = INFINITE
    time_per_slice: Seconds = 0.0
    time_per_emission: Seconds = 0.0
    time_per_emitted_message: SecondsPerMessage = 0.0
    time_per_emitted_byte: SecondsPerByte = 0.0
    time_per_buffer: Seconds = 0.0
    time_per_partner: Seconds = 0.0
    time_per_routed_message: SecondsPerMessage | None = None
    time_per_routed_byte: SecondsPerByte = 0.0
    time_per_transfer: Seconds = 0.0
    time_per_delivered_message: SecondsPerMessage = 0.0
    time_per_delivered_byte: SecondsPerByte = 0.0
    restart_time: Seconds = 0.0
    time_per_displaced_byte: SecondsPerByte = 0.0
    displacement: Limit = INFINITE
    serial_share: Share = 0.0
    contention: Share = 0.0


class Device(NamedSpec):
    """A device that holds, samples, moves or trains: host CPU, SmartNIC, GPU.

    Attributes
    ----------
    direct_cache : float, optional
        Cache that what arrives from a network card may be written into (Intel's DDIO ways); None where it is written to
        memory.
    """

    kind: Literal["cpu", "smartnic", "dpu", "gpu", "csd", "ssd", "tpu"]
    memory: PositiveBytes
    memory_bandwidth: Bandwidth
    runtime_memory: Bytes = 0.0
    allocator_overhead: Share = 0.0
    cores: Count = 1.0
    cache: Bytes = 0.0
    outer_cache: Limit = INFINITE
    displacement_time: Annotated[float, Within("s", above=True, infinite=True)] = INFINITE
    heap_limit: Bytes = 33554432.0
    copy_bandwidth: Bandwidth = INFINITE
    sampling: SamplingRates = SamplingRates()
    quantization: QuantizationRates = QuantizationRates()
    training: TrainingRates = TrainingRates()
    routing: RoutingRates = RoutingRates()
    flash: Flash | None = None
    array: SystolicArray | None = None
    graph: GraphRates = GraphRates()
    snapshots: SnapshotRates = SnapshotRates()
    peer: PeerEngine = PeerEngine()
    stack: SoftwareStack | None = None
    pool: HostPool = HostPool()
    memory_energy: JoulesPerByte = 0.0
    direct_cache: PositiveBytes | None = None
    peak_flops: Annotated[float, Within("flop/s", above=True)] | None = None
    compute_efficiency: Efficiency = 1.0
    memory_efficiency: Efficiency = 1.0
    launch_time: Seconds = 0.0
    power: Annotated[float, Within("W")] | None = None
    price: Annotated[float, Within("USD")] | None = None
    profile: str | None = None


class Conversion(Spec):
    """Turning a tensor's memory into the bytes that are sent, by kind of tensor."""

    features: SecondsPerByte = 0.0
    edge_index: SecondsPerByte = 0.0
    labels: SecondsPerByte = 0.0


class Regrowth(Spec):
    """How fast a buffer that grows chunk by chunk copies what it holds."""

    heap_bandwidth: Annotated[float, Within("B/s", high=1e18, above=True)]
    fresh_bandwidth: Annotated[float, Within("B/s", high=1e18, above=True)]


class HandoverRates(Spec):
    """Handing a buffer of messages over a link: at the sender, at the receiver, of each byte written and read."""

    time_per_buffer: Seconds = 0.0
    time_per_acknowledgement: Seconds = 0.0
    time_per_written_byte: SecondsPerByte = 0.0
    time_per_read_byte: SecondsPerByte = 0.0


class Link(NamedSpec):
    """A link with the mechanism that moves tensors over it: chunks, headers, acknowledgements, aggregation."""

    bandwidth: Bandwidth
    latency: Seconds = 0.0
    header: Bytes = 0.0
    time_per_chunk: Seconds = 0.0
    time_per_acknowledgement: Seconds = 0.0
    time_per_packet: Seconds = 0.0
    time_per_displaced_byte: SecondsPerByte = 0.0
    restart_time: Seconds = 0.0
    fault_time: SecondsPerByte = 0.0
    conversion: Conversion = Conversion()
    max_chunk: Limit = INFINITE
    aggregation: Literal["preallocated", "regrown"] = "preallocated"
    regrowth: Regrowth | None = None
    handover: HandoverRates = HandoverRates()
    energy_per_byte: Annotated[float, Within("J/B")] | None = None
    profile: str | None = None


__all__ = [
    "INFINITE",
    "Conversion",
    "Device",
    "HandoverRates",
    "Link",
    "Number",
    "PrecisionRates",
    "QuantizationRates",
    "Regrowth",
    "RoutingRates",
    "SamplingRates",
    "TrainingRates",
]
