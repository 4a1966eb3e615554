"""A dynamic graph's snapshots on several devices: graph layers side by side, recurrent cells one after the other.

Every snapshot lies on one device, which first works on the snapshot's graph. The cell of a snapshot in a layer then follows
that of the same snapshot in the layer below, and needs the state of the snapshot before in its own layer, which has
to travel where that snapshot lies on another device: as messages through the host, whose one software stack serves them one
by one, or directly to the peer, after which the host rings its doorbell. Backward, everything runs the other way round
once the forward pass is done.
A device does one thing at a time, cells before graphs; travelling keeps no device busy.

The dataflow and the two ways to travel: M-DGNN, sections 3 and 4.4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any, Literal

from calibration.simulation._checks import above_zero, at_least, one_of
from calibration.simulation._simpy import simpy
from perfmodel.errors import SpecError

Process = Generator[Any, Any, None]
_CELL, _GRAPH = 0, 1  # priorities


@dataclasses.dataclass(frozen=True)
class Chain:
    """A frame and the devices that it runs on.

    Attributes
    ----------
    snapshots, devices, layers : int
    distribution : str
        ``round-robin``: neighbors in time on neighboring devices; ``blocks``: runs of neighbors on one device, of sizes that
        differ by one at most.
    gnn_time, backward_gnn_time : float
        Of a snapshot's graph [s].
    cell_time, backward_cell_time : float
        Of one snapshot's cells in one layer [s].
    exchange : str
        ``host`` or ``peer``.
    messages : int
        That one state travels as.
    message_bytes : float
        [B].
    software_time : float
        Of the host's software stack, for each message that it passes on [s].
    link_bandwidth, link_latency : float
        Between a device and the host, and between two devices [B/s], [s].
    peer_message_time : float
        Of the sender's DMA engine, for each message to a peer [s].
    doorbell_time : float
        Of the host, for each state that went to a peer; the same server as for messages [s].
    order : str
        ``wavefront``: a cell runs as soon as it can; ``serial``: one cell at a time in all, layer by layer.
    gnn_first : bool
        No cell before all graphs are done, and none of the backward pass' graphs before all its cells.
    """

    snapshots: int
    devices: int
    layers: int
    distribution: Literal["round-robin", "blocks"] = "round-robin"
    gnn_time: float = 1e-3
    backward_gnn_time: float = 2e-3
    cell_time: float = 1e-4
    backward_cell_time: float = 2e-4
    exchange: Literal["host", "peer"] = "host"
    messages: int = 128
    message_bytes: float = 12.0
    software_time: float = 10e-6
    link_bandwidth: float = 32e9
    link_latency: float = 300e-9
    peer_message_time: float = 100e-9
    doorbell_time: float = 1e-6
    order: Literal["wavefront", "serial"] = "wavefront"
    gnn_first: bool = True

    def __post_init__(self) -> None:
        at_least(1, self, "snapshots", "devices", "layers", "messages")
        at_least(
            0, self, *(name for name in self.__dataclass_fields__ if name.endswith(("_time", "_latency", "_bytes")))
        )
        above_zero(self, "link_bandwidth")
        one_of(("round-robin", "blocks"), self, "distribution")
        one_of(("host", "peer"), self, "exchange")
        one_of(("wavefront", "serial"), self, "order")
        if self.devices > self.snapshots:
            raise SpecError("Chain.devices", "must be at most as many as snapshots", self.devices, str(self.snapshots))

    def owner(self, snapshot: int) -> int:
        """Return the device that a snapshot lies on."""
        if self.distribution == "round-robin":
            return snapshot % self.devices
        return snapshot * self.devices // self.snapshots


@dataclasses.dataclass(frozen=True)
class Timeline:
    """What came of it.

    Attributes
    ----------
    total, forward, backward : float
        [s].
    busy : tuple of float
        Share of the total that each device computes.
    bubbles : float
        Share of all devices' time in which they don't.
    host_busy : float
        Share of the total in which the host's software works.
    exchanges : int
        States that travelled.
    """

    total: float
    forward: float
    backward: float
    busy: tuple[float, ...]
    bubbles: float
    host_busy: float
    exchanges: int


class _Pass:
    """One direction over the frame: ``order`` gives snapshots as the states travel, layers as a snapshot takes them."""

    def __init__(self, machine: _Machine, backward: bool) -> None:
        self.machine, self.backward = machine, backward
        chain = machine.chain
        self.snapshots = list(range(chain.snapshots))[:: -1 if backward else 1]
        self.layers = list(range(chain.layers))[:: -1 if backward else 1]
        environment = machine.environment
        self.done = {(t, k): environment.event() for t in self.snapshots for k in self.layers}
        self.arrived = {(t, k): environment.event() for t in self.snapshots for k in self.layers}
        self.graphs = {t: environment.event() for t in self.snapshots}

    def run(self) -> Process:
        machine, chain = self.machine, self.machine.chain
        every = machine.environment.all_of
        cells = [(self._serial() if chain.order == "serial" else self._column(t)) for t in self._columns()]
        graphs = [self._graphs_of(device) for device in range(chain.devices)]
        yield every([machine.environment.process(part) for part in [*graphs, *cells]])

    def _columns(self) -> list[int]:
        return self.snapshots[:1] if self.machine.chain.order == "serial" else self.snapshots

    def _graphs_of(self, device: int) -> Process:
        """Work on a device's graphs, one after the other."""
        chain, machine = self.machine.chain, self.machine
        for snapshot in self.snapshots:
            if chain.owner(snapshot) == device:
                if self.backward:
                    waited = list(self.done.values()) if chain.gnn_first else [self.done[snapshot, self.layers[-1]]]
                    yield machine.environment.all_of(waited)
                time = chain.backward_gnn_time if self.backward else chain.gnn_time
                yield from machine.compute(device, time, _GRAPH)
                self.graphs[snapshot].succeed()
                yield machine.environment.timeout(0)  # cells that waited for this graph ask before the next one does

    def _column(self, snapshot: int) -> Process:
        """Run a snapshot's cells from layer to layer."""
        for layer in self.layers:
            yield from self._cell(snapshot, layer)

    def _serial(self) -> Process:
        for layer in self.layers:
            for snapshot in self.snapshots:
                yield from self._cell(snapshot, layer)

    def _cell(self, snapshot: int, layer: int) -> Process:
        chain, machine = self.machine.chain, self.machine
        if not self.backward:
            everything = machine.environment.all_of(list(self.graphs.values()))
            yield everything if chain.gnn_first else self.graphs[snapshot]
        place = self.snapshots.index(snapshot)
        if place > 0:
            yield self.arrived[snapshot, layer]
        time = chain.backward_cell_time if self.backward else chain.cell_time
        yield from machine.compute(chain.owner(snapshot), time, _CELL)
        self.done[snapshot, layer].succeed()
        if place + 1 < len(self.snapshots):
            following = self.snapshots[place + 1]
            machine.environment.process(self._travel(snapshot, following, self.arrived[following, layer]))

    def _travel(self, source: int, target: int, arrived: Any) -> Process:
        owners = self.machine.chain.owner(source), self.machine.chain.owner(target)
        if owners[0] != owners[1]:
            yield from self.machine.exchange(*owners)
        arrived.succeed()


class _Machine:
    """Devices, their links in both directions, and the host's software."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.environment = simpy.Environment()
        self.devices = [simpy.PriorityResource(self.environment) for _ in range(chain.devices)]
        self.outward = [simpy.Resource(self.environment) for _ in range(chain.devices)]
        self.inward = [simpy.Resource(self.environment) for _ in range(chain.devices)]
        self.host = simpy.Resource(self.environment)
        self.busy = [0.0] * chain.devices
        self.host_busy, self.exchanges = 0.0, 0

    def compute(self, device: int, seconds: float, priority: int) -> Process:
        with self.devices[device].request(priority=priority) as turn:
            yield turn
            yield self.environment.timeout(seconds)
            self.busy[device] += seconds

    def exchange(self, source: int, target: int) -> Process:
        chain = self.chain
        self.exchanges += 1
        through = self._bounced if chain.exchange == "host" else self._direct
        messages = [self.environment.process(through(source, target)) for _ in range(chain.messages)]
        yield self.environment.all_of(messages)
        if chain.exchange == "peer":
            yield from self._serve(chain.doorbell_time)

    def _bounced(self, source: int, target: int) -> Process:
        yield from self._over(self.outward[source], 0.0)
        yield from self._serve(self.chain.software_time)
        yield from self._over(self.inward[target], 0.0)

    def _direct(self, source: int, target: int) -> Process:
        yield from self._over(self.outward[source], self.chain.peer_message_time)

    def _over(self, link: Any, setup: float) -> Process:
        with link.request() as turn:
            yield turn
            yield self.environment.timeout(setup + self.chain.message_bytes / self.chain.link_bandwidth)
        yield self.environment.timeout(self.chain.link_latency)

    def _serve(self, seconds: float) -> Process:
        with self.host.request() as turn:
            yield turn
            yield self.environment.timeout(seconds)
            self.host_busy += seconds


def makespan(chain: Chain) -> Timeline:
    """Run a frame forward and backward.

    Parameters
    ----------
    chain : Chain

    Returns
    -------
    Timeline

    Examples
    --------
    On one device nothing travels and nothing waits: 3 graphs and 6 cells each way.

    >>> alone = makespan(Chain(snapshots=3, devices=1, layers=2))
    >>> round(alone.total, 6), alone.bubbles, alone.exchanges
    (0.0108, 0.0, 0)
    """
    machine = _Machine(chain)
    environment = machine.environment
    environment.run(environment.process(_Pass(machine, backward=False).run()))
    forward = float(environment.now)
    environment.run(environment.process(_Pass(machine, backward=True).run()))
    total = float(environment.now)
    busy = tuple(seconds / total if total > 0 else 0.0 for seconds in machine.busy)
    return Timeline(
        total=total,
        forward=forward,
        backward=total - forward,
        busy=busy,
        bubbles=max(0.0, 1.0 - sum(busy) / chain.devices),
        host_busy=machine.host_busy / total if total > 0 else 0.0,
        exchanges=machine.exchanges,
    )
