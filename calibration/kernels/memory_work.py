"""Memory work in slices: the streaming update that an application does between buffers of messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._routing import now, turns_of
from calibration.pipeline.message_routing.application import MemoryWork
from calibration.pipeline.message_routing.configuration import RoutingConfiguration

_KIB = 1 << 10
_SLICES = (6 * _KIB, 48 * _KIB, 192 * _KIB, 768 * _KIB, 3072 * _KIB)
_SLICES_QUICK = (6 * _KIB, 192 * _KIB, 3072 * _KIB)


class MemoryWorkKernel(Kernel):
    """The engine's own memory work."""

    name = "memory_work"
    isolates = "reading and writing back a slice of an array larger than the caches, and starting on it"
    unit_of_work = "slice"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return the traffic of a slice."""
        return [{"traffic": traffic} for traffic in (_SLICES_QUICK if quick else _SLICES)]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Go through the array, slice after slice."""
        work, traffic = MemoryWork(RoutingConfiguration().working_set), int(point["traffic"])
        turns = turns_of(lambda: work(traffic))

        def block() -> Sample:
            began = now()
            for _ in range(turns):
                work(traffic)
            return {"time": (now() - began) / turns, "turns": float(turns)}

        yield block


KERNEL = MemoryWorkKernel()
