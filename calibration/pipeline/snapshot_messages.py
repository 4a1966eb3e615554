"""Messages between the processes that hold snapshots, and the parent that they go through or not."""

from __future__ import annotations

import contextlib
import enum
import struct
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

import numpy as np

from calibration.pipeline.chunks import CutOff, PipelineError
from calibration.pipeline.snapshot_run import Matrix


class Kind(enum.IntEnum):
    """What a message says."""

    START = 0  # a frame
    READY = 1  # with the graphs
    GO = 2  # on with the cells
    STATE = 3  # forward
    TURNED = 4  # the forward pass is done
    GRADIENT = 5  # of a state, backward
    WEIGHTS = 6  # gradients of one process, or their sum


class Envelope(NamedTuple):
    """What stands in front of a message: each is sent once, and its receiver knows which one comes next."""

    kind: int
    frame: int
    snapshot: int
    layer: int
    fragment: int
    source: int
    target: int


HOST: Final = 255  # as source or target
_HEADER: Final = struct.Struct("<7I")
PIECE: Final = 32 << 10  # bytes of a long message that are sent at once
_NO_BYTES: Final = memoryview(b"")


class Mailbox:
    """One end of a pipe, with a buffer for what comes and one for what goes."""

    def __init__(self, connection: Connection, most: int) -> None:
        self.connection = connection
        size = _HEADER.size + max(most, PIECE)
        self._outgoing, self._incoming = bytearray(size), bytearray(size)

    def send(self, envelope: Envelope, content: memoryview = _NO_BYTES) -> None:
        """Send a message.

        Raises
        ------
        CutOff
            The other side is gone.
        """
        end = _HEADER.size + content.nbytes
        _HEADER.pack_into(self._outgoing, 0, *envelope)
        self._outgoing[_HEADER.size : end] = content
        with _cut_off():
            self.connection.send_bytes(memoryview(self._outgoing)[:end])

    def receive(self) -> tuple[Envelope, memoryview]:
        """Wait for a message; its content stays valid until the next one.

        Raises
        ------
        CutOff
            The other side is gone.
        """
        with _cut_off():
            size = self.connection.recv_bytes_into(self._incoming)
        return Envelope(*_HEADER.unpack_from(self._incoming)), memoryview(self._incoming)[_HEADER.size : size]

    def expect(self, envelope: Envelope) -> memoryview:
        """Wait for this very message.

        Raises
        ------
        PipelineError
            Another one came.
        """
        found, content = self.receive()
        if found != envelope:
            raise PipelineError(f"{_named(found)} came, {_named(envelope)} was expected")
        return content


@contextlib.contextmanager
def _cut_off() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise CutOff(str(error) or type(error).__name__) from None


def _named(envelope: Envelope) -> str:
    kind = Kind(envelope.kind).name.lower() if envelope.kind in set(Kind) else f"message {envelope.kind}"
    places = f"frame {envelope.frame}, snapshot {envelope.snapshot}, layer {envelope.layer}, part {envelope.fragment}"
    return f"{kind} ({places}) from {envelope.source}"


def as_bytes(parts: Sequence[Matrix]) -> memoryview:
    """Return matrices as one block of bytes."""
    joined = parts[0].reshape(-1) if len(parts) == 1 else np.concatenate([part.reshape(-1) for part in parts])
    return _bytes_of(np.ascontiguousarray(joined))


def _bytes_of(values: Matrix) -> memoryview:
    return values.reshape(-1).view(np.uint8).data


def cuts(size: int, fragments: int) -> list[tuple[int, int]]:
    """Return begin and end of the parts that so many bytes are cut into, at whole numbers.

    Examples
    --------
    >>> cuts(20, 2)
    [(0, 12), (12, 20)]
    """
    each = -(-size // (4 * fragments)) * 4
    return [(start, min(start + each, size)) for start in range(0, size, each)]


def send_state(box: Mailbox, envelope: Envelope, state: Sequence[Matrix], fragments: int) -> int:
    """Send a hidden state, or its gradient, as several messages; returns how many."""
    content = as_bytes(state)
    parts = cuts(content.nbytes, fragments)
    for number, (start, end) in enumerate(parts):
        box.send(envelope._replace(fragment=number), content[start:end])
    return len(parts)


def receive_state(box: Mailbox, envelope: Envelope, parts: int, shape: tuple[int, int], fragments: int) -> list[Matrix]:
    """Wait for all messages of a hidden state and put it together: so many matrices of a shape."""
    joined = np.empty((parts, *shape), np.float32)
    content = _bytes_of(joined)
    for number, (start, end) in enumerate(cuts(content.nbytes, fragments)):
        content[start:end] = box.expect(envelope._replace(fragment=number))
    return list(joined)


def send_long(box: Mailbox, envelope: Envelope, values: Matrix) -> None:
    """Send an array of any length piece by piece."""
    content = _bytes_of(values)
    for number, start in enumerate(range(0, content.nbytes, PIECE)):
        box.send(envelope._replace(fragment=number), content[start : start + PIECE])


def receive_long(box: Mailbox, envelope: Envelope, size: int, first: memoryview | None = None) -> Matrix:
    """Wait for an array of so many bytes; its first piece may be there already."""
    values = np.empty(size // 4, np.float32)
    content = _bytes_of(values)
    for number, start in enumerate(range(0, size, PIECE)):
        part = box.expect(envelope._replace(fragment=number)) if first is None or number > 0 else first
        content[start : start + part.nbytes] = part
    return values
