"""Whether a core was disturbed while something was timed: a short fixed computation before and after says.

On a shared host a core runs at two speeds: a neighbor on the other thread of the same physical core, or a processor that
lowers its clock, makes everything up to twice as slow for milliseconds to seconds. A median over blocks is then the median
of two machines, in the shares of the moment. So every block has a pulse on both sides, and what counts are the blocks
between two pulses at full speed: on a quiet machine all of them. Where too few are, the faster half counts.

What other machines take of shared caches and of the memory's bandwidth does not show in a pulse.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: A pulse this many times as long as the shortest ones tells of a disturbance.
SLOWED: Final = 1.15
_FULL_SPEED: Final = 0.05  # quantile: the very shortest are luck of the clock
_LONGEST: Final = 0.05  # share of the blocks: interrupts, and whatever else happens seldom
_TURNS: Final = 80
_VALUES: Final = 512


class Pulse:
    """A fixed computation of about a tenth of a millisecond in the first cache; calling it gives its time [s].

    Examples
    --------
    >>> 0 < Pulse()() < 1
    True
    """

    def __init__(self) -> None:
        self._values = np.linspace(0.5, 1.0, _VALUES)

    def __call__(self) -> float:
        """Return how long the computation took this time [s]."""
        began = time.perf_counter()
        for _ in range(_TURNS):
            np.multiply(self._values, 0.999, out=self._values)
            np.add(self._values, 0.0005, out=self._values)
        return time.perf_counter() - began


def full_speed(pulses: Sequence[float]) -> float:
    """Return how long a pulse takes on this machine when nothing disturbs it [s]; nan where there is none.

    Examples
    --------
    >>> full_speed([1.0] * 30 + [1.7] * 70)
    1.0
    """
    return float(np.quantile(pulses, _FULL_SPEED)) if len(pulses) else float("nan")


def disturbed_share(pulses: Sequence[float]) -> float:
    """Return which share of the pulses tells of a disturbance; nan where there is none.

    Examples
    --------
    >>> disturbed_share([1.0] * 30 + [1.7] * 70)
    0.7
    """
    return float(np.mean(~calm(pulses, full_speed(pulses)))) if len(pulses) else float("nan")


def calm(pulses: Sequence[float], fast: float) -> NDArray[np.bool_]:
    """Return of each pulse whether it is at full speed.

    Examples
    --------
    >>> calm([1.0, 1.7, 1.1], fast=1.0).tolist()
    [True, False, True]
    """
    return np.asarray(pulses, dtype=float) <= SLOWED * fast


def steady(times: Sequence[float]) -> float:
    """Return the mean of all but the longest twentieth [s]: what adds up where pieces of work are disturbed in turn.

    A chain of many pieces is never undisturbed as a whole, and its median is no sum of its pieces' medians; but its mean is
    the sum of their means, whatever share of them was disturbed.

    Examples
    --------
    >>> steady([1.0] * 10 + [2.0] * 9 + [100.0])
    1.4736842105263157
    """
    ordered = np.sort(np.asarray(times, dtype=float))
    return float(ordered[: max(int(ordered.size * (1.0 - _LONGEST)), 1)].mean())


def undisturbed(times: Sequence[float], pulses: Sequence[float], fast: float, least: int) -> NDArray[np.intp]:
    """Return which blocks count, in their order: those between pulses at full speed, or the faster half.

    Parameters
    ----------
    times : sequence of float
        Of each block [s].
    pulses : sequence of float
        Of each block, the longer of the two beside it [s].
    fast : float
        A pulse at full speed [s].
    least : int
        Where fewer blocks than this are undisturbed, the faster half counts: its median is the lower quartile of all.

    Returns
    -------
    array of int

    Examples
    --------
    >>> undisturbed([5.0, 8.0, 5.2, 7.0], [1.0, 1.7, 1.1, 1.6], fast=1.0, least=2).tolist()
    [0, 2]
    >>> undisturbed([8.1, 8.0, 5.2, 7.0], [1.8, 1.7, 1.9, 1.6], fast=1.0, least=2).tolist()
    [2, 3]
    """
    found = np.flatnonzero(calm(pulses, fast))
    if found.size >= least:
        return found
    order = np.argsort(np.asarray(times, dtype=float), kind="stable")
    return np.sort(order[: max(len(times) + 1, 2) // 2])
