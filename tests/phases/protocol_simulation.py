"""An event-by-event simulation of the chunk/acknowledgement protocol, written from the protocol and not from the formula.

A memory node cuts each tensor into chunks. A chunk waits for a place in the window, is converted and copied into the
send buffer by the node's one sending thread, crosses the node's wire behind its header, travels, is copied out by the
receiver's one thread (into a buffer of full size, or into one that is regrown and takes along all it holds), and is
acknowledged; the acknowledgement frees the place in the window. The receiver takes chunks in their order. A tensor is
done when its last acknowledgement is back, and only then the next tensor starts. Several memory nodes take chunks in
turn, each with its own thread, wire and window.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Sequence

import simpy


@dataclasses.dataclass(frozen=True)
class Protocol:
    """One link with its endpoints; SI units."""

    chunk: float
    window: int
    bandwidth: float
    latency: float = 0.0
    header: float = 0.0
    time_per_chunk: float = 0.0
    acknowledgement: float = 0.0
    packet: float = 0.0
    conversion: float = 0.0
    sender_copy: float = math.inf
    receiver_copy: float = math.inf
    regrown: bool = False
    heap_limit: float = 0.0
    heap_bandwidth: float = math.inf
    fresh_bandwidth: float = math.inf
    fault_time: float = 0.0
    nodes: int = 1


def simulate(protocol: Protocol, tensors: Sequence[float]) -> float:
    """Return when the last acknowledgement of the last tensor is back [s]."""
    environment = simpy.Environment()
    environment.process(_all(environment, protocol, tensors))
    environment.run()
    return float(environment.now)


def sizes(tensor: float, chunk: float) -> list[float]:
    """Cut a tensor into chunks, the last one smaller."""
    whole, left = divmod(tensor, chunk)
    return [chunk] * int(whole) + ([left] if left else [])


def _all(environment: simpy.Environment, protocol: Protocol, tensors: Sequence[float]) -> Generator:
    for tensor in tensors:
        cut = sizes(tensor, protocol.chunk)
        if not cut:
            continue
        yield environment.timeout(protocol.packet)
        yield environment.process(_tensor(environment, protocol, cut))


def _tensor(environment: simpy.Environment, protocol: Protocol, cut: list[float]) -> Generator:
    fresh = not protocol.regrown and sum(cut) > protocol.heap_limit
    receiver = Receiver(protocol, fresh, [environment.event() for _ in range(len(cut) + 1)])
    receiver.turns[0].succeed()
    numbered = list(enumerate(cut))
    shares = [numbered[node :: protocol.nodes] for node in range(protocol.nodes)]
    yield environment.all_of([environment.process(_node(environment, protocol, mine, receiver)) for mine in shares])


def _node(
    environment: simpy.Environment, protocol: Protocol, cut: list[tuple[int, float]], receiver: Receiver
) -> Generator:
    window = simpy.Container(environment, capacity=protocol.window, init=protocol.window)
    wire = simpy.Resource(environment)
    flights = []
    for number, size in cut:
        yield window.get(1)
        yield environment.timeout(size * protocol.conversion + size / protocol.sender_copy + protocol.time_per_chunk)
        flights.append(environment.process(_flight(environment, protocol, number, size, wire, receiver, window)))
    yield environment.all_of(flights)


def _flight(
    environment: simpy.Environment,
    protocol: Protocol,
    number: int,
    size: float,
    wire: simpy.Resource,
    receiver: Receiver,
    window: simpy.Container,
) -> Generator:
    with wire.request() as turn:
        yield turn
        yield environment.timeout((size + protocol.header) / protocol.bandwidth)
    yield environment.timeout(protocol.latency)
    yield receiver.turns[number]
    yield environment.timeout(receiver.take(size))
    receiver.turns[number + 1].succeed()
    yield environment.timeout(protocol.acknowledgement + protocol.latency)
    yield window.put(1)


class Receiver:
    """The receiver's one thread: ``turns[i]`` fires when it is free for chunk ``i``."""

    def __init__(self, protocol: Protocol, fresh: bool, turns: list[simpy.Event]) -> None:
        self.protocol, self.fresh, self.turns, self.held = protocol, fresh, turns, 0.0

    def take(self, size: float) -> float:
        """Return how long the next chunk takes."""
        protocol, again = self.protocol, size * self.protocol.fault_time if self.fresh else 0.0
        if protocol.regrown:
            in_heap = self.held + protocol.chunk <= protocol.heap_limit  # the buffer grows by a whole chunk
            again = self.held / (protocol.heap_bandwidth if in_heap else protocol.fresh_bandwidth)
        self.held += size
        return again + size / protocol.receiver_copy
