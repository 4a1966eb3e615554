"""What a snapshot's work costs on this machine: laws of the snapshot kernels, and their constants.

Every law is a fixed cost and a cost for each thing worked on; constants are fitted kernel by kernel, never to whole runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit import Constant, Fit, fit
from calibration.kernels import snapshot_cells, snapshot_graphs
from calibration.measurements import Record
from perfmodel.errors import MissingCalibration

Array = NDArray[np.float64]
Counts = Mapping[str, float]
KERNELS: Final = ("snapshot_cells", "snapshot_graphs", "snapshot_reads", "state_exchange")
_LEAST_SCATTER: Final = 0.05  # of the log: what laws as plain as these leave over


@dataclasses.dataclass(frozen=True)
class Law:
    """The time of one kind of work: so much for each of its counts.

    Attributes
    ----------
    kernel : str
    chosen : mapping of str to str
        What a point of the kernel must be to belong to it.
    costs : mapping of count to (Constant)
        What one of each counted thing costs.
    counts : callable
        From a record to its counts.
    """

    kernel: str
    chosen: Mapping[str, str]
    costs: Mapping[str, Constant]
    counts: Callable[[Record], Counts]

    def belongs(self, record: Record) -> bool:
        """Return whether a record is of this kind of work."""
        return record.kernel == self.kernel and all(record.point[key] == value for key, value in self.chosen.items())


def _cost(start: float, unit: str, meaning: str) -> Constant:
    return Constant("", ("",), start, (start * 1e-4, start * 1e4), unit, meaning)


def _work_laws() -> dict[str, Law]:
    call, flop = _cost(3e-5, "s", "fixed cost of a call"), _cost(3e-11, "s/flop", "one operation of a matrix product")
    element = _cost(1e-9, "s", "one element of a state through the gates")
    found = {
        f"{cell} {way}": Law(
            "snapshot_cells", {"cell": cell, "direction": way}, {"call": call, "flop": flop, "elements": element},
            lambda record: {"call": 1.0, **snapshot_cells.counts_of(record.point)},
        )
        for cell in ("lstm", "gru")
        for way in ("forward", "backward")
    }  # fmt: skip
    passed = _cost(3e-10, "s", "one element of a neighbor's row, averaged")
    taken = _cost(1e-9, "s", "one element that the layer takes in or gives out")
    for way in ("forward", "backward"):
        costs = {"call": call, "flop": flop, "elements": taken, **({"passed": passed} if way == "forward" else {})}
        found[f"graph {way}"] = Law(
            "snapshot_graphs", {"direction": way}, costs,
            lambda record: {"call": 1.0, **snapshot_graphs.counts_of(record.point)},
        )  # fmt: skip
    return found


def _read_laws() -> dict[str, Law]:
    call, byte = _cost(1e-5, "s", "fixed cost of a visit"), _cost(1e-10, "s/B", "one byte of a page")
    page = _cost(1e-6, "s", "looking one page up, and reading it where it is not there")
    return {
        f"read {kind}": Law(
            "snapshot_reads", {"kind": kind}, {"call": call, "pages": page, "bytes": byte},
            lambda record: {"call": 1.0, **record.counts},
        )
        for kind in ("held", "buffered", "unkept", "direct")
    }  # fmt: skip


def _exchange_laws() -> dict[str, Law]:
    wake = _cost(5e-5, "s", "waking the receiver, beside its first message")
    message = _cost(1e-5, "s", "one message")
    byte = _cost(1e-10, "s/B", "one byte of a message")
    return {
        f"{measured} {receiver}": Law(
            "state_exchange", {"measured": measured, "receiver": receiver},
            {"states": wake, "messages": message, "bytes": byte},
            lambda record: {**record.counts, "bytes": float(record.point["bytes"]) * record.counts["states"]},
        )
        for measured, receiver in (
            ("way", "other core"), ("way", "same core"), ("way", "other core through the host"), ("sent", "other core")
        )
    }  # fmt: skip


LAWS: Final[Mapping[str, Law]] = {**_work_laws(), **_read_laws(), **_exchange_laws()}


@dataclasses.dataclass(frozen=True)
class SnapshotConstants:
    """Fitted costs.

    Attributes
    ----------
    fits : mapping of law to Fit
    names : mapping of law to its counts, in the order of the fit's values
    """

    fits: Mapping[str, Fit]
    names: Mapping[str, tuple[str, ...]]

    def time(self, law: str, **counts: float) -> float:
        """Return the time of some work [s]; counts that are left out are none."""
        if law not in self.fits:
            raise MissingCalibration(
                law, "must have been measured on this machine", "no measurement", "perfmodel validate machine"
            )
        values = self.fits[law].values
        return float(sum(counts.get(name, 0.0) * value for name, value in zip(self.names[law], values, strict=True)))

    def drawn(self, random: np.random.Generator) -> SnapshotConstants:
        """Return the constants as they may be as well, by the uncertainty of their fits."""
        fits = {}
        for law, found in self.fits.items():
            logs = random.multivariate_normal(np.log(found.values), found.covariance, method="svd")
            fits[law] = dataclasses.replace(found, values=np.exp(logs))
        return SnapshotConstants(fits, self.names)

    def scatter(self, law: str) -> float:
        """Return what the law leaves over of its kernel's points [log]."""
        return float(np.sqrt(np.mean(self.fits[law].residuals ** 2)))

    def table(self) -> list[dict[str, Any]]:
        """Return every constant with its unit, interval and meaning."""
        return [
            {
                "law": law, "of": name, "value": float(value), "unit": constant.unit,
                "interval": [float(bound) for bound in interval], "meaning": constant.meaning,
            }
            for law, found in self.fits.items()
            for name, constant, value, interval in zip(
                self.names[law], LAWS[law].costs.values(), found.values, found.intervals(), strict=True
            )
        ]  # fmt: skip


def fitted(records: Sequence[Record]) -> SnapshotConstants:
    """Fit every law that was measured at more points than it has constants.

    Parameters
    ----------
    records : sequence of Record
        Of the snapshot kernels; others are passed over.
    """
    fits, names = {}, {}
    for law, own in LAWS.items():
        chosen = [record for record in records if own.belongs(record)]
        if len(chosen) > len(own.costs):
            fits[law], names[law] = _fitted(own, chosen), tuple(own.costs)
    return SnapshotConstants(fits, names)


def _fitted(law: Law, records: Sequence[Record]) -> Fit:
    counts = np.array([[law.counts(record)[name] for name in law.costs] for record in records])
    spread = np.array([record.spread if np.isfinite(record.spread) else 0.1 for record in records])
    return fit(
        lambda values: np.asarray(counts @ values),
        np.array([record.time for record in records]),
        np.hypot(_LEAST_SCATTER, spread / np.sqrt(3.0)),
        list(law.costs.values()),
        loss="soft_l1",
    )
