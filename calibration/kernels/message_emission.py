"""Writing messages into a buffer: for an agent on the same core, and for one on another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Point
from calibration.kernels._routing import OTHER, OWN, RingKernel, alone, beside, configuration

_SIZES = ((16, 6144), (16, 24576), (64, 1536), (64, 24576), (64, 98304), (256, 6144), (256, 98304))
_SIZES_QUICK = ((16, 6144), (64, 1536), (64, 98304), (256, 24576))
_READ_ELSEWHERE = ((16, 6144), (64, 24576), (256, 98304))


class MessageEmission(RingKernel):
    """The engine's own emitter, between turns of its agent."""

    name = "message_emission"
    isolates = (
        "copying and numbering the messages of one buffer; read by the other core: with the buffer's lines fetched back "
        "from there"
    )

    def points(self, quick: bool) -> Sequence[Point]:
        """Return sizes of messages and buffers, each read on this core, some on the other one."""
        own = [(size, OWN) for size in (_SIZES_QUICK if quick else _SIZES)]
        other = [(size, OTHER) for size in (_READ_ELSEWHERE[1:] if quick else _READ_ELSEWHERE)]
        return [{"message": message, "buffer": buffer, "read_by": where} for (message, buffer), where in own + other]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Emit buffer after buffer."""
        if point["read_by"] == OWN:
            yield alone(point, "emission")
            return
        with self.shared(configuration(point), "route") as (ring, other):
            yield beside(point, ring, other, "emission")


KERNEL = MessageEmission()
