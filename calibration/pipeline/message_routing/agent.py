"""The agent: sorts messages by partner, gathers them in one aggregation buffer a partner, and delivers full ones."""

from __future__ import annotations

import time

import numpy as np

from calibration.pipeline.message_routing.application import Ledger, Words


class Partners:
    """The destinations: a delivery enters messages into the histogram and takes in all their words.

    Parameters
    ----------
    partners, bins : int
        Histograms, and bins of each.
    most : int
        Messages of a delivery.
    """

    def __init__(self, partners: int, bins: int, most: int) -> None:
        self.ledger = Ledger(np.zeros(partners * bins, np.int64))
        self._bins = np.zeros(most, np.intp)

    def deliver(self, messages: Words) -> None:
        """Take messages in, of shape (messages, words)."""
        halves, count = messages.view(np.uint32), len(messages)
        bins = self._bins[:count]
        bins[:] = halves[:, 0]
        np.add.at(self.ledger.histogram, bins, 1)
        self.ledger.numbers += int(np.add.reduce(halves[:, 1], dtype=np.uint64))
        self.ledger.words = (self.ledger.words + int(np.add.reduce(messages, axis=None))) & 0xFFFFFFFFFFFFFFFF


class RoutingAgent:
    """Routes buffers of messages.

    Parameters
    ----------
    messages, words : int
        Of a buffer, and of a message.
    partners, bins : int
        Histograms, and bins of each, a power of two.
    aggregation : int
        Messages that are gathered for a partner before they are delivered.

    Attributes
    ----------
    delivering : float
        Time spent on deliveries [s].
    deliveries : int
    """

    def __init__(self, messages: int, words: int, partners: int, bins: int, aggregation: int) -> None:
        self.partners = Partners(partners, bins, aggregation)
        self.delivering, self.deliveries = 0.0, 0
        self._count, self._shift = partners, bins.bit_length() - 1
        self._wide = np.zeros(messages, np.uint32)
        self._partner = np.zeros(messages, np.uint8)
        self._sorted = np.zeros((messages, words), np.uint64)
        self._gathered = np.zeros((partners, aggregation, words), np.uint64)
        self._held = [0] * partners

    def route(self, buffer: Words) -> None:
        """Route the messages of a buffer, of shape (messages, words); the buffer may be overwritten then."""
        np.right_shift(buffer.view(np.uint32)[:, 0], self._shift, out=self._wide)
        self._partner[:] = self._wide
        order = self._partner.argsort(kind="stable")  # of bytes: a counting sort
        counts = np.bincount(self._partner, minlength=self._count)
        buffer.take(order, axis=0, out=self._sorted, mode="clip")
        start = 0
        for partner, count in enumerate(counts.tolist()):
            if count:
                self._append(partner, self._sorted[start : start + count])
                start += count

    def flush(self) -> None:
        """Deliver what is gathered."""
        for partner, held in enumerate(self._held):
            if held:
                self._deliver(partner, held)

    def _append(self, partner: int, messages: Words) -> None:
        gathered = self._gathered[partner]
        while True:
            held = self._held[partner]
            room = messages[: len(gathered) - held]
            gathered[held : held + len(room)] = room
            self._held[partner] += len(room)
            if self._held[partner] == len(gathered):
                self._deliver(partner, len(gathered))
            if len(room) == len(messages):
                return
            messages = messages[len(room) :]

    def _deliver(self, partner: int, held: int) -> None:
        began = time.perf_counter()
        self.partners.deliver(self._gathered[partner, :held])
        self._held[partner] = 0
        self.deliveries += 1
        self.delivering += time.perf_counter() - began
