"""A ring of buffers in shared memory: the application fills them in place, the agent empties them, two semaphores count."""

from __future__ import annotations

import contextlib
import mmap

import numpy as np

from calibration.pipeline.message_routing.application import Words
from calibration.pipeline.message_routing.configuration import WORD
from calibration.pipeline.shared_memory import Area, Signals, wait


class BufferRing:
    """One end of the ring; both look at the same buffers, each in its own turn.

    Parameters
    ----------
    where : Area
        As many slots as buffers.
    signals : Signals
        ``put`` counts full buffers, ``acknowledged`` those that were given back.
    messages, words : int
        Of a buffer, and of a message.
    polling : float
        How long a wait polls before it sleeps [s].
    """

    def __init__(self, where: Area, signals: Signals, messages: int, words: int, polling: float = 0.0) -> None:
        self._signals, self._polling = signals, polling
        with open(where.path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), where.slots * where.stride)
        everything = np.frombuffer(self._memory, np.uint64)
        stride, size = where.stride // WORD, messages * words
        starts = range(0, where.slots * stride, stride)
        self._buffers = [everything[start : start + size].reshape(messages, words) for start in starts]
        self._taken = 0

    def free(self) -> Words:
        """Wait for a buffer to fill; at first all are free."""
        if self._taken >= len(self._buffers):
            wait(self._signals.acknowledged, self._polling)
        return self._next()

    def hand_over(self) -> None:
        """Say that the buffer is full; it is the agent's until given back."""
        self._signals.put.release()

    def all_back(self) -> None:
        """Wait until the agent has given every buffer back."""
        for _ in range(min(self._taken, len(self._buffers))):
            wait(self._signals.acknowledged, self._polling)

    def full(self) -> Words:
        """Wait for a buffer to empty."""
        wait(self._signals.put, self._polling)
        return self._next()

    def give_back(self) -> None:
        """Say that the buffer may be filled again."""
        self._signals.acknowledged.release()

    def _next(self) -> Words:
        buffer = self._buffers[self._taken % len(self._buffers)]
        self._taken += 1
        return buffer

    def close(self) -> None:
        """Let go of the memory."""
        self._buffers.clear()
        with contextlib.suppress(BufferError):  # a buffer that is still looked at: freed with the process
            self._memory.close()
