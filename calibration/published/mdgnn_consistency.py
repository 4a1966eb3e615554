"""Which published numbers contradict each other, whatever the machine: found from what ties them together.

No model of hardware is in here. Every configuration of a dataset and a depth has unknown parts: graph work of M-Base at one
device, split in arithmetic, flash and the rest; the recurrent part with and without peer-to-peer; how much of the
flash the pool leaves; the times and energies of other systems. The paper's own statements tie the rows to them:

- P2P leaves all but the recurrent phase as it is, and the pool all but flash; neither makes anything slower;
- graph work is shared out over the devices, the recurrent phase is not (Amdahl's law);
- speedups and energies of the same configuration multiply;
- a mean is over all of its configurations, a peak is no less than any that a mean of the same kind is over.

Rows contradict each other where no such parts meet them all to their printed digits and a margin.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from calibration.published.mdgnn_table import CSDS, Configuration, Published

Array = NDArray[np.float64]
NEAR_DATA: Final = ("m-base", "m-p2p", "m-dgnn")
#: Room beside the printed digits [log]: means may be of ratios or ratios of means.
MARGIN: Final = 0.005
#: Steps of each search for parts; a conflict is one only if as many more searches find none.
_TRIES: Final = (60, 60)
_TRIES_AGAIN: Final = (200,) * 4
_MOST: Final = 40  # sets of rows that are tried for further conflicts
_STEP: Final = 1e-6  # of a log
_SMALL: Final = 1e-9
_MET: Final = 0.01  # [log]; what is off by no more, beyond digits and margin, counts as met: searches end near the best
_PARTS: Final = ("arithmetic", "flash", "kept", "peer", "bounced")  # of every configuration, each from a free number
_GUESS: Final = (0.0, 1.0, -0.5, -1.5, -1.0)  # where searches start


@dataclasses.dataclass(frozen=True)
class Conflict:
    """Rows that can't be met together.

    Attributes
    ----------
    rows : tuple of str
        No row can be left out: the others among them can be met.
    apart : float
        The least that some of them must be off [log], beyond digits and margin.
    """

    rows: tuple[str, ...]
    apart: float


class Parts:
    """The unknown parts of all configurations that some rows are of, and what rows would be with them.

    Parts are arrays whose last axis is over the places (a dataset and a depth), those before it over guesses.
    """

    def __init__(self, rows: Sequence[Published]) -> None:
        self.rows = tuple(row for row in rows if is_tied(row))
        places = dict.fromkeys((c.dataset, c.layers) for row in self.rows for c in row.configurations)
        self.places = {place: number for number, place in enumerate(places)}
        compared = {"times": set[str](), "energies": set[str]()}
        for row in self.rows:
            kind = "energies" if "energy" in row.quantity else "times"
            compared[kind] |= {row.system, row.baseline} - {""}
        self._others = sorted(compared["times"] - set(NEAR_DATA))
        self._energies = sorted(compared["energies"])
        self.width = len(_PARTS) + len(self._others) + len(self._energies)
        self.size = len(places) * self.width
        self.guess = np.repeat([*_GUESS, *[0.0] * (self.width - len(_GUESS))], len(places))

    def split(self, free: Array) -> dict[str, Array]:
        """Return the parts by name; times in those of M-Base's graph work on one device."""
        table = np.clip(free.reshape(*free.shape[:-1], self.width, len(self.places)), -30.0, 30.0)
        column = [table[..., number, :] for number in range(self.width)]
        arithmetic, flash = np.exp(column[0]), np.exp(column[1])
        whole = 1.0 + arithmetic + flash
        found = {"arithmetic": arithmetic / whole, "flash": flash / whole, "peer": np.exp(column[3])}
        found["kept"] = 0.5 * (1.0 + np.tanh(0.5 * column[2]))
        found["bounced"] = found["peer"] + np.exp(column[4])
        names = [f"time {name}" for name in self._others] + [f"energy {name}" for name in self._energies]
        return found | {name: np.exp(column[len(_PARTS) + number]) for number, name in enumerate(names)}

    def where(self, configurations: Sequence[Configuration]) -> NDArray[np.int64]:
        """Return the places of some configurations."""
        return np.array([self.places[c.dataset, c.layers] for c in configurations], dtype=np.int64)

    def of(self, row: Published, parts: dict[str, Array], configurations: Sequence[Configuration]) -> Array:
        """Return what a row's quantity would be at some configurations, on the last axis; of a reduction, what it leaves."""
        at = {name: values[..., self.where(configurations)] for name, values in parts.items()}
        csds = np.array([c.csds for c in configurations], dtype=float)
        if "energy" in row.quantity:
            return at[f"energy {row.system}"] / at[f"energy {row.baseline}"]
        if row.quantity == "RNN share of runtime":
            parallel, serial = _times(at, row.system, csds)
            return serial / (parallel + serial)
        if row.quantity == "flash I/O share of the GNN phase":
            flash = at["flash"] * (at["kept"] if row.system == "m-dgnn" else 1.0)
            return flash / (flash + at["arithmetic"])
        baseline = np.full_like(csds, float(row.baseline_csds))
        return _time(at, row.baseline, baseline) / _time(at, row.system, csds)

    def excess(self, free: Array, ceilings: Mapping[str, Sequence[Configuration]]) -> Array:
        """Return how far rows are off [log], beyond digits and margin; and how far peaks are below what they may not be."""
        parts = self.split(free)
        found = []
        for row in self.rows:
            values = self.of(row, parts, row.configurations)
            least = row.kind == "peak" and "energy" in row.quantity
            value = (
                values.min(axis=-1) if least else values.max(axis=-1) if row.kind == "peak" else values.mean(axis=-1)
            )
            off = np.log(value / _aim(row))
            found.append(np.sign(off) * np.maximum(np.abs(off) - _room(row), 0.0))
            if row.id in ceilings:
                above = np.log(self.of(row, parts, ceilings[row.id]) / _aim(row))
                above = (-above if least else above) - _room(row)
                found.append(np.sqrt((np.maximum(above, 0.0) ** 2).sum(axis=-1)))
        return np.stack(found, axis=-1)


def is_tied(row: Published) -> bool:
    """Return whether anything that the paper says ties a row to others.

    It says of systems around the host only how they compare with others on as many devices, and of energies likewise.
    """
    if row.is_bound or row.quantity == "control plane share of runtime":
        return False
    if {row.system, row.baseline} <= {*NEAR_DATA, ""} and "energy" not in row.quantity:
        return True
    return bool(row.baseline) and {row.baseline_csds, *(c.csds for c in row.configurations)} == {CSDS}


def _times(at: Mapping[str, Array], system: str, csds: Array) -> tuple[Array, Array]:
    """Return a near-data system's parallel and serial time on so many devices."""
    parallel = 1.0 - at["flash"] * (1.0 - at["kept"]) if system == "m-dgnn" else np.ones_like(at["flash"])
    return parallel / csds, at["bounced" if system == "m-base" else "peer"]


def _time(at: Mapping[str, Array], system: str, csds: Array) -> Array:
    if system in NEAR_DATA:
        parallel, serial = _times(at, system, csds)
        return parallel + serial
    return at[f"time {system}"] / csds


def _aim(row: Published) -> float:
    """Return a row's value; of a reduction, what it leaves."""
    return max(1.0 - row.value, _SMALL) if "energy" in row.quantity else row.value


def _room(row: Published) -> float:
    """Return by how much a row may be off [log]."""
    share = row.value / _aim(row) if "energy" in row.quantity else 1.0
    return share * (float(np.log1p(row.resolution / row.value)) + MARGIN)


def ceilings(rows: Sequence[Published]) -> dict[str, tuple[Configuration, ...]]:
    """Return the configurations that each peak may not be below: those of means of the same kind."""
    found: dict[str, tuple[Configuration, ...]] = {}
    for peak, mean in itertools.product(rows, rows):
        alike = (peak.quantity, peak.system, peak.baseline) == (mean.quantity, mean.system, mean.baseline)
        if peak.kind == "peak" and mean.kind == "mean" and alike:
            of_peak = [c for c in mean.configurations if c.csds == peak.configurations[0].csds]
            found[peak.id] = (*found.get(peak.id, ()), *of_peak)
    return found


def distance(
    rows: Sequence[Published], above: Mapping[str, Sequence[Configuration]], searches: Sequence[int] = _TRIES
) -> float:
    """Return how far the worst of some rows must be off [log], 0 where all can be met.

    Parameters
    ----------
    rows : sequence of Published
        That must be met together.
    above : mapping
        The configurations that peaks may not be below.
    searches : sequence of int
        Steps of each search, from parts drawn at random but for the first.
    """
    parts = Parts(rows)
    if not parts.rows:
        return 0.0
    held = {
        name: tuple(c for c in all_of if (c.dataset, c.layers) in parts.places)
        for name, all_of in above.items()
        if any(row.id == name for row in parts.rows)
    }
    held = {name: known for name, known in held.items() if known}
    generator = np.random.default_rng(0)
    steps = np.vstack([np.zeros(parts.size), _STEP * np.eye(parts.size)])

    def off(free: Array) -> Array:
        return parts.excess(free, held)

    def slopes(free: Array) -> Array:
        found = parts.excess(free + steps, held)
        return np.asarray((found[1:] - found[0]).T / _STEP)

    best = np.inf
    for number, tries in enumerate(searches):
        free = parts.guess if number == 0 else parts.guess + generator.normal(0.0, 1.0, parts.size)
        found = optimize.least_squares(off, free, jac=slopes, method="trf", max_nfev=tries, xtol=1e-10, ftol=1e-6)
        best = min(best, float(np.abs(off(found.x)).max()))
        if best < _MET:
            return 0.0
    return best


def conflicts(rows: Sequence[Published]) -> list[Conflict]:
    """Return sets of rows that can't be met together, none of which has a row to spare.

    One conflict after another is broken by leaving one of its rows out, each in turn, until the others can be met (Reiter's
    tree of hitting sets).
    """
    met = _Memory(rows)
    found: list[Conflict] = []
    contested = tuple(row for row in rows if is_tied(row))
    waiting: list[frozenset[str]] = [frozenset()]
    mended: list[frozenset[str]] = []
    for left_out in waiting:  # which grows
        if met.tried > _MOST * len(contested):
            break
        if any(enough <= left_out for enough in mended):
            continue
        known = next((conflict for conflict in found if not left_out & set(conflict.rows)), None)
        if known is None:
            together = tuple(row for row in contested if row.id not in left_out)
            known = _smallest(together, met)
            if known is None:
                mended.append(left_out)
                continue
            found.append(known)
        waiting += [more for row in known.rows if (more := left_out | {row}) not in waiting]
    return found


class _Memory:
    """Remembers which sets of rows can be met."""

    def __init__(self, known: Sequence[Published]) -> None:
        self._above = ceilings(known)
        self._distances: dict[frozenset[str], float] = {}

    def __call__(self, rows: Sequence[Published]) -> bool:
        return self.distance(rows) == 0.0

    def distance(self, rows: Sequence[Published]) -> float:
        """Return how far the worst of some rows must be off; times and energies have nothing in common."""
        return max(self._of(kind) for kind in _kinds(rows))

    def _of(self, rows: Sequence[Published]) -> float:
        key = frozenset(row.id for row in rows)
        if key not in self._distances:
            self._distances[key] = distance(rows, self._above)
        return self._distances[key]

    def again(self, rows: Sequence[Published]) -> bool:
        """Search longer for parts that meet some rows."""
        for kind in _kinds(rows):
            if self._of(kind) > 0.0:
                key = frozenset(row.id for row in kind)
                self._distances[key] = min(self._of(kind), distance(kind, self._above, _TRIES_AGAIN))
        return self(rows)

    @property
    def tried(self) -> int:
        """Return how many sets of rows were tried."""
        return len(self._distances)


def _kinds(rows: Sequence[Published]) -> tuple[list[Published], list[Published]]:
    """Return the rows on energies and all others."""
    energies = [row for row in rows if "energy" in row.quantity]
    return energies, [row for row in rows if row not in energies]


def _smallest(rows: Sequence[Published], met: _Memory) -> Conflict | None:
    """Take rows in one after another; the one with which they can't be met any more belongs to the conflict.

    None where they can be met, or where that can't be told: searches for parts miss some that are there.
    """
    for _ in range(len(rows)):
        if met(rows):
            return None
        needed: list[Published] = []
        candidates = list(rows)
        while candidates and met(needed):
            taken = [[*needed, *candidates[: number + 1]] for number in range(len(candidates))]
            count = next((number for number, some in enumerate(taken) if not met(some)), 0)
            needed.append(candidates[count])
            candidates = candidates[:count]
        if not met(needed) and not met.again(needed):
            return Conflict(tuple(row.id for row in rows if row in needed), met.distance(needed))
        met.again(rows)
    return None


def set_apart(found: Sequence[Conflict], misfit: Callable[[str], float]) -> tuple[str, ...]:
    """Return the fewest rows without which no conflict is left; of several such sets, the one that fits worst.

    Parameters
    ----------
    found : sequence of Conflict
    misfit : callable
        How far a model is off a row, by its id.
    """
    involved = sorted({row for conflict in found for row in conflict.rows})
    for size in range(1, len(involved) + 1):
        hits = [
            chosen
            for chosen in itertools.combinations(involved, size)
            if all(set(chosen) & set(conflict.rows) for conflict in found)
        ]
        if hits:
            return max(hits, key=lambda chosen: sum(misfit(row) for row in chosen))
    return ()
