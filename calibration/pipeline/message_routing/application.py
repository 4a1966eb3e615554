"""The application's side: work on memory, and messages that are written into a buffer and forgotten."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibration.pipeline.message_routing.configuration import WORD

Words = NDArray[np.uint64]

_KEYS = 1 << 14  # messages of the pool that are drawn beforehand, at least those of a buffer


class MemoryWork:
    """A streaming update of an array, which goes on where it stopped and starts over at the end.

    Parameters
    ----------
    working_set : int
        Size of the array [B].
    """

    def __init__(self, working_set: int) -> None:
        self._array = np.zeros(working_set // WORD, np.uint64)
        self._array[:] = 1  # every page is there before the first update
        self._next = 0

    def __call__(self, traffic: int) -> None:
        """Update words until so many bytes are read and written; each word is both [B]."""
        left = traffic // (2 * WORD)
        while left:
            part = self._array[self._next : self._next + left]
            np.add(part, 1, out=part)
            left -= part.size
            self._next += part.size
            if self._next == self._array.size:
                self._next = 0


class Emitter:
    """Writes messages to random bins of random partners.

    A message's first word is its bin, counted through all partners, and its number; the rest is payload.

    Parameters
    ----------
    messages : int
        Of a buffer.
    words : int
        Of a message.
    bins : int
        Of all partners.
    seed : int
    """

    def __init__(self, messages: int, words: int, bins: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        blocks = max(1, _KEYS // messages)
        self._bins = rng.integers(0, bins, (blocks, messages), dtype=np.uint32)
        self._template = rng.integers(0, 1 << 62, (messages, words), dtype=np.uint64)
        self._numbers = np.arange(messages, dtype=np.uint32)
        self._count, self._all_bins = 0, bins

    def __call__(self, buffer: Words) -> None:
        """Write a buffer full of messages; ``buffer`` is of shape (messages, words)."""
        np.copyto(buffer, self._template)
        halves = buffer.view(np.uint32)
        halves[:, 0] = self._bins[self._count % len(self._bins)]
        np.add(self._numbers, np.uint32(self._count * self._numbers.size & 0xFFFFFFFF), out=halves[:, 1])
        self._count += 1

    def expected(self) -> Ledger:
        """Return what the partners hold once every message that was emitted has arrived exactly once."""
        blocks = np.arange(len(self._bins))
        times = (self._count - blocks + len(blocks) - 1) // len(blocks)  # each block was emitted so often
        histogram = np.zeros(self._all_bins, np.int64)
        for block, count in zip(self._bins, times.tolist(), strict=True):
            histogram += count * np.bincount(block, minlength=self._all_bins)
        emitted = self._count * self._numbers.size
        numbers = np.arange(emitted, dtype=np.uint64) & np.uint64(0xFFFFFFFF)
        words = self._count * int(self._template[:, 1:].sum()) + int(numbers.sum()) * (1 << 32)
        words += int(histogram @ np.arange(self._all_bins))
        return Ledger(histogram, int(numbers.sum()), words % (1 << 64))


class Ledger:
    """What arrived at the partners.

    Attributes
    ----------
    histogram : array of shape (bins of all partners,)
        Messages of each bin.
    numbers : int
        Sum of the messages' numbers: a message that is lost and another that came twice show here.
    words : int
        Sum of all their words, modulo 2**64.
    """

    def __init__(self, histogram: NDArray[np.int64], numbers: int = 0, words: int = 0) -> None:
        self.histogram, self.numbers, self.words = histogram, numbers, words

    def differs(self, expected: Ledger) -> str:
        """Return in which way this is not what is expected, empty where it is."""
        lost = int(np.maximum(expected.histogram - self.histogram, 0).sum())
        extra = int(np.maximum(self.histogram - expected.histogram, 0).sum())
        if lost or extra:
            return f"of {int(expected.histogram.sum())} messages {lost} are missing and {extra} too many"
        if self.numbers != expected.numbers:
            return "a message is missing and another came twice"
        return "" if self.words == expected.words else "a message did not arrive as it was sent"
