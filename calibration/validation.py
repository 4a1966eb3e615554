"""Predicted against measured, row by row, and how good that is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Row:
    """One measured quantity with its prediction.

    Attributes
    ----------
    inputs : mapping
        What the row is about, by the table's columns.
    quantity : str
    measured, predicted : float
        In one unit.
    interval : tuple of float
        Of the prediction.
    resolution : float
        Half a unit of the last printed digit: what is printed as 0.02 may be anything from 0.015 to 0.025.
    properties : tuple of str
        Named properties of the experiment that the prediction takes into account.
    """

    inputs: Mapping[str, Any]
    quantity: str
    measured: float
    predicted: float
    interval: tuple[float, float]
    resolution: float = 0.0
    properties: tuple[str, ...] = ()

    @property
    def ape(self) -> float:
        """Return the absolute error as a share of the measured value."""
        return abs(self.predicted / self.measured - 1.0)

    @property
    def inside_interval(self) -> bool:
        """Return whether the measured value, to its printed resolution, lies in the prediction's interval."""
        low, high = self.interval
        return low <= self.measured + self.resolution and self.measured - self.resolution <= high

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            **self.inputs,
            "quantity": self.quantity,
            "measured": self.measured,
            "predicted": self.predicted,
            "interval": list(self.interval),
            "ape": self.ape,
            "inside_interval": self.inside_interval,
            "properties": list(self.properties),
        }


def balanced(levels: Mapping[str, Sequence[Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """Return configurations in which every level of every factor comes about equally often.

    Examples
    --------
    >>> sorted(row["chunk"] for row in balanced({"chunk": (1, 2), "window": (3, 4, 5)}, 6, seed=0))
    [1, 1, 1, 2, 2, 2]
    """
    rng = np.random.default_rng(seed)
    columns = {
        name: [of_factor[index] for index in rng.permutation(np.arange(count) % len(of_factor))]
        for name, of_factor in levels.items()
    }
    return [{name: column[row] for name, column in columns.items()} for row in range(count)]


def summary(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return count, errors and coverage of some rows.

    Examples
    --------
    >>> summary([Row({}, "transfer", 2.0, 2.2, (1.8, 2.4))])["median_ape"]
    0.1
    """
    if not rows:
        return {"n": 0, "median_ape": None, "mean_ape": None, "max_ape": None, "coverage_90": None}
    errors = np.array([row.ape for row in rows])
    return {
        "n": len(rows),
        "median_ape": round(float(np.median(errors)), 12),
        "mean_ape": float(np.mean(errors)),
        "max_ape": float(np.max(errors)),
        "coverage_90": float(np.mean([row.inside_interval for row in rows])),
    }


def by_quantity(rows: Iterable[Row]) -> dict[str, dict[str, float | int | None]]:
    """Return the summary of each quantity."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.quantity, []).append(row)
    return {quantity: summary(group) for quantity, group in sorted(groups.items())}
