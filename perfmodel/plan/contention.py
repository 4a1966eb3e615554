"""Contention: how long a mini-batch stays where others queue, by Bard's approximate mean value analysis.

A closed network of mini-batches: each replica of a job keeps a fixed number in flight. By the arrival theorem one that
comes to a station finds what is there with one mini-batch fewer in the network. Bard (1979) takes what is there with all
of them, so that a station busy for a share ``u`` of the time holds ``u / (1 - u)`` and work of ``d`` stays ``d / (1 - u)``.
With one class of mini-batches that is a bound, as queues grow with their number (studies of the exact recursion in the
tests); with several it is an approximation on the slow side in all but contrived cases.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def residence(work: Any, utilization: Any) -> Any:
    """Return how long work stays at a station that others keep busy, too; infinite where it is overloaded.

    Parameters
    ----------
    work : float or array
        Time that it takes by itself [s].
    utilization : float or array
        Share of the time that the station is busy, with this work.

    Returns
    -------
    float or array
        In seconds [s].

    Notes
    -----
    Y. Bard, Some extensions to multiclass queueing network analysis, Performance of Computer Systems, 1979.

    Examples
    --------
    >>> float(residence(2.0, 0.5))
    4.0
    """
    free = 1.0 - np.asarray(utilization, dtype=np.float64)
    return np.where(free > 0.0, work / np.where(free > 0.0, free, 1.0), np.where(np.asarray(work) > 0.0, np.inf, 0.0))


def divisible(share: float) -> float:
    """Return the smallest power of 1/2 that is at least a share of a unit; shares of such sizes pack without a gap.

    Examples
    --------
    >>> divisible(0.3), divisible(0.5), divisible(1.2)
    (0.5, 0.5, 1.0)
    """
    if share <= 2.0**-30:
        return 2.0**-30
    return float(min(1.0, 2.0 ** -math.floor(-math.log2(share) + 1e-12)))
