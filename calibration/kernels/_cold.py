"""Caches as a phase of a pipeline finds them: the longer since its last mini-batch, the more of them is displaced.

A kernel that runs its block over and over finds all of its data where it left it, and is up to twice as fast as the same
work between other phases. So between two blocks a kernel fills its core's own cache with something else, as the other
phases of its node do, and waits as long as the phases of the other node take.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Point

#: Time between two blocks [s]: of small, middling and large mini-batches.
AWAY: Final = (1e-3, 5e-3, 20e-3)
_OWN = 1 << 22  # bytes: more than a core's own cache


def with_waiting(points: Sequence[Point]) -> list[Point]:
    """Return every point after each time of waiting."""
    return [{**point, "away": away} for point in points for away in AWAY]


class Wait:
    """Spends the time between two blocks, then brings in what the block will find in the cache.

    Parameters
    ----------
    point : mapping
        ``away`` says how long [s].
    """

    def __init__(self, point: Point) -> None:
        self._away = float(point["away"])
        self._other = np.zeros(_OWN, np.uint8)

    def __call__(self, *written: NDArray[Any]) -> None:
        """Wait; the arrays are then written as the phase before would have."""
        until = time.perf_counter() + self._away
        np.add(self._other, 1, out=self._other)
        while time.perf_counter() < until:
            pass
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
