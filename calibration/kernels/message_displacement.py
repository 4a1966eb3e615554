"""Emitting and routing after memory work, which has displaced buffers and tables from the core's caches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._routing import configuration, emitter, now, own_buffer, routing_agent, turns_of
from calibration.pipeline.message_routing.application import MemoryWork

_KIB = 1 << 10
_TRAFFIC = (64 * _KIB, 1536 * _KIB, 8192 * _KIB)
_TRAFFIC_QUICK = (384 * _KIB, 4096 * _KIB)
_SIZES = ((16, 6144), (256, 24576), (64, 98304))


class MessageDisplacement(Kernel):
    """The engine's emitter and agent on one core, between turns of its memory work."""

    name = "message_displacement"
    isolates = (
        "emitting and routing one buffer on one core once so much memory traffic has gone through its caches; the memory "
        "work itself is outside the time"
    )
    unit_of_work = "buffer"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return traffic between two buffers, and sizes of messages and buffers."""
        return [
            {"message": message, "buffer": buffer, "traffic": traffic}
            for message, buffer in (_SIZES[::2] if quick else _SIZES)
            for traffic in (_TRAFFIC_QUICK if quick else _TRAFFIC)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Work on memory, emit and route, buffer after buffer."""
        asked = configuration(point)
        emit, agent, buffer = emitter(asked), routing_agent(asked), own_buffer(asked)
        work, traffic = MemoryWork(asked.working_set), int(point["traffic"])

        def turn() -> float:
            work(traffic)
            began = now()
            emit(buffer)
            agent.route(buffer)
            return now() - began

        turns = turns_of(turn)

        def block() -> Sample:
            return {"time": sum(turn() for _ in range(turns)) / turns, "turns": float(turns)}

        yield block


KERNEL = MessageDisplacement()
