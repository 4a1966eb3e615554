"""Handing empty buffers through a ring between two cores, one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Point, Sample
from calibration.kernels._routing import RingKernel, configuration, now

_TURNS = 200
_WINDOWS = (16, 200)
_WAKING = 3e-4  # seconds within which the other core polls


class BufferHandover(RingKernel):
    """The engine's own ring, with nothing to do at either end."""

    name = "buffer_handover"
    isolates = "giving one signal and taking one between two cores that poll, at the slower end"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return rings that do and that do not run out of buffers."""
        return [{"message": 64, "buffer": 64, "window": window} for window in _WINDOWS]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Hand buffers over, and take them back."""
        with self.shared(configuration(point), "return") as (ring, other):

            def block() -> Sample:
                other.takes(_TURNS + 1)
                ring.free()
                ring.hand_over()
                awake = now() + _WAKING
                while now() < awake:
                    pass
                began = now()
                for _ in range(_TURNS):
                    ring.free()
                    ring.hand_over()
                taken = (now() - began) / _TURNS
                return {"time": taken, "turns": float(_TURNS), "other_pulse": other.pulse()}

            yield block


KERNEL = BufferHandover()
