"""A channel over memory that two processes share: a ring of slots, and two semaphores that count what is in them.

The memory is a file without a name: nothing is left behind however the processes end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import os
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from multiprocessing.synchronize import Semaphore

import numpy as np

from calibration.pipeline.chunks import HEADER, Bytes, Header, PipelineError
from calibration.pipeline.nameless import nameless
from perfmodel.errors import SpecError

TIMEOUT = 60.0  # seconds without a signal after which the other side is given up
_PAGE = 4096


@dataclasses.dataclass(frozen=True)
class Signals:
    """Semaphores of a channel: chunks put and not yet taken, acknowledgements given and not yet taken."""

    put: Semaphore
    acknowledged: Semaphore

    @classmethod
    def of(cls, context: BaseContext) -> Signals:
        """Make the semaphores, to be handed to both processes as they start."""
        return cls(context.Semaphore(0), context.Semaphore(0))


@dataclasses.dataclass(frozen=True)
class Area:
    """Where the slots lie.

    Attributes
    ----------
    path : str
        By which both ends open the file that holds them.
    slots : int
        Chunks that it holds at a time: the window.
    most : int
        Largest chunk [B].
    """

    path: str
    slots: int
    most: int

    @property
    def stride(self) -> int:
        """Return the bytes from one slot to the next [B]."""
        return -(-(HEADER.size + self.most) // _PAGE) * _PAGE


@contextlib.contextmanager
def area(slots: int, most: int) -> Iterator[Area]:
    """Set the shared memory up; it is gone when the context is left and both ends have let go of it.

    Raises
    ------
    SpecError
        There is no room for it.
    """
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    with nameless(folder) as (file, path):
        found = Area(path, slots, most)
        try:
            os.posix_fallocate(file.fileno(), 0, slots * found.stride)
        except OSError as error:
            raise SpecError(folder, f"must have room for {slots * found.stride} bytes", error.strerror) from None
        yield found


class Ring:
    """One end of the channel; both ends look at the same slots, each in its own turn."""

    def __init__(self, where: Area, signals: Signals, polling: float = 0.0) -> None:
        self._where, self._signals, self._polling = where, signals, polling
        with open(where.path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), where.slots * where.stride)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._slot = self._answered = 0

    def put(self, header: Header, chunk: Bytes) -> None:
        """Copy header and chunk to the next slot and signal it; the window keeps it free."""
        start = self._next()
        HEADER.pack_into(self._memory, start, *header)
        self._bytes[start + HEADER.size : start + HEADER.size + chunk.size] = chunk
        self._signals.put.release()

    def acknowledged(self) -> Header:
        """Wait for the next acknowledgement; slots are acknowledged in order."""
        wait(self._signals.acknowledged, self._polling)
        start = self._answered * self._where.stride
        self._answered = (self._answered + 1) % self._where.slots
        return Header(*HEADER.unpack_from(self._memory, start))

    def take(self) -> tuple[Header, Bytes]:
        """Wait for the next chunk."""
        wait(self._signals.put, self._polling)
        start = self._next()
        header = Header(*HEADER.unpack_from(self._memory, start))
        if header.size > self._where.most:
            raise PipelineError(f"a chunk of {header.size} bytes came, at most {self._where.most} were agreed")
        return header, self._bytes[start + HEADER.size : start + HEADER.size + header.size]

    def acknowledge(self, header: Header) -> None:
        """Give the slot of the chunk back."""
        self._signals.acknowledged.release()

    def _next(self) -> int:
        start = self._slot * self._where.stride
        self._slot = (self._slot + 1) % self._where.slots
        return start

    def close(self) -> None:
        """Let go of the memory."""
        del self._bytes
        with contextlib.suppress(BufferError):  # a chunk that is still looked at: freed with the process
            self._memory.close()


def wait(signal: Semaphore, polling: float) -> None:
    """Wait for a signal: poll for so many seconds, then sleep until it comes.

    Raises
    ------
    PipelineError
        None came.
    """
    until = time.monotonic() + polling
    while time.monotonic() < until:
        if signal.acquire(False):
            return
    if not signal.acquire(True, TIMEOUT):
        raise PipelineError(f"no signal came for {TIMEOUT:g} s")
