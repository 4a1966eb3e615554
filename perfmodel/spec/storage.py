"""What storage devices and accelerators in them are made of: flash, systolic arrays, software stacks, peer engines."""

from __future__ import annotations

from typing import Annotated, Literal

from perfmodel.spec._base import Bytes, Count, PositiveBytes, Seconds, Spec, Within

#: An energy of every byte.
JoulesPerByte = Annotated[float, Within("J/B")]
Watts = Annotated[float, Within("W")]
ReadTime = Annotated[float, Within("s", above=True)]
BusBandwidth = Annotated[float, Within("B/s", above=True)]
Frequency = Annotated[float, Within("Hz", above=True)]


class FlashPower(Spec):
    """What a flash package draws.

    Attributes
    ----------
    reading, programming : float
        A plane that reads its array or programs it [W].
    bus_idle : float
        A channel that waits [W].
    sampler : float
        The sampling logic of a die while it samples [W].
    """

    reading: Watts = 0.0
    programming: Watts = 0.0
    bus_idle: Watts = 0.0
    sampler: Watts = 0.0


class Flash(Spec):
    """A flash back end.

    Attributes
    ----------
    channels, packages, dies, planes : float
        Channels of the device, packages of a channel, dies of a package, planes of a die.
    page : float
        [B].
    blocks, pages : float
        Blocks of a plane, pages of a block.
    array_read, array_program : float
        From the array to the register of a plane and back [s].
    channel_bandwidth : float
        Of one channel, in either direction but one at a time [B/s].
    command_time : float
        That a command and its address hold the bus [s].
    firmware_cores, firmware_time : float
        Cores of the controller, and what one takes for a command [s].
    queue_depth : float
        Reads in flight within the device.
    independent_planes : bool
        Each plane reads by itself; otherwise a die is the unit.
    cache_register : bool
        A plane reads its array while its last page waits for the bus.
    transfer : str
        What crosses the bus: the whole ``page``, or only the ``row`` that was asked for.
    hop_order : str
        ``strict``: a hop starts when all of the one before is read; ``out-of-order``: a node's neighbors are read as soon as it
        is (BeaconGNN).
    """

    channels: Count
    packages: Count = 1.0
    dies: Count = 1.0
    planes: Count = 1.0
    page: PositiveBytes = 4096.0
    blocks: Count = 1024.0
    pages: Count = 1024.0
    array_read: ReadTime
    array_program: ReadTime = 100e-6
    channel_bandwidth: BusBandwidth
    command_time: Seconds = 0.0
    firmware_cores: Count = 1.0
    firmware_time: Seconds = 0.0
    queue_depth: Count = 256.0
    independent_planes: bool = True
    cache_register: bool = False
    transfer: Literal["page", "row"] = "page"
    hop_order: Literal["strict", "out-of-order"] = "out-of-order"
    power: FlashPower = FlashPower()


class SystolicArray(Spec):
    """A systolic array with a vector unit beside it.

    Attributes
    ----------
    rows, columns : float
        Multipliers; weights stay in them while rows of the input pass through.
    frequency : float
        [Hz].
    vector_width : float
        Elements that the vector unit adds in a cycle.
    scratchpad : float
        What lies beside them and need not go out to memory [B].
    """

    rows: Count
    columns: Count
    frequency: Frequency
    vector_width: Count
    scratchpad: Bytes = 0.0


class GraphRates(Spec):
    """What work on a snapshot takes beside flash, memory and arithmetic.

    Attributes
    ----------
    time_per_node : float
        Sampling and bookkeeping of one node by the device's cores [s].
    time_per_snapshot : float
        Loss, update and dispatch of one snapshot [s].
    """

    time_per_node: Seconds = 0.0
    time_per_snapshot: Seconds = 0.0


class PeerEngine(Spec):
    """The engine that writes to other devices without the host.

    Attributes
    ----------
    time_per_message : float
        Setting up and sending one message [s].
    """

    time_per_message: Seconds = 0.0


class SoftwareStack(Spec):
    """The host's software between devices.

    Attributes
    ----------
    time_per_pass : float
        One message or block through the stack [s].
    passes : float
        Messages that go through it at a time.
    reads : float
        Block reads that go through it at a time.
    doorbell_time : float
        Taking a device's completion and ringing the next one's doorbell [s].
    """

    time_per_pass: Seconds
    passes: Count = 1.0
    reads: Count = 1.0
    doorbell_time: Seconds = 0.0


class HostPool(Spec):
    """Page-locked host memory that keeps rows for the devices.

    Attributes
    ----------
    share : float
        Of a window's distinct rows, that it is provisioned for.
    time_per_request : float
        Of a device's engine, for one row [s].
    requests : float
        Rows that a device asks for at a time.
    """

    share: Annotated[float, Within("", high=1.0)] = 1.0
    time_per_request: Seconds = 0.0
    requests: Count = 256.0
