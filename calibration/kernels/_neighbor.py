"""Another process on the same core, which works while the measuring one waits, as processes with snapshots do in turn."""

from __future__ import annotations

import contextlib
import os
from multiprocessing import get_context
from multiprocessing.connection import Connection

import numpy as np

from calibration.pipeline.chunks import PipelineError
from calibration.pipeline.process import one_thread, settle
from calibration.pipeline.snapshot_model import cell_backward, cell_forward, new_model, new_state

_TARGETS, _HIDDEN = 200, 32  # some tenths of a millisecond, forward and backward
_PATIENCE = 20.0  # seconds that it may take to start
_GO = b"."


class Neighbor:
    """Runs cells of its own each time it is called; its caller sleeps meanwhile."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        core = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        self._process = context.Process(target=_work, args=(core, os.getpid(), theirs), daemon=True)
        with one_thread():
            self._process.start()
        theirs.close()
        self()

    def __call__(self) -> None:
        """Let it work once.

        Raises
        ------
        PipelineError
            It ended, or does not come back.
        """
        try:
            self._pipe.send_bytes(_GO)
            if not self._pipe.poll(_PATIENCE):
                raise PipelineError(f"the process on the same core did not come back within {_PATIENCE:g} s")
            self._pipe.recv_bytes()
        except (EOFError, OSError):
            self.end()
            raise PipelineError("the process on the same core ended") from None

    def end(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(core: int | None, parent: int, pipe: Connection) -> None:
    settle(core, parent)
    weights = new_model("lstm", _HIDDEN, _HIDDEN, 1, 0).layers[0]
    inputs = np.ones((_TARGETS, _HIDDEN), np.float32)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.recv_bytes()
            state, kept = cell_forward("lstm", weights, inputs, new_state("lstm", _TARGETS, _HIDDEN))
            cell_backward("lstm", weights, kept, state)
            pipe.send_bytes(_GO)
