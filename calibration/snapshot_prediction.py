r"""How long a frame takes on processes that hold snapshots: closed forms over what the kernels measured.

With ``P`` processes on ``K`` cores, a window of ``s`` snapshots and ``L`` layers a frame is

.. math:: t = t_{graphs} + (s-1)\,\delta_f + L\,c_f + (s-1)\,\delta_b + L\,c_b + t_{graphs\ back} + t_{update},\quad
   \delta = \max(c + e,\ L\,(c + o) / \min(P, K))

A snapshot's column of cells starts when the first state of the one before has arrived (``c + e``, cell and exchange), or when a
core is free for it. On one process nothing travels. Graphs take as long as the core with most to do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.kernels import snapshot_cells, snapshot_graphs
from calibration.pipeline.snapshot_messages import PIECE
from calibration.pipeline.snapshot_run import SnapshotRun
from calibration.snapshot_constants import SnapshotConstants

Array = NDArray[np.float64]
PHASES = ("graphs", "forward", "backward", "update")


@dataclasses.dataclass(frozen=True)
class Visits:
    """What one process reads in one frame: snapshots, and pages that are held, read and kept, read and not kept."""

    snapshots: int
    held: int
    kept: int
    unkept: int


def visits(asked: SnapshotRun, process: int, frame: int) -> Visits:
    """Return the pages that a process finds and reads, once the window has moved a few times.

    Between two visits of a page lie all pages of the snapshots that both windows have: an LRU smaller than those finds
    none of them, a pinned pool as many as it holds.

    Examples
    --------
    >>> run = SnapshotRun(processes=1, window=4, nodes=512, width=64, page=4096, capacity=90)
    >>> visits(run, 0, 9), visits(dataclasses.replace(run, policy="pinned"), 0, 9)
    (Visits(snapshots=4, held=0, kept=128, unkept=0), Visits(snapshots=4, held=90, kept=30, unkept=8))
    """
    owned = [t for t in range(frame, frame + asked.window) if asked.owner(t) == process]
    again = asked.pages * sum(t < frame + asked.window - 1 for t in owned)
    asked_for = asked.pages * len(owned)
    if asked.policy == "lru":
        held = again if asked.capacity >= again else 0
        kept = asked_for - held if asked.capacity > 0 else 0
        return Visits(len(owned), held, kept, asked_for - held - kept)
    held = min(asked.capacity, again)
    fresh = asked_for - again
    # what leaves the pool makes room for what comes, in about the share of its snapshots that it holds
    kept = asked_for - held if asked.capacity >= asked_for else round(fresh * held / max(again, 1))
    return Visits(len(owned), held, kept, asked_for - held - kept)


def predicted(asked: SnapshotRun, constants: SnapshotConstants, cores: int) -> dict[str, float]:
    """Return the time of a frame and of its phases [s], by the names of the host's clock and ``total``.

    Parameters
    ----------
    asked : SnapshotRun
    constants : SnapshotConstants
    cores : int
        That processes share in turn.
    """
    model = _Model(asked, constants, cores)
    times = {"graphs": model.graphs(), **model.chain(), "update": model.update()}
    return {"total": sum(times.values()), **times}


class _Model:
    """The closed forms of one run."""

    def __init__(self, asked: SnapshotRun, constants: SnapshotConstants, cores: int) -> None:
        self._asked, self._constants, self._cores = asked, constants, max(1, cores)

    def graphs(self) -> float:
        """Start all, wait for the core with most to do, hear from all."""
        asked = self._asked
        frames = range(asked.window, asked.window + asked.processes)
        busiest = [self._busiest([self._graph_time(p, frame) for p in range(asked.processes)]) for frame in frames]
        start = (asked.processes - 1) * self._sent(1, 0) + self._way("other core", 1, 0)
        return start + float(np.mean(busiest)) + self._way("other core", 1, 0)

    def _busiest(self, times: Sequence[float]) -> float:
        return max(sum(times[core :: self._cores]) for core in range(min(self._cores, len(times))))

    def _graph_time(self, process: int, frame: int) -> float:
        seen = visits(self._asked, process, frame)
        return self._reads(seen) + seen.snapshots * self.graph("forward")

    def _reads(self, seen: Visits) -> float:
        page, direct = self._asked.page, self._asked.reading == "direct"
        counts = {"held": seen.held, "direct": seen.kept + seen.unkept}
        if not direct:
            counts = {"held": seen.held, "buffered": seen.kept, "unkept": seen.unkept}
        chosen = {f"read {kind}": count for kind, count in counts.items() if count}
        return sum(self._constants.time(law, call=1.0, pages=n, bytes=n * page) for law, n in chosen.items())

    def reads(self) -> float:
        """Return what all processes together spend on reading in a frame [s]."""
        frames = range(self._asked.window, self._asked.window + self._asked.processes)
        each = [self._reads(visits(self._asked, p, f)) for f in frames for p in range(self._asked.processes)]
        return sum(each) / len(frames)

    def cell(self, way: str) -> float:
        """Return the time of one cell of all targets [s]."""
        counts = snapshot_cells.counts_of({**self._asked.inputs(), "direction": way})
        return self._constants.time(f"{self._asked.cell} {way}", call=1.0, **counts)

    def graph(self, way: str) -> float:
        """Return the time of one snapshot's graph [s]."""
        counts = snapshot_graphs.counts_of({**self._asked.inputs(), "direction": way})
        return self._constants.time(f"graph {way}", call=1.0, **counts)

    def chain(self) -> dict[str, float]:
        """Cells forward and backward, and what the last process does after them."""
        asked = self._asked
        last = -(-asked.window // asked.processes) * self.graph("backward")
        told = self._way("other core", 1, 0)
        pieces = -(-asked.weight_bytes // PIECE)
        return {
            "forward": 2 * told + self._wave(self.cell("forward")),
            "backward": self._wave(self.cell("backward")) + last + self._way("other core", pieces, asked.weight_bytes),
        }

    def _wave(self, cell: float) -> float:
        asked = self._asked
        if asked.processes == 1:
            return asked.window * asked.layers * cell
        size, parts = asked.state_bytes, asked.fragments
        spent = self._sent(parts, size) + self._moved(parts, size)
        passed = spent if asked.exchange == "host" else 0.0
        column = asked.layers * (cell + spent)
        together = min(asked.processes, self._cores)
        step = max(cell + self._exchange(), (column + asked.layers * passed) / together)
        return (asked.window - 1) * step + (column if asked.layers > 1 else cell)

    def _exchange(self) -> float:
        """Return the way of a state to the process that holds the next snapshot, on average over processes."""
        asked = self._asked
        if asked.exchange == "host":
            return self._way("other core through the host", asked.fragments, asked.state_bytes)
        following = [(p + 1) % asked.processes for p in range(asked.processes)]
        same = np.mean([p % self._cores == after % self._cores for p, after in enumerate(following)])
        ways = {where: self._way(where, asked.fragments, asked.state_bytes) for where in ("same core", "other core")}
        return float(same * ways["same core"] + (1 - same) * ways["other core"])

    def update(self) -> float:
        """Send the sum of all gradients to every process."""
        pieces = -(-self._asked.weight_bytes // PIECE)
        return self._asked.processes * self._sent(pieces, self._asked.weight_bytes)

    def _way(self, where: str, messages: int, size: int) -> float:
        return self._constants.time(f"way {where}", states=1.0, messages=messages, bytes=size)

    def _sent(self, messages: int, size: int) -> float:
        return self._constants.time("sent other core", states=1.0, messages=messages, bytes=size)

    def _moved(self, messages: int, size: int) -> float:
        """Return what messages cost a core without waking anyone: taking them is like sending them."""
        return self._constants.time("sent other core", messages=messages, bytes=size)


def work(asked: SnapshotRun, constants: SnapshotConstants, cores: int) -> dict[str, float]:
    """Return what all processes together spend on each kind of work in a frame [s], by the names of their own clocks."""
    model, cells = _Model(asked, constants, cores), asked.window * asked.layers
    return {
        "read": model.reads(),
        "graph": asked.window * model.graph("forward"),
        "cell": cells * model.cell("forward"),
        "cell_backward": cells * model.cell("backward"),
        "graph_backward": asked.window * model.graph("backward"),
    }


def interval(
    asked: SnapshotRun, constants: SnapshotConstants, cores: int, draws: int = 200, level: float = 0.9, seed: int = 0
) -> Mapping[str, tuple[float, float]]:
    """Return the interval of every phase and of the total.

    Constants are drawn from their fits, and every law's time is scaled by what it left over of its kernel's points.
    """
    random = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        drawn = constants.drawn(random)
        scaled = {
            law: dataclasses.replace(own, values=own.values * np.exp(constants.scatter(law) * random.standard_normal()))
            for law, own in drawn.fits.items()
        }
        found.append(predicted(asked, SnapshotConstants(scaled, constants.names), cores))
    low, high = (1 - level) / 2, (1 + level) / 2
    return {
        name: (float(np.quantile([d[name] for d in found], low)), float(np.quantile([d[name] for d in found], high)))
        for name in ("total", *PHASES)
    }
