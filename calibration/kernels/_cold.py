"""Caches as a phase of a pipeline finds them: what the last phase wrote is there, everything else has been displaced.

A kernel that runs its block over and over would find all of its data where it left it, and be up to twice as fast as the
same work between other phases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.environment import fingerprint

_AT_LEAST = 1 << 21  # bytes of a core's own cache where the system does not tell
_TIMES = 3  # caches keep some lines longer than others: one pass of their size leaves part of them


class Displace:
    """Fills the core's own caches with something else, then brings in what the block will find there."""

    def __init__(self) -> None:
        own = max([_AT_LEAST, *(size for name, size in fingerprint().caches.items() if not name.startswith("L3"))])
        self._junk = np.zeros(_TIMES * own, np.uint8)

    def __call__(self, *written: NDArray[Any]) -> None:
        """Displace everything; the arrays are then written as the phase before would have."""
        np.add(self._junk, 1, out=self._junk)
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
