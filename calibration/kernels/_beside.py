"""What lies between two pieces of a snapshot's work: other processes of its core, and what came over a pipe."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

CELLS: Final = 1 << 20  # bytes: what another process' cells and messages leave in a core's own cache
FRAME: Final = 12 << 20  # bytes: what the rest of a frame, and other tenants of a host meanwhile, leave in all caches


class Beside:
    """Fills caches with something else, then brings in what the next block will find there.

    Parameters
    ----------
    size : int
        Of what fills them [B].
    """

    def __init__(self, size: int = CELLS) -> None:
        self._junk = np.zeros(size, np.uint8)

    def __call__(self, *written: NDArray[Any]) -> None:
        """Displace; the arrays are then written as whoever received them would have."""
        np.add(self._junk, 1, out=self._junk)
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
