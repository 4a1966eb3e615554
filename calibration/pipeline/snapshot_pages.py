"""Reading a snapshot's features page by page through a bounded cache, with and without the system's page cache behind it."""

from __future__ import annotations

import mmap
import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.pipeline.chunks import PipelineError
from perfmodel.errors import SpecError

Bytes = NDArray[np.uint8]


def open_pages(path: str, reading: str) -> int:
    """Open a file of pages.

    Raises
    ------
    SpecError
        The file system refuses direct reads.
    """
    if reading == "buffered":
        return os.open(path, os.O_RDONLY)
    if not hasattr(os, "O_DIRECT"):
        raise SpecError("SnapshotRun.reading", "direct needs a system with O_DIRECT", reading, "buffered")
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        rule = f"direct needs a file system that allows it ({error.strerror}); TMPDIR may name one"
        raise SpecError("SnapshotRun.reading", rule, reading, "buffered") from None


class PageCache:
    """A cache of pages in slots of one block of memory.

    Parameters
    ----------
    file : int
        Descriptor that pages are read from.
    page : int
        [B].
    capacity : int
        Pages that it holds.
    policy : str
        ``lru``: a page that comes takes the place of the one that was asked for longest ago; ``pinned``: it is kept while there
        is room, or in the place of one that was retired.
    """

    def __init__(self, file: int, page: int, capacity: int, policy: Literal["lru", "pinned"]) -> None:
        self._file, self._page, self._policy = file, page, policy
        self._memory = mmap.mmap(-1, max(capacity, 1) * page)  # begins at a memory page, as direct reads demand
        self._slots: Bytes = np.frombuffer(self._memory, np.uint8).reshape(-1, page)
        self._views = [memoryview(self._memory)[start * page : (start + 1) * page] for start in range(capacity)]
        self._free = list(range(capacity))
        self._held: OrderedDict[int, int] = OrderedDict()
        self._retired: OrderedDict[int, None] = OrderedDict()
        self.hits = self.misses = 0

    def visit(self, first: int, order: Sequence[int], out: Staging) -> None:
        """Bring pages together, each at its place.

        Parameters
        ----------
        first : int
            Page of the file that place 0 is.
        order : sequence of int
            Places in the order in which they are asked for.
        out : Staging
        """
        held, recent = self._held, self._policy == "lru"
        for place in order:
            slot = held.get(first + place)
            if slot is None:
                self._fetch(first + place, place, out)
                continue
            self.hits += 1
            if recent:
                held.move_to_end(first + place)
            else:
                self._retired.pop(first + place, None)
            out.pages[place] = self._slots[slot]

    def _fetch(self, number: int, place: int, out: Staging) -> None:
        self.misses += 1
        slot = self._room()
        if slot is None:
            self._read(number, out.views[place])
            return
        self._read(number, self._views[slot])
        self._held[number] = slot
        out.pages[place] = self._slots[slot]

    def _room(self) -> int | None:
        if self._free:
            return self._free.pop()
        if self._policy == "lru":
            return self._held.popitem(last=False)[1] if self._held else None
        return self._held.pop(self._retired.popitem(last=False)[0]) if self._retired else None

    def _read(self, number: int, into: memoryview) -> None:
        if os.preadv(self._file, [into], number * self._page) != self._page:
            raise PipelineError(f"page {number} was read short")

    def retire(self, first: int, count: int) -> None:
        """Say that no window will come back to these pages; only the pinned policy cares."""
        if self._policy == "pinned":
            self._retired.update((number, None) for number in range(first, first + count) if number in self._held)


class Staging:
    """Where the pages of one snapshot come together.

    Attributes
    ----------
    pages : array of shape (pages, page)
    views : list of memoryview
        The same, to read into.
    """

    def __init__(self, pages: int, page: int) -> None:
        self._memory = mmap.mmap(-1, pages * page)
        self.pages: Bytes = np.frombuffer(self._memory, np.uint8).reshape(pages, page)
        self.views = [memoryview(self._memory)[start * page : (start + 1) * page] for start in range(pages)]

    def rows(self, nodes: int, width: int) -> NDArray[np.float32]:
        """Return the rows that lie there, without copying."""
        return self.pages.reshape(-1).view(np.float32)[: nodes * width].reshape(nodes, width)
