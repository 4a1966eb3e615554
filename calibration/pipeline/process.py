"""What every process of a pipeline does first: one core, one thread, memory that is kept, and an end with its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Sequence

_PR_SET_PDEATHSIG = 1
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # malloc.h
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def keep_memory() -> None:
    """Keep memory that is given back, so that buffers of a size seen before fault in no pages (glibc only).

    A loader that runs for hours does so by itself after its largest mini-batch; a short run would measure page faults.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_MAX, 0)
        library.mallopt(_M_TRIM_THRESHOLD, -1)


def settle(core: int | None, parent: int) -> None:
    """Pin this process to a core, keep its memory, and end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    keep_memory()
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent was gone before we asked to be told
        os._exit(1)


def preempted() -> int:
    """Return how often the system gave this process' core to somebody else while it had work to do."""
    try:
        import resource
    except ImportError:  # not told on this system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let children that are started meanwhile use one thread in their libraries, and leave Ctrl-C to their parent."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        with _interrupted_later():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _interrupted_later() -> Iterator[None]:
    """Hold Ctrl-C back; children that are started meanwhile never hear it, not even before they can ask for that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def cores() -> tuple[Sequence[int], int | None]:
    """Return the cores of the memory node and that of the compute node; the same where there is only one.

    The memory node and its workers share all cores but one, as a device of their own would have them.
    """
    if not hasattr(os, "sched_getaffinity"):
        return (), None
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[:-1] or allowed, allowed[-1]


def polling(first: int | None, second: int | None) -> float:
    """Return how long a process may poll before it sleeps [s]: not at all where both share one core."""
    return POLLING if first != second else 0.0


#: Longer than the other node's phases take: a core that sleeps takes tens of microseconds to wake up.
POLLING = 0.5
