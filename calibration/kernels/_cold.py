"""Caches as a phase of a pipeline finds them: the longer since its last mini-batch, the more of them is displaced.

A kernel that runs its block over and over finds all of its data where it left it, and is up to twice as fast as the same
work between other phases. So kernels also run after waiting as long as other phases take.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Point

#: Time between two blocks [s]: none, and what small and large mini-batches take.
AWAY: Final = (0.0, 4e-3, 20e-3)


def with_waiting(points: Sequence[Point]) -> list[Point]:
    """Return every point after each time of waiting."""
    return [{**point, "away": away} for point in points for away in AWAY]


class Wait:
    """Waits between blocks as a pipeline's processes do, polling, then brings in what the block will find in the cache.

    Parameters
    ----------
    point : mapping
        ``away`` says how long [s].
    """

    def __init__(self, point: Point) -> None:
        self._away = float(point["away"])

    def __call__(self, *written: NDArray[Any]) -> None:
        """Wait; the arrays are then written as the phase before would have."""
        until = time.perf_counter() + self._away
        while time.perf_counter() < until:
            pass
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
