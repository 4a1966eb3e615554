"""What lies between two pieces of a snapshot's work: other processes of its core, and what came over a pipe."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

AWAY: Final = (0.0, 3e-4)  # seconds that a process has slept: one that goes on, and one that a message has woken
CELLS: Final = 1 << 20  # bytes: what another process' cells and messages leave in a core's own cache
FRAME: Final = 12 << 20  # bytes: what the rest of a frame, and other tenants of a host meanwhile, leave in all caches


class Beside:
    """Fills caches with something else, then brings in what the next block will find there.

    Parameters
    ----------
    size : int
        Of what fills them [B].
    asleep : float
        How long the core is given away meanwhile, as by a process that waits for a message [s].
    """

    def __init__(self, size: int = CELLS, asleep: float = 0.0) -> None:
        self._junk, self._asleep = np.zeros(size, np.uint8), asleep

    def __call__(self, *written: NDArray[Any]) -> None:
        """Displace; the arrays are then written as whoever received them would have."""
        np.add(self._junk, 1, out=self._junk)
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
        if self._asleep > 0:
            time.sleep(self._asleep)
