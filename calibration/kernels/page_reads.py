"""Reading random pages of a file, past the page cache at several queue depths and from it."""

from __future__ import annotations

import contextlib
import mmap
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from perfmodel.errors import SpecError

_PAGES = (2**12, 2**14, 2**16)
_DEPTHS = (1, 2, 4, 8, 16)
_QUICK = ((2**12, 1), (2**12, 4), (2**12, 16), (2**16, 1), (2**16, 16))
_FILE, _FILE_QUICK = 2**28, 2**26  # bytes
_PIECE = 2**20  # bytes written at once
_READS = {"direct": 64, "buffered": 1024}  # of each thread in one block: some milliseconds
_READS_SLOW = 4  # of a turning disk, where each takes as long as
_SLOW = 0.001  # [s]
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


class PageReads(Kernel):
    """Threads that read aligned pages at random places of one file."""

    name = "page_reads"
    isolates = (
        "random page reads by as many threads as the queue is deep, started by one core: direct ones (O_DIRECT) go to the "
        "device, though a device or hypervisor may hold the file in a cache of its own; buffered ones come from the "
        "system's page cache"
    )
    unit_of_work = "page read"

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}

    def unavailable(self) -> str:
        """Return why pages can't be read at given places here."""
        return "" if hasattr(os, "preadv") else "this system has no preadv"

    def left_out(self) -> str:
        """Return why direct reads are left out here."""
        return _no_direct_reads(_folder())

    def points(self, quick: bool) -> Sequence[Point]:
        """Return page sizes and queue depths."""
        size = _FILE_QUICK if quick else _FILE
        direct = _QUICK if quick else [(page, depth) for page in _PAGES for depth in _DEPTHS]
        reads = [] if self.left_out() else [("direct", page, depth) for page, depth in direct]
        reads += [("buffered", page, 1) for page in (_PAGES[::2] if quick else _PAGES)]
        return [{"cache": kind, "page": page, "depth": depth, "file": size} for kind, page, depth in reads]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Open the file, written at the first point, and start the threads."""
        page, depth, size = int(point["page"]), int(point["depth"]), int(point["file"])
        if size not in self._files:
            self._files[size] = _File(_folder(), size)
        opened = self._files[size]
        file = opened.direct if point["cache"] == "direct" else opened.buffered
        random = np.random.default_rng()
        reads = depth * (_READS_SLOW if opened.slow else _READS[str(point["cache"])])
        with _Readers(file, page, depth) as readers:

            def block() -> Sample:
                places = (random.integers(size // page, size=reads) * page).tolist()
                return {"time": readers.read(places), "pages": float(reads), "bytes": float(reads * page)}

            yield block

    def release(self) -> None:
        """Close the files, which frees their room on the disk."""
        while self._files:
            self._files.popitem()[1].close()


class _File:
    """A file without a name, so that it's gone with this process whatever happens, opened with and without O_DIRECT.

    Raises
    ------
    SpecError
        A full disk.
    """

    def __init__(self, folder: pathlib.Path, size: int) -> None:
        file, name = tempfile.mkstemp(prefix="perfmodel-", dir=folder)
        self.buffered, self.direct = file, -1
        try:
            with contextlib.suppress(OSError):  # then the direct points were left out
                self.direct = os.open(name, os.O_RDONLY | getattr(os, "O_DIRECT", 0))
            os.unlink(name)
            _fill(file, size)
            self.slow = self.direct >= 0 and _fastest_read(self.direct, size) > _SLOW
        except OSError as error:
            self.close()
            rule = f"needs {size / 1e6:.0f} MB of free room for a file to read pages from"
            raise SpecError(str(folder), rule, error.strerror, "a folder named by TMPDIR") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file, which deletes it."""
        os.close(self.buffered)
        if self.direct >= 0:
            os.close(self.direct)


def _fill(file: int, size: int) -> None:
    """Write a piece that doesn't compress again and again; what isn't on the disk would be read as zeros, from nowhere."""
    if os.fstatvfs(file).f_bavail * os.fstatvfs(file).f_frsize < size:
        raise OSError(28, "less than that")
    piece = np.random.default_rng(0).bytes(_PIECE)
    for _ in range(size // _PIECE):
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left) :]
    os.fsync(file)


class _Readers:
    """Threads that wait for places to read at; a depth of one is read by the caller itself."""

    def __init__(self, file: int, page: int, depth: int) -> None:
        self._file, self._page, self._depth = file, page, depth
        self._places: Iterator[int] = iter(())
        self._began, self._ended = [0.0] * depth, [0.0] * depth
        self._failure: OSError | None = None
        self._go, self._done = threading.Barrier(depth + 1), threading.Barrier(depth + 1)
        self._stop = False
        serve = [(self._serve, number) for number in range(depth)]
        self._threads = [threading.Thread(target=target, args=(number,), daemon=True) for target, number in serve]

    def __enter__(self) -> _Readers:
        if self._depth > 1:
            for thread in self._threads:
                thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop = True
        self._go.abort()  # an interrupt may have left the barriers half full, so that a last turn would never come
        self._done.abort()
        for thread in self._threads if self._depth > 1 else ():
            thread.join()

    def read(self, places: Sequence[int]) -> float:
        """Read a page at every place; return the time from the first begin to the last end [s]."""
        self._places = iter(places)  # shared, so that no thread is left with more than the others
        if self._depth == 1:
            self._read(0, mmap.mmap(-1, self._page))
        else:
            self._go.wait()
            self._done.wait()
        if self._failure is not None:
            raise self._failure
        return max(self._ended) - min(self._began)

    def _serve(self, number: int) -> None:
        buffer = mmap.mmap(-1, self._page)  # begins at a memory page, as direct reads demand
        with contextlib.suppress(threading.BrokenBarrierError):
            while True:
                self._go.wait()
                self._read(number, buffer)
                self._done.wait()

    def _read(self, number: int, buffer: mmap.mmap) -> None:
        self._began[number] = time.perf_counter()
        try:
            for place in self._places:
                os.preadv(self._file, [buffer], place)
                if self._stop:
                    break
        except OSError as error:
            self._failure = error
        self._ended[number] = time.perf_counter()


def _fastest_read(file: int, size: int) -> float:
    """Return the shortest time of a few page reads [s]: it tells a disk that turns from one that doesn't, come what may."""
    times = []
    with mmap.mmap(-1, _PAGES[0]) as buffer:
        for place in range(0, size, size // 8):
            began = time.perf_counter()
            os.preadv(file, [buffer], place)
            times.append(time.perf_counter() - began)
    return min(times)


def _folder() -> pathlib.Path:
    """Return the folder for temporary files, or one beside it where that lies in memory."""
    chosen = pathlib.Path(tempfile.gettempdir())
    for folder in (chosen, pathlib.Path("/var/tmp"), pathlib.Path.cwd()):
        if os.access(folder, os.W_OK) and _file_system(folder) not in _IN_MEMORY:
            return folder
    return chosen


def _no_direct_reads(folder: pathlib.Path) -> str:
    """Try one direct read; return why it can't be, empty where it can."""
    kind = _file_system(folder)
    if kind in _IN_MEMORY:
        return f"reads past the page cache are left out: {folder} lies in memory ({kind}); TMPDIR may name a real disk"
    if not hasattr(os, "O_DIRECT"):
        return "reads past the page cache are left out: this system has no O_DIRECT"
    try:
        with tempfile.NamedTemporaryFile(prefix="perfmodel-", dir=folder) as tried:
            tried.write(bytes(_PAGES[-1]))
            tried.flush()
            file = os.open(tried.name, os.O_RDONLY | os.O_DIRECT)
            try:
                with mmap.mmap(-1, _PAGES[0]) as buffer:
                    os.preadv(file, [buffer], 0)
            finally:
                os.close(file)
    except OSError as error:
        return f"reads past the page cache are left out: the file system of {folder} refuses them ({error.strerror})"
    return ""


def _file_system(folder: pathlib.Path) -> str:
    """Return the kind of file system that a folder lies on, empty where that isn't known."""
    try:
        mounts = pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    place, kind, longest = folder.resolve(), "", -1
    for line in mounts.splitlines():
        _, mounted, found, *_ = line.split()
        path = pathlib.Path(mounted.replace("\\040", " "))
        if place.is_relative_to(path) and len(path.parts) >= longest:
            kind, longest = found, len(path.parts)
    return kind


KERNEL = PageReads()
