"""Clocks of a run: when each phase of each mini-batch began and ended, on whichever process it ran."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping


@dataclasses.dataclass(frozen=True)
class BatchTimes:
    """One mini-batch.

    Attributes
    ----------
    phases : mapping of phase to float
        By the model's names [s].
    total : float
        From its start to the start of the next one [s].
    nodes, edges : int
        Of the mini-batch that is trained on.
    sent_bytes : int
        Of all tensors [B].
    pulses : mapping of phase to float
        ``total`` and each phase: the longest of the pulses beside it, on the cores that it needs [s].
    """

    phases: Mapping[str, float]
    total: float
    nodes: int
    edges: int
    sent_bytes: int
    pulses: Mapping[str, float]


class Clock:
    """Adds up the time of each phase; the system's monotonic clock reads the same in every process."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase."""
        start = time.perf_counter()
        yield
        self.add(name, time.perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        """Add to a phase."""
        self.phases[name] = self.phases.get(name, 0.0) + seconds
