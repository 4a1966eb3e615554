"""Chunks with acknowledgements: how a tensor is cut up, sent, and put together again, over any channel.

Every chunk has a header of four 8-byte fields: tensor, bytes of the tensor, place of the chunk in it, bytes of the chunk.
The receiver copies each chunk to where it belongs, then acknowledges it; the sender keeps at most ``window`` chunks
unacknowledged, and is done with a tensor when its last chunk is acknowledged.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import PerfmodelError

Bytes = NDArray[np.uint8]

HEADER = struct.Struct("<QQQQ")
ACKNOWLEDGEMENT = struct.Struct("<QQ")


class PipelineError(PerfmodelError):
    """A run that could not go on: a process that ended, a broken connection, data that did not arrive whole."""


class CutOff(PipelineError):
    """The other side is gone; why, it knows best."""


class Header(NamedTuple):
    """What stands in front of a chunk; sizes and place in bytes."""

    tensor: int
    tensor_bytes: int
    offset: int
    size: int


class Sending(Protocol):
    """The sender's end of a channel."""

    def put(self, header: Header, chunk: Bytes) -> None:
        """Hand one chunk over, or wait until there is room for it."""

    def acknowledged(self) -> Header:
        """Wait for the next acknowledgement; returns tensor, bytes, place and bytes of the chunk it is for."""


class Receiving(Protocol):
    """The receiver's end of a channel."""

    def take(self) -> tuple[Header, Bytes]:
        """Wait for the next chunk; its bytes stay valid until it is acknowledged."""

    def acknowledge(self, header: Header) -> None:
        """Tell the sender that a chunk has been put away."""


Aggregate = Callable[[Bytes | None, Header, Bytes], Bytes]


def send(channel: Sending, tensor: int, data: Bytes, chunk: int, window: int) -> int:
    """Send one tensor and wait until all of it is acknowledged; returns the number of chunks.

    An empty tensor travels as one empty chunk, so that the receiver learns of it.
    """
    size = data.size
    count = max(1, -(-size // chunk))
    waiting = 0
    for number in range(count):
        if waiting == window:
            _check(channel.acknowledged(), tensor)
            waiting -= 1
        offset = number * chunk
        part = data[offset : offset + chunk]
        channel.put(Header(tensor, size, offset, part.size), part)
        waiting += 1
    for _ in range(waiting):
        _check(channel.acknowledged(), tensor)
    return count


def _check(header: Header, tensor: int) -> None:
    if header.tensor != tensor:
        raise PipelineError(f"an acknowledgement of tensor {header.tensor} came while tensor {tensor} was sent")


def receive(channel: Receiving, aggregate: Aggregate) -> tuple[int, Bytes]:
    """Receive one tensor; returns its number and its bytes.

    Raises
    ------
    PipelineError
        Chunks out of order, of another tensor or not adding up to the announced size.
    """
    held: Bytes | None = None
    arrived, first = 0, None
    while True:
        header, chunk = channel.take()
        first = header if first is None else first
        if (header.tensor, header.tensor_bytes, header.offset) != (first.tensor, first.tensor_bytes, arrived):
            raise PipelineError(f"expected byte {arrived} of tensor {first.tensor}, got {header}")
        if arrived + header.size > first.tensor_bytes:
            raise PipelineError(f"tensor {first.tensor} has {first.tensor_bytes} bytes, more arrived")
        held = aggregate(held, header, chunk)
        arrived += header.size
        channel.acknowledge(header)
        if arrived == first.tensor_bytes:
            return first.tensor, held


class Preallocated:
    """Copies each chunk to its place in a buffer of the tensor's size, kept from one mini-batch to the next.

    Examples
    --------
    >>> aggregate = Preallocated()
    >>> held = aggregate(None, Header(0, 4, 0, 2), np.array([1, 2], np.uint8))
    >>> aggregate(held, Header(0, 4, 2, 2), np.array([3, 4], np.uint8)).tolist()
    [1, 2, 3, 4]
    """

    def __init__(self) -> None:
        self._buffers: dict[int, Bytes] = {}

    def __call__(self, held: Bytes | None, header: Header, chunk: Bytes) -> Bytes:
        """Put a chunk away; returns the tensor as far as it has arrived."""
        if held is None:
            kept = self._buffers.get(header.tensor)
            if kept is None or kept.size < header.tensor_bytes:
                kept = self._buffers[header.tensor] = np.zeros(header.tensor_bytes * 5 // 4, np.uint8)
            held = kept[: header.tensor_bytes]
        held[header.offset : header.offset + header.size] = chunk
        return held


def regrown(held: Bytes | None, header: Header, chunk: Bytes) -> Bytes:
    """Put a chunk behind all that is held, in a new buffer: everything is copied again.

    Examples
    --------
    >>> held = regrown(None, Header(0, 4, 0, 2), np.array([1, 2], np.uint8))
    >>> regrown(held, Header(0, 4, 2, 2), np.array([3, 4], np.uint8)).tolist()
    [1, 2, 3, 4]
    """
    return chunk.copy() if held is None else np.concatenate([held, chunk])


def aggregation(policy: str) -> Aggregate:
    """Return the receiver's way of putting chunks together: ``preallocated`` or ``regrown``."""
    return Preallocated() if policy == "preallocated" else regrown
