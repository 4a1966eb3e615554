"""Intervals: draws of the fitted constants pushed through the compiled model, and the scatter that the fit left.

Constants are drawn jointly from the fit's covariance of their logs. What the fit did not explain multiplies phase times
by a lognormal factor: one for the transfer, one for the rest of a mini-batch. A phase that no profile has calibrated
gets the spread of its least sure number instead.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perfmodel.model.bound import bind
from perfmodel.spec.scenario import Scenario

Array = NDArray[np.float64]

LEVEL: Final = 0.9
DRAWS: Final = 256
_SEED: Final = 20260
#: Standard deviation of the log of a phase's time that no fit has seen, by its least sure number.
UNCALIBRATED_SPREAD: Final[Mapping[str, float]] = MappingProxyType(
    {"measured": 0.1, "calibrated": 0.15, "published": 0.25, "datasheet": 0.3, "analytic": 0.3, "assumed": 0.5}
)
_STEP = 0.02  # of a log, for the slopes of mini-batch quantities


@dataclasses.dataclass(frozen=True)
class Draws:
    """Draws of a scenario's uncertain values; the first of each array is the point estimate.

    Attributes
    ----------
    values : mapping of dotted key to array of shape (DRAWS + 1,)
    noise : mapping of step name to array of shape (DRAWS + 1,)
        Factors on the times of the steps.
    """

    values: Mapping[str, Array]
    noise: Mapping[str, Array]

    def apart(self) -> Draws:
        """Return draws of the same constants whose residual factors are paired with none of this one's.

        What a fit leaves over differs from one configuration to the next, so that it does not cancel in their ratio.
        """
        noise = {
            name: np.concatenate([factor[:1], np.roll(factor[1:], DRAWS // 3)]) for name, factor in self.noise.items()
        }
        return Draws(self.values, noise)


def draw(scenario: Scenario, spreads: Mapping[str, float], groups: Mapping[str, str]) -> Draws:
    """Draw a scenario's uncertain values.

    Parameters
    ----------
    scenario : Scenario
    spreads : mapping of step name to float
        Standard deviation of the log of the step's residual factor.
    groups : mapping of step name to str
        Steps of one group share one factor.

    Returns
    -------
    Draws
    """
    generator = np.random.default_rng(_SEED)
    deviations = {name: _deviations(scenario, name, generator) for name in sorted(scenario.profiles)}
    values: dict[str, Array] = {}
    batch_shift: dict[str, Array] = {}
    bound = bind(scenario)
    for parameter in scenario.uncertain:
        deviation = deviations[parameter.profile][:, parameter.index]
        for key in parameter.keys:
            if key not in bound.numbers:  # a workload's, from which the family works out what formulas take
                for name, slope in _batch_slopes(scenario, key).items():
                    batch_shift[name] = batch_shift.get(name, np.zeros(DRAWS + 1)) + slope * deviation
            else:
                mark = bound.numbers[key]
                values[key] = np.clip(bound.values[key] * np.exp(deviation), mark.low, mark.high)
    for name, shift in batch_shift.items():
        values[name] = bound.values[name] * np.exp(shift)
    shared = {group: _residual(group) for group in set(groups.values())}
    noise = {name: np.concatenate([[1.0], np.exp(spread * shared[groups[name]])]) for name, spread in spreads.items()}
    return Draws(values, noise)


def _residual(group: str) -> Array:
    """Draw a group's residual factor [log]; the same for every scenario, whatever other groups it has."""
    return np.random.default_rng([_SEED, zlib.crc32(group.encode())]).standard_normal(DRAWS)


def _deviations(scenario: Scenario, profile: str, generator: np.random.Generator) -> Array:
    """Draw the logs of a profile's constants around their values; the first row is zero."""
    covariance = np.asarray(scenario.profiles[profile].covariance, dtype=float)
    if covariance.size == 0:
        return np.zeros((DRAWS + 1, 0))
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # the symmetric one, free of the vectors' signs
    rows = generator.standard_normal((DRAWS, covariance.shape[0])) @ root
    return np.vstack([np.zeros(covariance.shape[0]), rows])


def _batch_slopes(scenario: Scenario, key: str) -> dict[str, float]:
    """Return how the log of each mini-batch quantity changes with the log of a constant of the graph or its seeds."""
    value: Any = scenario
    for part in key.split("."):
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    shifted = [scenario.replace({key: float(value) * np.exp(sign * _STEP)}) for sign in (1.0, -1.0)]
    slopes: dict[str, float] = {}
    above, below = (bind(changed).family.workload_values() for changed in shifted)
    for quantity, high in above.items():
        low = below.get(quantity, 0.0)
        if high > 0 and low > 0 and high != low:
            slopes[quantity] = float(np.log(high / low) / (2 * _STEP))
    return slopes


def interval(draws: Array, level: float = LEVEL) -> tuple[float, float]:
    """Return the central interval of draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
