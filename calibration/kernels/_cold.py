"""Caches as a phase of a pipeline finds them: as it left them where mini-batches are small, displaced where they are not.

A kernel that runs its block over and over finds all of its data where it left it, and is up to twice as fast as the same
work between other phases. So kernels run at both ends, and the model says how much of the cache a mini-batch displaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Point

#: Bytes written between two blocks: none, and twice the last cache level of the machines that people have.
LEVELS: Final = (0, 1 << 26)


def at_both_ends(points: Sequence[Point]) -> list[Point]:
    """Return every point with its caches kept and with its caches displaced."""
    return [{**point, "displaced": size} for point in points for size in LEVELS]


class Displace:
    """Fills the caches with something else, then brings in what the block will find there.

    Parameters
    ----------
    point : mapping
        ``displaced`` says how many bytes are written.
    """

    def __init__(self, point: Point) -> None:
        self._junk = np.zeros(int(point["displaced"]), np.uint8)

    def __call__(self, *written: NDArray[Any]) -> None:
        """Displace; the arrays are then written as the phase before would have."""
        np.add(self._junk, 1, out=self._junk)
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
