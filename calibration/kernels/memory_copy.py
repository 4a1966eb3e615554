"""Copying memory: what a core moves per second from each cache level and from main memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample

_WARM = tuple(2**exponent for exponent in range(14, 29))
_WARM_QUICK = (2**14, 2**18, 2**22, 2**26)
_FRESH = (2**16, 2**20, 2**24, 2**27)
_FRESH_QUICK = (2**20, 2**24)
_BLOCK = 2**24  # bytes of one block at least: many small copies, so that the clock doesn't count


class MemoryCopy(Kernel):
    """``np.copyto`` of bytes, into memory that was written before or that the system still has to hand out."""

    name = "memory_copy"
    isolates = (
        "reading and writing memory on one core; a warm destination is in the cache that the size fits, a fresh one adds "
        "the page faults (its mapping and unmapping are outside the time); about 0.3 us of each copy is numpy's call"
    )
    unit_of_work = "byte copied"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return sizes of the source, up to an eighth of the machine's memory."""
        warm, fresh = (_WARM_QUICK, _FRESH_QUICK) if quick else (_WARM, _FRESH)
        sizes = [("warm", size) for size in warm] + [("fresh", size) for size in fresh]
        return [{"destination": kind, "bytes": size} for kind, size in sizes if size <= _memory() / 8]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Fill the source; the block copies it as often as 16 MiB take."""
        size = int(point["bytes"])
        source = np.ones(size, dtype=np.uint8)
        copies = max(1, _BLOCK // size)
        # ones, not zeros: those are written, so that every page is there before the first copy
        target = np.ones(size, dtype=np.uint8) if point["destination"] == "warm" else None

        def block() -> Sample:
            taken = _warm(source, target, copies) if target is not None else _fresh(source, copies)
            return {"time": taken, "bytes": float(size * copies), "copies": float(copies)}

        yield block


def _warm(source: np.ndarray, target: np.ndarray, copies: int) -> float:
    began = time.perf_counter()
    for _ in range(copies):
        np.copyto(target, source)
    return time.perf_counter() - began


def _fresh(source: np.ndarray, copies: int) -> float:
    taken = 0.0
    for _ in range(copies):
        memory = mmap.mmap(-1, source.size, **_PRIVATE)
        target = np.frombuffer(memory, dtype=np.uint8)
        began = time.perf_counter()
        np.copyto(target, source)
        taken += time.perf_counter() - began
        del target  # a mapping that an array looks into can't be closed
        memory.close()
    return taken


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float(2**33)


# shared pages, Python's default, are faulted in by a slower path than those of malloc
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
KERNEL = MemoryCopy()
