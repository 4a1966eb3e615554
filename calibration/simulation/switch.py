"""Devices behind a PCIe switch, or behind one uplink that they share, burst by burst.

Every port sends and receives at once. A message waits for its sender's DMA engine (``message_time``), then leaves in
bursts, each behind the headers of its packets. A burst needs room in the buffer of the port that it goes out of, or it holds
its own port up (back pressure), and starts on the way out while its end is still coming in (cut-through). Bursts
leave a port in the order in which they came: senders share it evenly.

Packets: PCIe base specification (up to 256 B of payload behind about 24 B of framing, sequence, header and checksum); the
buffer and the non-blocking switch: M-DGNN's Table 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Sequence
from typing import Any, Final, Literal

from calibration.simulation._checks import above_zero, at_least, one_of
from calibration.simulation._simpy import simpy

Process = Generator[Any, Any, None]
HOST: Final = -1
#: Bursts of a message: enough that taking turns looks smooth, few enough to count.
_BURSTS: Final = 64


@dataclasses.dataclass(frozen=True)
class Switch:
    """The fabric.

    Attributes
    ----------
    devices : int
    link_bandwidth, host_bandwidth : float
        Of each device's port and of the host's, in each direction [B/s].
    hop_latency : float
        From the start on one port to the start on the next [s].
    message_time : float
        That a sender's DMA engine needs for a message, before its first byte [s].
    payload, header : float
        Of a packet [B].
    port_buffer : float
        Bytes that may wait for a port [B].
    topology : str
        ``switch``: every port reaches every other; ``shared-uplink``: what passes between devices goes up the one link to
        the host's root complex and down again.
    """

    devices: int = 4
    link_bandwidth: float = 32e9
    host_bandwidth: float = 128e9
    hop_latency: float = 150e-9
    message_time: float = 0.0
    payload: float = 256.0
    header: float = 24.0
    port_buffer: float = 4.0 * 2**20
    topology: Literal["switch", "shared-uplink"] = "switch"

    def __post_init__(self) -> None:
        at_least(1, self, "devices")
        at_least(0, self, "hop_latency", "message_time", "header")
        above_zero(self, "link_bandwidth", "host_bandwidth", "payload")
        one_of(("switch", "shared-uplink"), self, "topology")
        at_least(self.payload + self.header, self, "port_buffer")


@dataclasses.dataclass(frozen=True)
class Traffic:
    """Who sends what.

    Attributes
    ----------
    pattern : str
        ``chain``: every device but the last to the next one; ``all-to-one``: every device but the first to the first;
        ``host-reads``: the host to every device, as answers to its requests.
    size : float
        Of a message [B].
    messages : int
        Of every sender, or for every reader.
    outstanding : int
        Requests of one reader that are on their way at a time.
    """

    pattern: Literal["chain", "all-to-one", "host-reads"]
    size: float
    messages: int = 1
    outstanding: int = 16

    def __post_init__(self) -> None:
        one_of(("chain", "all-to-one", "host-reads"), self, "pattern")
        at_least(1, self, "messages", "outstanding")
        above_zero(self, "size")


@dataclasses.dataclass(frozen=True)
class Completion:
    """What came of it.

    Attributes
    ----------
    time : float
        From a common start until the last byte of the last message is there [s].
    throughput : float
        Bytes of messages over that time [B/s].
    """

    time: float
    throughput: float


def wire_bytes(switch: Switch, size: float) -> float:
    """Return the bytes of a message with the headers of its packets.

    Examples
    --------
    >>> wire_bytes(Switch(), 1000.0)
    1096.0
    """
    return size + math.ceil(size / switch.payload) * switch.header


class _Port:
    """One direction of a link, with the buffer in front of it."""

    def __init__(self, environment: simpy.Environment, bandwidth: float, buffer: float) -> None:
        self.bandwidth = bandwidth
        self.line = simpy.Resource(environment)
        # a little more than the buffer: what sums to it may be rounded up, and would wait for ever
        self.room = simpy.Container(environment, capacity=buffer * (1 + 1e-9), init=buffer)


class _Fabric:
    """Ports by who they belong to: ``into`` the switch, ``out`` of it; ``up`` and ``down`` where all share one link."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self.environment = simpy.Environment()
        ends = {HOST: switch.host_bandwidth, **dict.fromkeys(range(switch.devices), switch.link_bandwidth)}
        self.into = {end: self._port(rate) for end, rate in ends.items()}
        self.out = {end: self._port(rate) for end, rate in ends.items()}
        self.up, self.down = self._port(switch.host_bandwidth), self._port(switch.host_bandwidth)
        self.engines = {end: simpy.Resource(self.environment) for end in ends}

    def _port(self, bandwidth: float) -> _Port:
        return _Port(self.environment, bandwidth, self.switch.port_buffer)

    def _path(self, source: int, target: int) -> list[_Port]:
        """Return the directions of links that a message crosses."""
        if self.switch.topology == "switch":
            return [self.into[source], self.out[target]]
        start = [self.into[source], self.up] if source != HOST else []
        return [*start, *([self.down, self.out[target]] if target != HOST else [])]

    def send(self, source: int, target: int, size: float) -> Process:
        """Send a message; the sender's engine is free for the next one once the last burst has left."""
        arrivals: list[Any] = []
        with self.engines[source].request() as engine:
            yield engine
            yield self.environment.timeout(self.switch.message_time)
            yield from self._stream(source, target, size, arrivals)
        yield self.environment.all_of(arrivals)

    def read(self, reader: int, size: float) -> Process:
        """Ask the host's memory for a message; the answer needs no engine of the host."""
        arrivals: list[Any] = []
        with self.engines[reader].request() as engine:
            yield engine
            yield self.environment.timeout(self.switch.message_time)
        yield self.environment.timeout(self.switch.hop_latency)
        yield from self._stream(HOST, reader, size, arrivals)
        yield self.environment.all_of(arrivals)

    def _stream(self, source: int, target: int, size: float, arrivals: list[Any]) -> Process:
        path = self._path(source, target)
        for burst in _bursts(self.switch, size):
            left = self.environment.event()
            arrivals.append(self.environment.process(self._cross(path, burst, 0, 0.0, left)))
            yield left

    def _cross(self, path: Sequence[_Port], size: float, place: int, tail: float, left: Any) -> Process:
        """Cross a port and those after it; ``tail`` is when the burst's last byte comes in."""
        port, onward = path[place], None
        with port.line.request() as turn:
            yield turn
            if place + 1 < len(path):
                yield path[place + 1].room.get(size)
            ends = max(self.environment.now + size / port.bandwidth, tail)
            if place + 1 < len(path):
                onward = self.environment.process(self._onward(path, size, place + 1, ends, left))
            yield self.environment.timeout(ends - self.environment.now)
        if place == 0:
            left.succeed()
        else:
            yield port.room.put(size)
        if onward is not None:
            yield onward

    def _onward(self, path: Sequence[_Port], size: float, place: int, tail: float, left: Any) -> Process:
        yield self.environment.timeout(self.switch.hop_latency)
        yield from self._cross(path, size, place, tail + self.switch.hop_latency, left)


def _bursts(switch: Switch, size: float) -> list[float]:
    """Cut a message into bursts of whole packets that fit the buffer; returns their bytes on the wire."""
    fitting = math.floor(switch.port_buffer / (switch.payload + switch.header))
    packets = min(math.ceil(size / switch.payload / _BURSTS), fitting)
    largest = packets * switch.payload
    whole = math.ceil(size / largest) - 1
    return [wire_bytes(switch, part) for part in [largest] * whole + [size - whole * largest]]


def completion(switch: Switch, traffic: Traffic) -> Completion:
    """Let all senders start at once and wait for the last byte.

    Parameters
    ----------
    switch : Switch
    traffic : Traffic

    Returns
    -------
    Completion

    Examples
    --------
    28 kB on the wire at 28 GB/s, and one crossing:

    >>> fabric = Switch(devices=2, link_bandwidth=28e9, payload=256.0, header=24.0)
    >>> round(1e9 * completion(fabric, Traffic("chain", size=25600.0)).time)
    1150
    """
    fabric = _Fabric(switch)
    environment = fabric.environment
    work = [environment.process(part) for part in _parts(fabric, traffic)]
    environment.run(environment.all_of(work))
    senders = switch.devices - (traffic.pattern != "host-reads")
    time = float(environment.now)
    return Completion(time, senders * traffic.messages * traffic.size / time if time > 0 else 0.0)


def _parts(fabric: _Fabric, traffic: Traffic) -> list[Process]:
    devices = range(fabric.switch.devices)
    if traffic.pattern == "host-reads":
        return [_reader(fabric, device, traffic) for device in devices]
    pairs = [(i, i + 1) for i in devices[:-1]] if traffic.pattern == "chain" else [(i, 0) for i in devices[1:]]
    return [_sender(fabric, source, target, traffic) for source, target in pairs]


def _sender(fabric: _Fabric, source: int, target: int, traffic: Traffic) -> Process:
    sent = [fabric.environment.process(fabric.send(source, target, traffic.size)) for _ in range(traffic.messages)]
    yield fabric.environment.all_of(sent)


def _reader(fabric: _Fabric, device: int, traffic: Traffic) -> Process:
    slots = simpy.Resource(fabric.environment, traffic.outstanding)

    def one() -> Process:
        with slots.request() as slot:
            yield slot
            yield from fabric.read(device, traffic.size)

    yield fabric.environment.all_of([fabric.environment.process(one()) for _ in range(traffic.messages)])
