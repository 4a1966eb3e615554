"""What a law is, how the laws of this folder are found, and what their first guesses share."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

import calibration.laws
from perfmodel.errors import ModelError, SpecError, nearest
from perfmodel.units import Dimension, unit_factor

Array = NDArray[np.float64]
InputKind = Literal["any", "bytes", "count"]
OutputKind = Literal["any", "cost", "rate"]

TINY: Final = 1e-300  # below it nothing has a log

_SYMBOLS: Final = {"byte": "B", "second": "s", "joule": "J"}
_COUNTED: Final = frozenset({"node", "edge", "message"})
_REWEIGHTINGS: Final = 4
_SPLITS: Final = 24  # places of a knee that a first guess tries


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a law.

    Attributes
    ----------
    name, meaning : str
    bounds : tuple of float
        What is physically possible, in SI units.
    output_power : int
        Power of the measured quantity's unit in the parameter's unit.
    input_powers : tuple of int
        Powers of the inputs' units in it.
    located : bool
        Whether it is a place on the first input where the law jumps: known no better than between two measured ones.
    """

    name: str
    meaning: str
    bounds: tuple[float, float] = (0.0, math.inf)
    output_power: int = 1
    input_powers: tuple[int, ...] = ()
    located: bool = False


@dataclasses.dataclass(frozen=True)
class Points:
    """Measured points, in SI units.

    Attributes
    ----------
    inputs : array of shape (inputs, rows)
    output : array of shape (rows,)
    names : tuple of str
        Of the inputs and, last, of the output.
    units : tuple of str
        SI units in the same order.
    """

    inputs: Array
    output: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def distinct(self) -> int:
        """Return how many different points there are."""
        return int(np.unique(self.inputs, axis=1).shape[1])

    def only(self, rows: NDArray[np.bool_]) -> Points:
        """Return some of the rows."""
        return dataclasses.replace(self, inputs=self.inputs[:, rows], output=self.output[rows])


@dataclasses.dataclass(frozen=True, eq=False)
class Law:
    """One law.

    Attributes
    ----------
    name : str
        Equals the file's name.
    formula : str
        Over the inputs' and parameters' names.
    meaning : str
        When costs follow it, in one line.
    inputs : tuple of str
        The names that the formula gives the inputs.
    parameters : tuple of Parameter
    value : callable of (inputs of shape (inputs, rows), parameters of shape (parameters,)) to array of shape (rows,)
    guess : callable of (inputs, output) to array of shape (guesses, parameters)
        First guesses, of which the best are refined; within the bounds.
    input_kind : "any", "bytes" or "count"
    output_kind : "any", "cost" or "rate"
    positive : bool
        Whether an input of 0 makes no sense.
    """

    name: str
    formula: str
    meaning: str
    inputs: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    value: Callable[[Array, Array], Array]
    guess: Callable[[Array, Array], Array]
    input_kind: InputKind = "any"
    output_kind: OutputKind = "any"
    positive: bool = False

    def applies(self, points: Points) -> str | None:
        """Return why the law can't be fitted to these points, or None where it can."""
        count = len(self.inputs)
        if points.inputs.shape[0] != count:
            return f"takes {count} input{'s' * (count > 1)} ({', '.join(self.inputs)}), not {points.inputs.shape[0]}"
        wrong = self._wrong_units(points)
        if wrong is not None:
            return wrong
        for name, column in zip(points.names, points.inputs, strict=False):
            if self.positive and not (column > 0).all():
                return f"takes inputs above 0, and {name} reaches {column.min():g}"
            if np.unique(column).size < 2:
                return f"needs different values of {name}, and all are {column[0]:g}"
        least = len(self.parameters) + 1
        if points.distinct < least:
            return f"has {least - 1} parameters and needs {least} different points, not {points.distinct}"
        return None

    def _wrong_units(self, points: Points) -> str | None:
        *inputs, output = [dict(unit_factor(unit)[1]) for unit in points.units]
        for name, unit, dimension in zip(points.names, points.units, inputs, strict=False):
            if self.input_kind == "bytes" and dimension != {"byte": 1}:
                return f"takes a size in bytes, and {name} is in [{unit}]"
            if self.input_kind == "count" and not set(dimension) <= _COUNTED:
                return f"takes a count, and {name} is in [{unit}]"
        is_rate = output.get("second", 0) < 0
        if self.output_kind == "rate" and output and not is_rate:
            return f"is of rates, and {points.names[-1]} is in [{points.units[-1]}]"
        if self.output_kind == "cost" and is_rate:
            return f"is of times and costs, and {points.names[-1]} is a rate in [{points.units[-1]}]"
        return None

    def parameter_units(self, input_units: Sequence[str], output_unit: str) -> list[str]:
        """Return the SI unit of each parameter.

        Parameters
        ----------
        input_units : sequence of str
        output_unit : str

        Returns
        -------
        list of str

        Examples
        --------
        >>> all_laws()["affine"].parameter_units(["B"], "s")
        ['s', 's/B']
        """
        found = []
        for parameter in self.parameters:
            total: dict[str, int] = {}
            powers = [parameter.output_power, *parameter.input_powers]
            for power, unit in zip(powers, [output_unit, *input_units], strict=False):
                for base, own in unit_factor(unit)[1].items():
                    total[base] = total.get(base, 0) + power * own
            found.append(unit_text(total))
        return found


@functools.cache
def all_laws() -> Mapping[str, Law]:
    """Find every law of the folder, by name."""
    found: dict[str, Law] = {}
    for module in pkgutil.iter_modules(calibration.laws.__path__):
        if not module.name.startswith("_"):
            law: Law = importlib.import_module(f"{calibration.laws.__name__}.{module.name}").LAW
            if law.name != module.name:
                raise ModelError(f"laws/{module.name}.py holds a law called {law.name}")
            found[law.name] = law
    return dict(sorted(found.items()))


def law_named(name: str, where: str = "--law") -> Law:
    """Return one law.

    Raises
    ------
    SpecError
        No law of this name.
    """
    laws = all_laws()
    if name not in laws:
        near = nearest(name, [*laws, "auto"])
        raise SpecError(where, f"must be auto or a law ({', '.join(laws)})", repr(name), near)
    return laws[name]


def unit_text(dimension: Dimension) -> str:
    """Write a dimension as an SI unit of the unit table.

    Examples
    --------
    >>> unit_text({"second": 1, "byte": -1}), unit_text({"second": -1}), unit_text({})
    ('s/B', '1/s', '1')
    """
    above: list[str] = []
    below: list[str] = []
    for base, power in sorted(dimension.items()):
        (above if power > 0 else below).extend([_SYMBOLS.get(base, base)] * abs(power))
    return "/".join(["*".join(above) or "1", *below])


def nonnegative(columns: Sequence[Array], output: Array, rounds: int = _REWEIGHTINGS) -> tuple[Array, float]:
    """Return the nonnegative factors of some columns whose sum comes near the output, and the sum of log errors.

    Relative residuals, reweighted so that the absolute ones count: some wild values don't move the guess.

    Parameters
    ----------
    columns : sequence of arrays of shape (rows,)
    output : array of shape (rows,)
        Positive.
    rounds : int
        Of reweighting.

    Returns
    -------
    array of shape (columns,), float

    Examples
    --------
    >>> x = np.arange(1.0, 6.0)
    >>> nonnegative([np.ones(5), x], 3.0 + 2.0 * x)[0].round(6).tolist()
    [3.0, 2.0]
    """
    relative = np.column_stack(columns) / output[:, None]
    size = np.abs(relative).max(axis=0)
    size[size == 0] = 1.0
    weight = np.ones_like(output)
    best, least = np.zeros(len(columns)), math.inf
    for _ in range(rounds):
        factors, _rest = optimize.nnls(relative / size * weight[:, None], weight)
        predicted = relative @ (factors / size)
        error = np.abs(np.log(np.maximum(predicted, TINY)))
        if error.sum() < least:
            best, least = np.asarray(factors / size), float(error.sum())
        weight = np.sqrt(1.0 / np.maximum(error, max(0.3 * float(np.median(error)), 1e-9)))
        weight /= weight.max()
    return best, least


def power_guess(inputs: Array, output: Array) -> Array:
    """Return scale and exponents of a product of powers, by least absolute errors of the logs.

    Examples
    --------
    >>> power_guess(np.array([[1.0, 2.0, 4.0]]), np.array([3.0, 12.0, 48.0])).round(6).tolist()
    [3.0, 2.0]
    """
    columns = np.column_stack([np.ones_like(output), *np.log(inputs)])
    weight, found = np.ones_like(output), np.zeros(columns.shape[1], dtype=np.float64)
    for _ in range(_REWEIGHTINGS):
        found = np.asarray(np.linalg.lstsq(columns * weight[:, None], np.log(output) * weight, rcond=None)[0])
        error = np.abs(columns @ found - np.log(output))
        weight = np.sqrt(1.0 / np.maximum(error, max(0.3 * float(np.median(error)), 1e-9)))
        weight /= weight.max()
    return np.asarray([np.exp(np.clip(found[0], -600.0, 600.0)), *found[1:]], dtype=np.float64)


def knees(column: Array, beside: int = 1) -> Array:
    """Return places between neighboring values where a knee may lie, with some values on either side.

    Examples
    --------
    >>> knees(np.array([1.0, 4.0, 16.0, 16.0])).tolist()
    [2.0, 8.0]
    """
    values = np.unique(column[column > 0])
    between = np.sqrt(values[:-1] * values[1:])[beside - 1 : values.size - beside]
    if between.size > _SPLITS:
        between = between[np.linspace(0, between.size - 1, _SPLITS).round().astype(int)]
    return np.asarray(between, dtype=np.float64)


def ends(column: Array, output: Array, share: float = 0.15) -> tuple[Array, Array]:
    """Return where a column has its smallest and its largest values, as masks over the rows."""
    values = np.unique(column)
    count = max(1, round(share * values.size))
    return column <= values[count - 1], column >= values[-count]
