"""Putting chunks together: each copied to its place in one buffer, or all copied again for every chunk."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.chunks import Bytes, Header, aggregation

_KIB, _MIB = 1 << 10, 1 << 20


class Aggregation(Kernel):
    """The receiver's work alone, on chunks that are there already."""

    name = "aggregation"
    isolates = "copying chunks into a kept buffer, against a buffer that is made anew and filled again for every chunk"
    unit_of_work = "chunk"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return policies, chunks and tensor sizes."""
        chunks = (256 * _KIB,) if quick else (64 * _KIB, 256 * _KIB, 1024 * _KIB)
        sizes = (1 * _MIB, 8 * _MIB) if quick else (1 * _MIB, 4 * _MIB, 12 * _MIB)
        return with_waiting(
            [
                {"aggregation": policy, "chunk": chunk, "bytes": size}
                for policy, chunk, size in itertools.product(("preallocated", "regrown"), chunks, sizes)
                if size <= 64 * chunk
            ]
        )

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Keep one chunk in a slot; a block puts a whole tensor of it together."""
        chunk, size = int(point["chunk"]), int(point["bytes"])
        slot = np.ones(chunk, np.uint8)
        aggregate = aggregation(str(point["aggregation"]))
        wait = Wait(point)

        def block() -> Sample:
            wait(slot)
            held: Bytes | None = None
            began = time.perf_counter()
            for offset in range(0, size, chunk):
                part = slot[: min(chunk, size - offset)]
                held = aggregate(held, Header(0, size, offset, part.size), part)
            taken = time.perf_counter() - began
            count = -(-size // chunk)
            return {
                "time": taken,
                "chunks": float(count),
                "copied_once": float(size),
                "copied_again": chunk * count * (count - 1) / 2.0 * (point["aggregation"] == "regrown"),
            }

        yield block


KERNEL = Aggregation()
