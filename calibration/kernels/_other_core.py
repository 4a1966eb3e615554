"""A process on another core that stays from point to point: it is started, told things, answers, and ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

from calibration.cores import other_core
from calibration.kernels._base import Kernel
from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.process import one_thread, polling
from calibration.pipeline.shared_memory import Signals

_PATIENCE = 20.0  # seconds that the process may take to start or to answer

T = TypeVar("T", bound="OtherCore")


class OtherCore:
    """A process on another core.

    Parameters
    ----------
    serve : callable
        What it runs: gets its core, how long it may poll [s], this process's id, the signals, and its end of the pipe.

    Attributes
    ----------
    polling : float
        How long either side may poll before it sleeps [s].
    signals : Signals
        Shared with it.
    """

    def __init__(self, serve: Callable[..., None]) -> None:
        context = get_context("spawn")
        core = other_core()
        self.polling = polling(None, core)
        self.signals = Signals.of(context)
        self._pipe, theirs = context.Pipe()
        with one_thread():
            arguments = (core, self.polling, os.getpid(), self.signals, theirs)
            self._process = context.Process(target=serve, args=arguments, daemon=True)
            self._process.start()
        theirs.close()

    def tell(self, message: Any) -> None:
        """Send something to the process."""
        self._pipe.send(message)

    def answer(self) -> Any:
        """Wait for an answer.

        Raises
        ------
        PipelineError
            None came in time.
        """
        if not self._pipe.poll(_PATIENCE):
            raise PipelineError(f"the process on the other core did not answer within {_PATIENCE:g} s")
        return self._pipe.recv()

    def end(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


class TwoCoreKernel(Kernel, Generic[T]):
    """A kernel that may need a process on the other core, which stays for the next point."""

    def __init__(self) -> None:
        self._other: T | None = None

    def other(self, start: Callable[[], T]) -> T:
        """Return the process on the other core, started where there is none yet."""
        if self._other is None:
            self._other = start()
        return self._other

    def release(self) -> None:
        """End the process on the other core."""
        if self._other is not None:
            self._other.end()
            self._other = None
