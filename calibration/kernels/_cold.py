"""Caches as a phase of a pipeline finds them: what the last phase wrote is there, everything else has been displaced.

A kernel that runs its block over and over would find all of its data where it left it, and be up to twice as fast as the
same work between other phases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.environment import fingerprint

_AT_LEAST, _AT_MOST = 1 << 23, 1 << 26  # bytes: what the phases between write, whatever the caches hold
_TIMES = 2  # caches keep some lines longer than others: one pass of their size leaves part of them


class Displace:
    """Fills the caches with something else, then brings in what the block will find there.

    In a pipeline the other phases do so: training alone writes tens of megabytes between two mini-batches.
    """

    def __init__(self) -> None:
        caches = fingerprint().caches.values()
        self._junk = np.zeros(min(max([_AT_LEAST, *(_TIMES * size for size in caches)]), _AT_MOST), np.uint8)

    def __call__(self, *written: NDArray[Any]) -> None:
        """Displace everything; the arrays are then written as the phase before would have."""
        np.add(self._junk, 1, out=self._junk)
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
