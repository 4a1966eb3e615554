"""Measuring honestly: warm, repeated, interleaved, on one core, beside a noise floor, and kept as it comes.

A run makes rounds. In each the kernels come in another order, and the points of each kernel too, so that a machine that
slows down for a while spoils a few samples of many points, never all of one. A visit sets a point up, runs one block to
warm up, and then blocks for the visit's share of the time budget, at least one. A point whose blocks are longer than its
share is visited in fewer rounds, though in the first always.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import gc
import itertools
import math
import pathlib
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from calibration.cores import one_core
from calibration.disturbance import Pulse
from calibration.journal import Journal, Tell, header
from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.measurements import Line, Measurements, as_columns, point_key, read_journal, spent
from perfmodel.environment import fingerprint
from perfmodel.errors import PerfmodelError, SpecError

__all__ = ["Measurements", "Progress", "measure", "read_journal"]

#: Told how many visits are done and how many there are, between visits.
Progress = Callable[[int, int], None]

_MOST_BLOCKS = 64  # of one visit: more would fill the journal and tell nothing new
_TICK = 4000  # turns of the computation that gives the noise floor
_FIRST_TICKS = 10  # of the noise floor, before the first visit


@dataclasses.dataclass(frozen=True)
class Pace:
    """How much is measured.

    Attributes
    ----------
    rounds : int
    budget : float
        Time that all visits take together, about [s].
    visit : float
        Longest that blocks are repeated in one visit [s].
    """

    rounds: int
    budget: float
    visit: float


QUICK = Pace(rounds=3, budget=45.0, visit=0.06)
FULL = Pace(rounds=7, budget=540.0, visit=0.2)


def measure(
    kernels: Sequence[Kernel],
    journal: pathlib.Path,
    quick: bool,
    progress: Progress | None = None,
    budget: float | None = None,
    seed: int = 0,
    tell: Tell = lambda sentence: None,
) -> Measurements:
    """Run kernels at their points and write every sample to a journal; an interrupted run is taken up from it.

    Parameters
    ----------
    kernels : sequence of Kernel
    journal : Path
        JSON lines. One of another machine, version or setting, or a complete one, is renamed and kept.
    quick : bool
        Fewer points and rounds, within a minute; otherwise within ten.
    progress : callable, optional
        Told after each visit how many are done, of how many; never during one.
    budget : float, optional
        Time for all visits instead of the usual [s].
    seed : int
        Of the order of kernels and points.
    tell : callable
        Where to say what happens to an earlier journal.

    Returns
    -------
    Measurements

    Raises
    ------
    SpecError
        A journal that can't be written, is in use, or outgrew the disk.
    """
    pace = QUICK if quick else FULL
    pace = dataclasses.replace(pace, budget=pace.budget if budget is None else _positive(budget))
    usable, skipped = _usable(kernels, quick)
    environment = fingerprint()
    first = header(
        environment.as_dict(),
        environment.fingerprint_hash,
        _settings(usable, kernels, quick, pace, seed),
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )
    file = Journal(journal, first, tell)
    try:
        with _steady():
            _session(_Run(file, usable, pace, seed), skipped, progress)
    except KeyboardInterrupt:
        tell(f"{journal}: what was measured is kept there, and the next run of the same settings takes it up")
        raise
    finally:
        file.close()
        for kernel in kernels:
            kernel.release()
    return read_journal(journal)


def _positive(budget: float) -> float:
    if not 0 < budget < math.inf:
        raise SpecError("budget", "must be a time above 0 s", budget, "45")
    return budget


def _settings(
    usable: Mapping[Kernel, Sequence[Point]], kernels: Sequence[Kernel], quick: bool, pace: Pace, seed: int
) -> dict[str, Any]:
    return {
        "asked": sorted(kernel.name for kernel in kernels),
        "quick": quick,
        "seed": seed,
        **dataclasses.asdict(pace),
        "kernels": {kernel.name: [dict(point) for point in points] for kernel, points in usable.items()},
    }


def _usable(kernels: Sequence[Kernel], quick: bool) -> tuple[dict[Kernel, Sequence[Point]], list[tuple[str, str]]]:
    """Return the points of the kernels that this machine can run, and what is passed over and why."""
    usable: dict[Kernel, Sequence[Point]] = {}
    skipped = []
    for kernel in kernels:
        try:
            reason = kernel.unavailable()
            if not reason:
                usable[kernel] = list(kernel.points(quick))
                reason = kernel.left_out()
        except Exception as error:  # one kernel that fails must not take the others along
            reason = _sentence(error)
            usable.pop(kernel, None)
        if reason:
            skipped.append((kernel.name, reason))
    return usable, skipped


@contextlib.contextmanager
def _steady() -> Iterator[None]:
    """One core, one thread, and no garbage collector among the blocks."""
    import threadpoolctl

    gc.collect()
    gc.freeze()  # what the libraries keep need not be walked at every collection between visits
    try:
        with threadpoolctl.threadpool_limits(limits=1), one_core():
            yield
    finally:
        gc.unfreeze()


def _session(run: _Run, skipped: Sequence[tuple[str, str]], progress: Progress | None) -> None:
    """Measure until every round is made, and end the journal."""
    run.start()
    for name, reason in skipped:
        run.journal.append({"line": "skipped", "kernel": name, "reason": reason})
    visits = run.visits_left
    with _no_interrupt_lost() as check:
        for number in range(run.pace.rounds):
            for kernel, point in run.order(number):
                if run.due(kernel, point, number):
                    run.visit(kernel, point, number)
                    check()
                    if progress is not None:
                        progress(visits - run.visits_left, visits)
    run.journal.append({"line": "end", "seconds": run.earlier + time.perf_counter() - run.began})


@contextlib.contextmanager
def _no_interrupt_lost() -> Iterator[Callable[[], None]]:
    """Give what raises a Ctrl-C again that was dropped: Python ignores what is raised while a process forks."""
    dropped = False
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal dropped
        dropped = True
        signal.default_int_handler(number, frame)

    def check() -> None:
        if dropped:
            raise KeyboardInterrupt

    ours = before is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


class _Run:
    """One session: what is done, what it cost, and how much time is left for each visit."""

    def __init__(self, journal: Journal, usable: Mapping[Kernel, Sequence[Point]], pace: Pace, seed: int) -> None:
        self.journal, self.usable, self.pace, self.seed = journal, usable, pace, seed
        self.reference, self.pulse = reference_computation(), Pulse()
        self.earlier = spent(journal.lines)
        self.began = time.perf_counter()
        visits = [line for line in journal.lines if line["line"] == "visit"]
        self.done = {(*point_key(line["kernel"], line["point"]), line["round"]) for line in visits}
        self.cost = {point_key(line["kernel"], line["point"]): _least_cost(line) for line in visits}
        self.credit: dict[tuple[str, str], float] = {}
        self.broken: set[tuple[str, str]] = set()
        self.visits_made = 0
        self.visits_left = pace.rounds * sum(map(len, usable.values())) - len(self.done)

    def start(self) -> None:
        """Warm the core up and time the reference alone."""
        ticks = [self._reference() for _ in range(2 * _FIRST_TICKS)][_FIRST_TICKS:]
        times, pulses = zip(*ticks, strict=True)
        self.journal.append({"line": "start", "reference": list(times), "reference_pulses": list(pulses)})

    def _reference(self) -> tuple[float, float]:
        """Time the reference computation, between two pulses."""
        before = self.pulse()
        return self.reference(), max(before, self.pulse())

    def order(self, number: int) -> Iterator[tuple[Kernel, Point]]:
        """Return the points in the order of a round."""
        shuffled = random.Random(f"{self.seed} {number}")
        for kernel in shuffled.sample(list(self.usable), len(self.usable)):
            for point in shuffled.sample(list(self.usable[kernel]), len(self.usable[kernel])):
                yield kernel, point

    def due(self, kernel: Kernel, point: Point, number: int) -> bool:
        """Give a point its share of what time is left, and say whether that pays for a visit, or all can be paid for."""
        key = point_key(kernel.name, point)
        if (*key, number) in self.done:
            return False
        elapsed = time.perf_counter() - self.began
        left = self.pace.budget - self.earlier - elapsed
        self.credit[key] = self.credit.get(key, 0.0) + max(left, 0.0) / max(self.visits_left, 1)
        self.visits_left -= 1
        if key in self.broken:
            return False
        cost = self.cost.get(key, 0.0)  # unknown before the first visit, which is always made
        others = self.visits_left * elapsed / max(self.visits_made, 1)
        return cost <= self.credit[key] or cost + others <= left or key not in self.cost

    def visit(self, kernel: Kernel, point: Point, number: int) -> None:
        """Measure one point once and write it down, or the sentence of what went wrong."""
        key = point_key(kernel.name, point)
        where: Line = {"kernel": kernel.name, "point": dict(point), "round": number}
        began = time.perf_counter()
        try:
            with kernel.prepared(point) as block:
                samples, pulses, warm = _blocks(block, self.pulse, began + self.credit[key], self.pace.visit)
            line: Line = {"line": "visit", **where, "warm": warm, "samples": as_columns(samples), "pulses": pulses}
        except Exception as error:  # one kernel that fails must not take the others along
            self.broken.add(key)
            line = {"line": "failure", **where, "reason": _sentence(error)}
        self.visits_made += 1
        gc.collect()
        reference, pulse = self._reference()
        line |= {"reference": [reference], "reference_pulses": [pulse], "seconds": time.perf_counter() - began}
        self.credit[key] -= line["seconds"]
        if line["line"] == "visit":
            self.cost[key] = _least_cost(line)
        self.journal.append(line)


def _least_cost(visit: Line) -> float:
    """Return what a visit of one block would have taken [s]."""
    times = visit["samples"]["time"]
    return float(visit["seconds"] - sum(times) + statistics.median(times))


def _blocks(block: Block, pulse: Pulse, until: float, longest: float) -> tuple[list[Sample], list[float], bool]:
    """Run blocks until the share of the visit is used up.

    Returns
    -------
    samples : list of mapping
    pulses : list of float
        Of each sample, the longer of those before and after it [s].
    warm : bool
        False where the first block alone took the whole share: then it is the sample.
    """
    with _no_collector():
        began = time.perf_counter()
        beside = [pulse()]
        first = block()
        beside.append(pulse())
        now = time.perf_counter()
        if now >= until and now - began >= longest:
            return [_checked(first)], [max(beside)], False
        until = min(until, now + longest)
        samples: list[Sample] = []
        del beside[0]
        while not samples or (time.perf_counter() < until and len(samples) < _MOST_BLOCKS):
            samples.append(_checked(block()))
            beside.append(pulse())
    return samples, [max(pair) for pair in itertools.pairwise(beside)], True


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _checked(sample: Sample) -> Sample:
    if not sample["time"] > 0 or not all(map(math.isfinite, sample.values())):
        raise ValueError(f"a block gave {dict(sample)}; times must be above 0, and all numbers finite")
    return sample


def _sentence(error: Exception) -> str:
    if isinstance(error, PerfmodelError):
        return str(error)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def reference_computation() -> Callable[[], float]:
    """Return a fixed computation of a few milliseconds in the first cache; calling it gives its time [s].

    How much that time differs through a run says how far this core can be trusted: its clock, its interrupts, and who else
    runs on it, which a computation shorter than a turn of the scheduler wouldn't see. What memory, disks and other
    processes add isn't in it.
    """
    import numpy as np

    values = np.linspace(0.5, 1.0, 1024)

    def once() -> float:
        began = time.perf_counter()
        for _ in range(_TICK):
            np.multiply(values, 0.999, out=values)
            np.add(values, 0.0005, out=values)
        return time.perf_counter() - began

    return once
