"""Access traces of real programs' lives: the files that the commits of a public repository touched, in order of time.

=========  =====================================================  ========================================
name       from                                                   license of the repository
=========  =====================================================  ========================================
flask      github.com/pallets/flask, commits up to 2ac89889f4cc   BSD-3-Clause
networkx   github.com/networkx/networkx, up to cfc6b79fc53f       BSD-3-Clause
=========  =====================================================  ========================================

Each file holds ``time`` (days since the first commit) and ``item`` (a number for each path), one entry for each
file of each commit, oldest first, without merges; made by ``git log --no-merges --reverse --format=... --name-only``
from the repository's history. No content and no names are kept.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError, nearest

NAMES: Final = ("flask", "networkx")
_FOLDER: Final = pathlib.Path(__file__).parent


class Trace(NamedTuple):
    """Accesses in order.

    Attributes
    ----------
    time : array of float
        In any unit, not falling.
    item : array of int
        From 0 to the count of items less one.
    """

    time: NDArray[np.float64]
    item: NDArray[np.int64]

    def snapshots(self, count: int, by: str = "accesses") -> list[NDArray[np.int64]]:
        """Cut the trace into snapshots of equally many accesses, or of equal time (``by="time"``).

        Examples
        --------
        >>> trace = Trace(np.array([0.0, 1.0, 9.0, 10.0]), np.array([0, 1, 2, 3]))
        >>> [part.tolist() for part in trace.snapshots(2)], [part.size for part in trace.snapshots(5, "time")]
        ([[0, 1], [2, 3]], [2, 0, 0, 0, 2])
        """
        if by == "time":
            edges = np.linspace(self.time[0], self.time[-1], count + 1)[1:-1]
            return np.split(self.item, np.searchsorted(self.time, edges, side="right"))
        return np.array_split(self.item, count)


@functools.cache
def measured_trace(name: str) -> Trace:
    """Return a trace by its name.

    Raises
    ------
    SpecError
        An unknown name.

    Examples
    --------
    >>> measured_trace("flask").item.size
    9246
    """
    if name not in NAMES:
        raise SpecError("trace", f"must be one of {', '.join(NAMES)}", repr(name), nearest(name, NAMES))
    with np.load(_FOLDER / f"{name}.npz") as arrays:
        return Trace(arrays["time"].astype(np.float64), arrays["item"].astype(np.int64))
