"""Five laws with known parameters, measured at 25 points with 2 % noise, and the place to predict at."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.laws._base import Law, Points, law_named

Array = NDArray[np.float64]

NOISE: Final = 0.02
SEEDS: Final = 20
REACH: Final = 8.0  # times the largest value of each input


@dataclasses.dataclass(frozen=True)
class Case:
    """One law to recover.

    Attributes
    ----------
    name : str
        As the answer calls it.
    law_name : str
    truth : tuple of float
        The parameters.
    inputs : tuple of tuple of float
        25 values of each input.
    names, units : tuple of str
        Of the inputs and of the measured quantity.
    """

    name: str
    law_name: str
    truth: tuple[float, ...]
    inputs: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def law(self) -> Law:
        """Return the true law."""
        return law_named(self.law_name)

    @property
    def places(self) -> Array:
        """Return the measured points, of shape (inputs, 25)."""
        return np.array(self.inputs)

    @property
    def far(self) -> Array:
        """Return the point to predict at, of shape (inputs, 1)."""
        return np.asarray(REACH * self.places.max(axis=1, keepdims=True))

    def true(self, places: Array) -> Array:
        """Return the law's values without noise."""
        return np.asarray(self.law.value(places, np.array(self.truth)))

    def measured(self, seed: int) -> Points:
        """Return the points with the noise of a seed."""
        factors = 1.0 + NOISE * np.random.default_rng(seed).standard_normal(self.places.shape[1])
        return Points(self.places, self.true(self.places) * factors, self.names, self.units)


def _grid(rows: list[float], elements: list[float]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(column.ravel().tolist()) for column in np.meshgrid(rows, elements))


_DEPTHS: Final = (*range(1, 17), 20, 24, 28, 32, 40, 48, 64, 96, 128)

#: Times are in seconds but for the first and the last, whose unit is of no matter to either program.
CASES: Final = (
    Case(
        "a + b*x, linear spacing", "affine", (20.0, 1.0), (tuple(4.0 * np.arange(1.0, 26.0)),), ("size", "time"),
        ("B", "s"),
    ),
    Case(
        "c0 + c1*n*f", "product", (10.0, 1e-4), _grid([1e3, 2e3, 3e3, 4e3, 5e3], [32.0, 64.0, 128.0, 256.0, 512.0]),
        ("rows", "elements", "time"), ("1", "1", "s"),
    ),
    Case("max(a, b*x)", "saturating", (10.0, 1.0), (tuple(np.arange(1.0, 26.0)),), ("batch", "time"), ("1", "s")),
    Case(
        "a + b/k", "shared_over_devices", (2.0, 20.0), (tuple(np.arange(1.0, 26.0)),), ("devices", "time"), ("1", "s")
    ),
    Case(
        "closed loop", "closed_loop", (80.0, 0.4, 3.0), (tuple(map(float, _DEPTHS)),), ("depth", "latency"), ("1", "s")
    ),
)  # fmt: skip
