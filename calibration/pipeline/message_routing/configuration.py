"""What one run of the message-routing engine is asked to do."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from perfmodel.errors import SpecError

WORD = 8  # bytes; a message is some of them, the first says where it goes and which one it is
MOST_PARTNERS = 256  # a partner's number is one byte, so that sorting by it is counting

Placement = Literal["application-core", "spare-core"]


@dataclasses.dataclass(frozen=True)
class RoutingConfiguration:
    """One run of the engine.

    Attributes
    ----------
    ratio : float
        Bytes that the application's memory work reads and writes for each byte of messages: the memory-to-communication
        ratio.
    message : int
        Bytes of a message, whole words [B].
    buffer : int
        Bytes of messages that a buffer takes before it is handed to the agent [B].
    buffers : int
        In the ring; with the agent on the application's core there is one.
    partners : int
        Destinations, each with a histogram of its own.
    bins : int
        Of one partner's histogram, a power of two.
    aggregation : int
        Bytes that the agent gathers for a partner before it delivers them [B].
    working_set : int
        Bytes that the memory work goes through, round and round [B].
    placement : str
        Where the agent runs.
    seed : int
        Of the messages.

    Raises
    ------
    SpecError
        A value that the engine can't run.
    """

    ratio: float = 1.0
    message: int = 64
    buffer: int = 1 << 16
    buffers: int = 4
    partners: int = 8
    bins: int = 1 << 12
    aggregation: int = 1 << 14
    working_set: int = 1 << 26
    placement: Placement = "spare-core"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what the engine relies on."""
        wrong = [
            ("ratio", "must be 0 or more", self.ratio, self.ratio >= 0),
            ("message", f"must be whole words of {WORD} B", self.message, self.message > 0 and not self.message % WORD),
            ("buffer", "must hold a message", self.buffer, self.buffer >= self.message),
            ("buffers", "must be 1 or more", self.buffers, self.buffers >= 1),
            ("partners", f"must be 1 to {MOST_PARTNERS}", self.partners, 1 <= self.partners <= MOST_PARTNERS),
            ("bins", "must be a power of two", self.bins, self.bins > 0 and not self.bins & (self.bins - 1)),
            ("aggregation", "must hold a message", self.aggregation, self.aggregation >= self.message),
            ("working_set", "must hold a word", self.working_set, self.working_set >= WORD),
            ("placement", "must be application-core or spare-core", self.placement,
             self.placement in ("application-core", "spare-core")),
        ]  # fmt: skip
        for name, rule, got, right in wrong:
            if not right:
                raise SpecError(name, rule, got)

    @property
    def messages(self) -> int:
        """Return the messages of one buffer."""
        return self.buffer // self.message

    @property
    def memory_bytes(self) -> int:
        """Return the bytes that the memory work for one buffer reads and writes, in whole words both ways [B].

        Examples
        --------
        >>> RoutingConfiguration(ratio=1.5, message=64, buffer=1000).memory_bytes
        1440
        """
        return 2 * WORD * round(self.ratio * self.messages * self.message / (2 * WORD))

    def inputs(self) -> dict[str, Any]:
        """Return the configuration as plain values, by the columns of a table."""
        return dataclasses.asdict(self)
