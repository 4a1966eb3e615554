"""One core for what is measured, so that nothing migrates, and another for whoever answers it."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator

_others: list[int] = []  # cores that this process may use beside the one it is pinned to


@contextlib.contextmanager
def one_core() -> Iterator[int | None]:
    """Pin this process to one of its cores and let it go again; None where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    core = max(allowed)  # interrupts go to the first core more often than to others
    os.sched_setaffinity(0, {core})
    _others[:] = sorted(allowed - {core})
    try:
        yield core
    finally:
        _others.clear()
        _release(core, allowed)


def _release(core: int, allowed: set[int]) -> None:
    """Let this thread use its cores again, and the threads that libraries started meanwhile and keep."""
    os.sched_setaffinity(0, allowed)
    for task in pathlib.Path("/proc/self/task").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # a thread may end while we look
            if os.sched_getaffinity(int(task.name)) == {core}:
                os.sched_setaffinity(int(task.name), allowed)


def memory_cores() -> list[int]:
    """Return the cores that a memory node would have: this process's own and all others but one."""
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return own + _others[:-1]


def other_core() -> int | None:
    """Return a core that the measuring leaves free, None where there is none or nothing is pinned."""
    return _others[-1] if _others else None
