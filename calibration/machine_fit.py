"""Fits to the micro-runs of one machine: group by group, and what they had to take for granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit import Constant, Fit, fit
from calibration.machine_constants import DEVICE, Group
from calibration.machine_groups import GROUPS
from calibration.measurements import Measurements, Record

Array = NDArray[np.float64]

#: What a phase's law is trusted to leave over where the points themselves are sharper [log].
LEAST_SCATTER: Final = 0.03


@dataclasses.dataclass(frozen=True)
class FittedGroup:
    """A group with its constants' values.

    Attributes
    ----------
    group : Group
    found : Fit
    records : sequence of Record
    """

    group: Group
    found: Fit
    records: Sequence[Record]

    @property
    def values(self) -> dict[str, float]:
        """Return the constants' values by the names of the nomenclature."""
        return dict(zip(self.group.constants, map(float, self.found.values), strict=True))

    @property
    def errors(self) -> Array:
        """Return the absolute errors of the points as a share of the measured times."""
        return np.abs(np.expm1(self.found.residuals))


def fitted_groups(measured: Measurements, earlier: Mapping[str, Any] | None = None) -> list[FittedGroup]:
    """Fit every group whose kernels were measured; constants of earlier groups are known to later ones.

    Where the kernels of an earlier group were not run, its constants of the device are those of an earlier profile, and
    without one the values that a fit would start from: ``assumed`` says which those are.
    """
    values = _known(measured, [], earlier)
    found = []
    for group in GROUPS:
        records = [record for record in measured.samples if record.kernel in group.kernels]
        kernels = {record.kernel for record in records}
        chosen = group.chosen(records)
        if kernels == set(group.kernels) and len(chosen) > len(group.constants):
            fitted = _fitted(group, chosen, values)
            values.update(fitted.values)
            found.append(fitted)
    return found


def _known(
    measured: Measurements, groups: Sequence[FittedGroup], earlier: Mapping[str, Any] | None
) -> dict[str, float]:
    """Return the values of the device's constants: fitted, of an earlier profile, or those that a fit starts from."""
    kept = {
        field: float(parameter["value"])
        for parameter in (earlier or {}).get("parameters", ())
        if parameter["entry"] == DEVICE
        for field in parameter["fields"]
    }
    values = {name: kept.get(constant.fields[0], constant.start) for name, constant in _of_device()}
    values["cores"] = memory_cores(measured)
    for fitted in groups:
        values.update(fitted.values)
    return values


def _of_device() -> list[tuple[str, Constant]]:
    return [pair for group in GROUPS for pair in group.constants.items() if pair[1].entry == DEVICE]


def assumed(
    measured: Measurements, groups: Sequence[FittedGroup], earlier: Mapping[str, Any] | None = None
) -> list[Constant]:
    """Return the constants that fits depend on, but that neither a kernel nor an earlier profile has measured."""
    values = _known(measured, groups, earlier)
    have = {field for fitted in groups for constant in fitted.group.constants.values() for field in constant.fields}
    have |= {
        field
        for parameter in (earlier or {}).get("parameters", ())
        if parameter["entry"] == DEVICE and not str(parameter.get("source", "")).startswith("assumed")
        for field in parameter["fields"]
    }
    guesses = {name: constant for name, constant in _of_device() if constant.fields[0] not in have}
    return [constant for name, constant in guesses.items() if any(_hangs_on(name, each, values) for each in groups)]


def _hangs_on(name: str, fitted: FittedGroup, values: Mapping[str, float]) -> bool:
    """Return whether what a group predicts changes with a constant of another."""
    if name in fitted.group.constants:
        return False
    own = {**values, **fitted.values}
    other = {**own, name: 2.0 * own[name]}
    return any(fitted.group.predict(r, own) != fitted.group.predict(r, other) for r in fitted.records)


def memory_cores(measured: Measurements) -> float:
    """Return the cores that the memory node shares with its workers: all but one."""
    return float(max((measured.environment.cores or 1) - 1, 1))


def _fitted(group: Group, records: Sequence[Record], known: Mapping[str, float]) -> FittedGroup:
    times = np.array([record.time for record in records])
    spread = np.array([record.spread if np.isfinite(record.spread) else 0.1 for record in records])
    error = np.hypot(LEAST_SCATTER, spread / np.sqrt(3.0))

    def predicted(values: Array) -> Array:
        named = {**known, **dict(zip(group.constants, (float(value) for value in values), strict=True))}
        return np.array([group.predict(record, named) for record in records])

    return FittedGroup(group, fit(predicted, times, error, list(group.constants.values()), loss="soft_l1"), records)
