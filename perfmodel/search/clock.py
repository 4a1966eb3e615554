"""When a search must end: its time is up, or the user has pressed Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType


class Clock:
    """The time of a search.

    Parameters
    ----------
    timeout : float, optional
        Seconds that it may take.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self, timeout: float | None = None) -> None:
        self._start = time.monotonic()
        self._timeout = timeout
        self.interrupted = False

    @property
    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return float("inf") if self._timeout is None else self._timeout - self.seconds

    def stop(self) -> bool:
        """Return whether the search must end."""
        return self.interrupted or self.left <= 0

    def reason(self) -> str:
        """Return why it must end, nothing where it needn't."""
        if self.interrupted:
            return "interrupted"
        return "timeout" if self.left <= 0 else ""

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take a first Ctrl-C as a wish to end with the best so far; a second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(number: int, frame: FrameType | None) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
