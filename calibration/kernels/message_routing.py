"""Routing a buffer of messages: sorting by partner, gathering, delivering; written on the same core or on another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Point
from calibration.kernels._routing import OTHER, OWN, RingKernel, alone, beside, configuration

_SIZES = (
    (16, 1536, 8), (16, 24576, 8), (64, 1536, 8), (64, 24576, 8), (64, 98304, 8), (256, 6144, 8), (256, 98304, 8),
    (64, 6144, 2), (64, 24576, 24), (16, 6144, 24),
)  # fmt: skip
_SIZES_QUICK = ((16, 1536, 8), (16, 24576, 8), (64, 98304, 8), (256, 24576, 8), (64, 6144, 2), (64, 6144, 24))
_WRITTEN_ELSEWHERE = ((16, 24576, 8), (64, 24576, 8), (256, 98304, 8))


class MessageRouting(RingKernel):
    """The engine's own agent, between turns of its emitter."""

    name = "message_routing"
    isolates = (
        "sorting one buffer by partner, gathering and delivering; written by the other core: with the buffer's lines "
        "fetched from there"
    )

    def points(self, quick: bool) -> Sequence[Point]:
        """Return sizes of messages and buffers, with few and many partners; some written by the other core."""
        own = [(size, OWN) for size in (_SIZES_QUICK if quick else _SIZES)]
        other = [(size, OTHER) for size in (_WRITTEN_ELSEWHERE[1:] if quick else _WRITTEN_ELSEWHERE)]
        return [
            {"message": message, "buffer": buffer, "partners": partners, "written_by": where}
            for (message, buffer, partners), where in own + other
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Route buffer after buffer."""
        if point["written_by"] == OWN:
            yield alone(point, "routing")
            return
        with self.shared(configuration(point), "emit") as (ring, other):
            yield beside(point, ring, other, "routing")


KERNEL = MessageRouting()
