"""Caches as a phase of a pipeline finds them: the longer since its last mini-batch, the more of them is displaced.

A kernel that runs its block over and over finds all of its data where it left it, and is up to twice as fast as the same
work between other phases. So between two blocks a kernel runs a little of every other phase, fills its core's own cache
with something else, and waits as long as the phases of the other node take.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Point
from calibration.pipeline.batches import Loader, PlainDrawing
from calibration.pipeline.configuration import SyntheticGraph, csc_of
from calibration.pipeline.precision import Codec
from calibration.pipeline.training import Trainer

#: Time between two blocks [s]: of small, middling and large mini-batches.
AWAY: Final = (2.5e-3, 7e-3, 20e-3)
_OWN = 1 << 21  # bytes: what else the other phases write, at least a core's own cache


def with_waiting(points: Sequence[Point]) -> list[Point]:
    """Return every point after each time of waiting."""
    return [{**point, "away": away} for point in points for away in AWAY]


class _OtherPhases:
    """A mini-batch of a few hundred nodes through all phases of a node: half a millisecond of other code and data."""

    def __init__(self) -> None:
        self._csc = csc_of(SyntheticGraph(2000, 8.0, 0.5, seed=11))
        rng = np.random.default_rng(11)
        features = rng.random((self._csc.nodes, 32), dtype=np.float32)
        self._loader = Loader(PlainDrawing(self._csc, (4, 3)), features, rng.integers(0, 4, self._csc.nodes))
        self._codec = Codec(32, "int8")
        self._trainer = Trainer((32, 16, 4))

    def __call__(self) -> None:
        batch = self._loader.load(np.arange(32), 0)
        rows = self._codec.decode(self._codec.encode(batch.features), batch.features.shape[0])
        self._trainer.step(batch.edge_index[0], batch.edge_index[1], rows, batch.labels)


@functools.cache
def _other_phases() -> _OtherPhases:
    return _OtherPhases()


class Wait:
    """Spends the time between two blocks, then brings in what the block will find in the cache.

    Parameters
    ----------
    point : mapping
        ``away`` says how long [s].
    """

    def __init__(self, point: Point) -> None:
        self._away = float(point["away"])
        self._junk = np.zeros(_OWN, np.uint8)
        self._others = _other_phases()

    def __call__(self, *written: NDArray[Any]) -> None:
        """Wait; the arrays are then written as the phase before would have."""
        until = time.perf_counter() + self._away
        self._others()
        np.add(self._junk, 1, out=self._junk)
        while time.perf_counter() < until:
            pass
        for array in written:
            flat = array.reshape(-1).view(np.uint8)
            np.bitwise_xor(flat, 0, out=flat)
