"""Visits of a snapshot's pages through a bounded cache: pages that are there, and pages that have to be read."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._beside import AWAY, FRAME, Beside
from calibration.kernels.page_reads import KERNEL as PAGE_READS
from calibration.pipeline.nameless import nameless
from calibration.pipeline.snapshot_pages import PageCache, Staging, open_pages
from perfmodel.errors import SpecError

_PAGES = (4096, 16384, 65536)
_VISITS, _VISITS_QUICK = (24, 100, 320), (24, 100)
_MOST = 8 << 20  # bytes of one visit
SNAPSHOTS = 6  # that take turns: each finds its pages where a frame's others left them


class SnapshotReads(Kernel):
    """A process' page cache over a file, visited snapshot after snapshot."""

    name = "snapshot_reads"
    isolates = (
        "looking pages up in a cache and copying them together (held), reading them into it (buffered, from the system's "
        "page cache; direct, past it), and reading them past a pool that is full (unkept)"
    )
    unit_of_work = "page visited"

    def left_out(self) -> str:
        """Return why direct reads are left out here."""
        return PAGE_READS.left_out()

    def points(self, quick: bool) -> Sequence[Point]:
        """Return kinds of visits, page sizes and pages of a visit."""
        visits = _VISITS_QUICK if quick else _VISITS
        kinds = ["held", "buffered", "unkept"] + ([] if self.left_out() else ["direct"])
        return [
            {"kind": kind, "page": page, "visit": visit, "asleep": asleep}
            for kind, page, visit, asleep in itertools.product(kinds, _PAGES, visits, AWAY)
            if (asleep == 0 or (visit == min(visits) and kind != "direct"))
            and page * visit <= _MOST
            and (kind != "direct" or page * visit <= _MOST // 4)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Write a file of some snapshots and open the cache; a block visits the next snapshot."""
        kind, page, visit = str(point["kind"]), int(point["page"]), int(point["visit"])
        capacity = {"held": SNAPSHOTS * visit, "unkept": 0}.get(kind, visit)
        with _file(page * visit * SNAPSHOTS) as path:
            descriptor = open_pages(path, "direct" if kind == "direct" else "buffered")
            try:
                cache = PageCache(descriptor, page, capacity, "lru" if kind != "unkept" else "pinned")
                yield _block(cache, point, visit, page)
            finally:
                os.close(descriptor)


def _block(cache: PageCache, point: Point, visit: int, page: int) -> Block:
    stagings = [Staging(visit, page) for _ in range(SNAPSHOTS)]
    orders = [np.random.default_rng(number).permutation(visit).tolist() for number in range(SNAPSHOTS)]
    turns, beside = itertools.cycle(range(SNAPSHOTS)), Beside(FRAME, float(point["asleep"]))
    for number in range(SNAPSHOTS):
        cache.visit(number * visit, orders[number], stagings[number])

    def block() -> Sample:
        number = next(turns)
        beside()
        misses = cache.misses
        began = time.perf_counter()
        cache.visit(number * visit, orders[number], stagings[number])
        taken = time.perf_counter() - began
        return {
            "time": taken,
            "pages": float(visit),
            "misses": float(cache.misses - misses),
            "bytes": float(visit * page),
        }

    return block


@contextlib.contextmanager
def _file(size: int) -> Iterator[str]:
    with nameless(tempfile.gettempdir()) as (file, path):
        try:
            file.write(np.random.default_rng(0).bytes(size))
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise SpecError(tempfile.gettempdir(), f"must have room for {size} bytes", error.strerror) from None
        yield path


KERNEL = SnapshotReads()
