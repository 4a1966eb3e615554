"""A flash device under random page reads and striped page writes, event by event.

A read takes a firmware core, then a flash unit drawn at random, which reads its array, then the bus of its channel; it holds
its unit until its page has left, unless the unit has a second register (``cache_register``) in which one page can wait.
A write takes a firmware core, the next unit in turn, the bus, and then programs. Every queue is first come, first served;
every service takes as long each time, so that chance is only in which unit a read falls on. There is no garbage collection.

Timing of the parts: ONFI 4 data sheets (tR, tPROG, NV-DDR3 transfer); the order of the steps is that of a NAND controller
without multi-plane commands, as in MQSim (Tavakkol et al., FAST 2018).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from calibration.simulation._checks import above_zero, at_least
from calibration.simulation._simpy import simpy
from perfmodel.errors import SpecError

Process = Generator[Any, Any, None]


@dataclasses.dataclass(frozen=True)
class Flash:
    """A device.

    Attributes
    ----------
    channels, packages, dies, planes : int
        Channels of the device, packages of a channel, dies of a package, planes of a die.
    page : float
        [B].
    array_read, array_program : float
        From the array to the register of a unit and back [s].
    channel_bandwidth : float
        Of one channel, in either direction but one at a time [B/s].
    command_time : float
        That a command and its address hold the bus [s].
    firmware_cores : int
    firmware_time : float
        Of one core, for one command [s].
    stack_time : float
        Latency of the host's software for one command, any number at once [s].
    independent_planes : bool
        Each plane reads by itself; otherwise a die is the unit.
    cache_register : bool
        A unit reads its array while one earlier page waits for the bus.
    """

    channels: int = 16
    packages: int = 4
    dies: int = 2
    planes: int = 2
    page: float = 4096.0
    array_read: float = 12e-6
    array_program: float = 100e-6
    channel_bandwidth: float = 800e6
    command_time: float = 0.0
    firmware_cores: int = 4
    firmware_time: float = 0.0
    stack_time: float = 0.0
    independent_planes: bool = True
    cache_register: bool = False

    def __post_init__(self) -> None:
        at_least(1, self, "channels", "packages", "dies", "planes", "firmware_cores")
        at_least(0, self, "array_read", "array_program", "command_time", "firmware_time", "stack_time")
        above_zero(self, "page", "channel_bandwidth")

    @property
    def units(self) -> int:
        """Return how many reads the arrays can do at a time."""
        return self.channels * self.packages * self.dies * (self.planes if self.independent_planes else 1)


@dataclasses.dataclass(frozen=True)
class Load:
    """What is asked of it.

    Attributes
    ----------
    depth : int
        Commands in flight: each that is done is followed by the next at once.
    transfer : float, optional
        What of a page a read sends over the bus [B]; all of it where None.
    write_share : float
        Share of the commands that are writes of a page.
    """

    depth: int
    transfer: float | None = None
    write_share: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, self, "depth")
        if not 0 <= self.write_share <= 1:
            raise SpecError("Load.write_share", "must be from 0 to 1", self.write_share)


@dataclasses.dataclass(frozen=True)
class Loop:
    """What a closed loop gave, in its steady state.

    Attributes
    ----------
    throughput : float
        Commands a second [1/s].
    latency : float
        Mean time of a command, from its issue to its end [s].
    array_busy, bus_busy, firmware_busy : float
        Mean share of the time that units read or program, channels transfer, firmware cores work.
    """

    throughput: float
    latency: float
    array_busy: float
    bus_busy: float
    firmware_busy: float


class _Device:
    """The device's queues, and how long each was busy since the clocks were set back."""

    def __init__(self, flash: Flash, transfer: float | None, seed: int) -> None:
        self.flash, self.transfer = flash, flash.page if transfer is None else transfer
        self.environment = simpy.Environment()
        self.firmware = simpy.Resource(self.environment, flash.firmware_cores)
        self.buses = [simpy.Resource(self.environment) for _ in range(flash.channels)]
        self.arrays = [simpy.Resource(self.environment) for _ in range(flash.units)]
        self.registers = [simpy.Resource(self.environment) for _ in range(flash.units)]
        self.busy = {"array": 0.0, "bus": 0.0, "firmware": 0.0}
        self._random = np.random.default_rng(seed)
        self._places: list[int] = []
        self._turn = itertools.cycle(range(flash.units))

    def _place(self) -> int:
        if not self._places:
            self._places = self._random.integers(self.flash.units, size=4096).tolist()
        return self._places.pop()

    def _spend(self, what: str, seconds: float) -> Any:
        self.busy[what] += seconds
        return self.environment.timeout(seconds)

    def read(self) -> Process:
        """Read a page at random."""
        flash, unit = self.flash, self._place()
        yield from self._command()
        bus, array, register = self.buses[unit % flash.channels], self.arrays[unit], self.registers[unit]
        crossing = self.transfer / flash.channel_bandwidth
        holding = array.request()
        yield holding
        if flash.command_time > 0:
            yield from self._over(bus, flash.command_time)
        yield self._spend("array", flash.array_read)
        if flash.cache_register:
            with register.request() as room:
                yield room
                array.release(holding)
                yield from self._over(bus, crossing)
        else:
            yield from self._over(bus, crossing)
            array.release(holding)
        yield self.environment.timeout(flash.stack_time)

    def write(self) -> Process:
        """Write a page to the unit whose turn it is; its register takes the page, which then is programmed."""
        flash, unit = self.flash, next(self._turn)
        yield from self._command()
        with self.arrays[unit].request() as holding:
            yield holding
            crossing = flash.command_time + flash.page / flash.channel_bandwidth
            yield from self._over(self.buses[unit % flash.channels], crossing)
            yield self._spend("array", flash.array_program)
        yield self.environment.timeout(flash.stack_time)

    def _command(self) -> Process:
        if self.flash.firmware_time > 0:
            with self.firmware.request() as core:
                yield core
                yield self._spend("firmware", self.flash.firmware_time)

    def _over(self, bus: Any, seconds: float) -> Process:
        with bus.request() as turn:
            yield turn
            yield self._spend("bus", seconds)


def closed_loop(flash: Flash, load: Load, operations: int = 4000, seed: int = 0) -> Loop:
    """Keep so many commands in flight, and measure once the queues have settled.

    Parameters
    ----------
    flash : Flash
    load : Load
    operations : int
        Commands that are measured; before them run an eighth as many, at least four times the depth.
    seed : int

    Returns
    -------
    Loop

    Examples
    --------
    One die alone takes 12 us for the array and 5.12 us for the bus, one read after the other:

    >>> one = Flash(channels=1, packages=1, dies=1, planes=1)
    >>> round(1e6 / closed_loop(one, Load(depth=1), 100).throughput, 3)
    17.12
    """
    device = _Device(flash, load.transfer, seed)
    meter = _Meter(device, warm_up=max(operations // 8, 4 * load.depth), operations=operations)
    mixing = np.random.default_rng([seed, 1])

    def commands() -> Process:
        while not meter.full:
            issued = device.environment.now
            yield from device.write() if mixing.random() < load.write_share else device.read()
            meter.ended(issued)

    for _ in range(load.depth):
        device.environment.process(commands())
    while not meter.full:
        device.environment.step()
    return meter.measured()


class _Meter:
    """Counts commands that ended, once the queues have settled."""

    def __init__(self, device: _Device, warm_up: int, operations: int) -> None:
        self._device, self._warm_up, self._operations = device, warm_up, operations
        self._ended, self._since, self._latency = 0, 0.0, 0.0

    @property
    def full(self) -> bool:
        return self._ended >= self._warm_up + self._operations

    def ended(self, issued: float) -> None:
        self._ended += 1
        if self._ended == self._warm_up:
            self._since = self._device.environment.now
            self._device.busy.update(dict.fromkeys(self._device.busy, 0.0))
        elif self._ended > self._warm_up:
            self._latency += self._device.environment.now - issued

    def measured(self) -> Loop:
        flash, spent = self._device.flash, self._device.environment.now - self._since
        servers = {"array": flash.units, "bus": flash.channels, "firmware": flash.firmware_cores}
        shares = {f"{name}_busy": self._device.busy[name] / spent / count for name, count in servers.items()}
        return Loop(throughput=self._operations / spent, latency=self._latency / self._operations, **shares)


def batch_time(
    flash: Flash,
    hops: Sequence[int],
    depth: int,
    strict: bool = True,
    transfer: float | None = None,
    seed: int = 0,
) -> float:
    """Return how long a mini-batch's reads take, hop after hop [s].

    Parameters
    ----------
    flash : Flash
    hops : sequence of int
        Reads of each hop, each a multiple of the one before.
    depth : int
        Commands in flight at most.
    strict : bool
        A hop starts when all of the hop before is done; otherwise the reads that follow from one start as soon as it is done.
    transfer : float, optional
        What of a page is sent over the bus [B]; all of it where None.
    seed : int

    Raises
    ------
    SpecError
        Hops that are no multiples.

    Examples
    --------
    >>> one = Flash(channels=1, packages=1, dies=1, planes=1)
    >>> round(1e6 * batch_time(one, [1, 2], depth=8), 3)
    51.36
    """
    if not hops or min(hops) < 1 or any(after % before for before, after in itertools.pairwise(hops)):
        raise SpecError("hops", "must be counts, each a multiple of the one before", list(hops))
    device = _Device(flash, transfer, seed)
    environment = device.environment
    slots = simpy.PriorityResource(environment, depth)
    following = [after // before for before, after in itertools.pairwise(hops)]

    def read(hop: int) -> Process:
        with slots.request(priority=-hop) as slot:  # what is further on goes first: else all of a hop would before it
            yield slot
            yield from device.read()
        if not strict and hop < len(following):
            yield all_of(hop + 1, following[hop])

    def all_of(hop: int, count: int) -> Any:
        return environment.all_of([environment.process(read(hop)) for _ in range(count)])

    def run() -> Process:
        for hop, count in enumerate(hops if strict else hops[:1]):
            yield all_of(hop, count)

    environment.run(environment.process(run()))
    return float(environment.now)
