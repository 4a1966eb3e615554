"""What processes on cores take for snapshots: cells, graph layers, pages of a file, states and weights over pipes."""

from __future__ import annotations

from typing import Literal

from perfmodel.spec._base import Bytes, Count, PositiveBytes, Seconds, SecondsPerByte, Spec


class WorkRates(Spec):
    """Cost of one direction of a graph layer or of a recurrent cell, on one core.

    Attributes
    ----------
    restart_time : float
        What it takes longer in a process that a message has just woken.
    time_per_call, time_per_operation, time_per_element : float
        Fixed cost, of dense products, and of each element of the layer's inputs and outputs, or of a cell's state.
    time_per_passed_element : float
        Averaging one element of a neighbor's row.
    time_per_missed_row, time_per_missed_element : float
        What a neighbor's row, and each of its elements, take longer where the snapshot is larger than the core's cache.
    """

    restart_time: Seconds = 0.0
    time_per_call: Seconds | None = None
    time_per_operation: Seconds | None = None
    time_per_element: Seconds | None = None
    time_per_passed_element: Seconds = 0.0
    time_per_missed_row: Seconds = 0.0
    time_per_missed_element: Seconds = 0.0


class DirectedRates(Spec):
    """Cost of work forward and backward."""

    forward: WorkRates = WorkRates()
    backward: WorkRates = WorkRates()


class PageRates(Spec):
    """Cost of pages of one kind: of each page, and of each of its bytes."""

    time_per_page: Seconds | None = None
    time_per_byte: SecondsPerByte | None = None


class PipeRates(Spec):
    """Cost of what goes over a pipe: waking whoever waits, each message, and each byte."""

    time_per_state: Seconds | None = None
    time_per_message: Seconds | None = None
    time_per_byte: SecondsPerByte | None = None


class SnapshotRates(Spec):
    """Cost of snapshots on processes that share a device's cores.

    Attributes
    ----------
    cores : float
        That the processes take turns on.
    cache, outer_cache : float
        Of a core, that neighbors' rows are found in; of all cores, that pages are found in [B].
    restart_time : float
        What a process takes longer for its first visit in a frame, having slept.
    time_per_visit, time_per_missed_byte : float
        A visit to a snapshot's pages, and what one of their bytes takes longer beyond the outer cache.
    lstm, gru, graph : DirectedRates
        A layer of cells, a graph layer.
    held, buffered, unkept, direct : PageRates
        Pages that a process' cache holds; that it reads into it from the system's page cache; that it reads past it;
        that it reads past the system's page cache.
    other_core, same_core, through_host : PipeRates
        A state's whole way: to a process on another core, on the same core, or passed on by the parent.
    sending : PipeRates
        What of it the sender alone spends.
    """

    cores: Count | None = None
    cache: PositiveBytes | None = None
    outer_cache: PositiveBytes | None = None
    restart_time: Seconds = 0.0
    time_per_visit: Seconds | None = None
    time_per_missed_byte: SecondsPerByte | None = None
    lstm: DirectedRates = DirectedRates()
    gru: DirectedRates = DirectedRates()
    graph: DirectedRates = DirectedRates()
    held: PageRates = PageRates()
    buffered: PageRates = PageRates()
    unkept: PageRates = PageRates()
    direct: PageRates = PageRates()
    other_core: PipeRates = PipeRates()
    same_core: PipeRates = PipeRates()
    through_host: PipeRates = PipeRates()
    sending: PipeRates = PipeRates()


class ProcessPlan(Spec):
    """How processes hold snapshots, where a device is a process: what they read of a file, and how they hand over weights.

    Attributes
    ----------
    page : float
        Of the file [B].
    cache : float
        That each process keeps pages in [B].
    policy : str
        ``lru``, or ``pinned`` (keeps what the window comes back to).
    reading : str
        ``buffered``: from the system's page cache; ``direct``: past it.
    piece : float
        Of the weights, that a message takes at most [B].
    """

    page: PositiveBytes = 4096.0
    cache: Bytes = 0.0
    policy: Literal["lru", "pinned"] = "lru"
    reading: Literal["buffered", "direct"] = "buffered"
    piece: PositiveBytes = 32768.0
