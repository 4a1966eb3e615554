"""From a table of measurements to a fitted law with predictions: what ``calibrate --from`` computes."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

import perfmodel
from calibration.law_choice import Candidate, choose, evaluate
from calibration.law_fit import LawFit, fit_law
from calibration.laws._base import Array, Law, law_named
from calibration.measurement_table import MeasurementTable, check_signs, to_si
from calibration.noise import LackOfFit, Noise, lack_of_fit, measured_noise
from perfmodel.errors import SpecError, UnitError, nearest, shown
from perfmodel.units import parse

LEVEL: Final = 0.9  # of intervals
_RESERVED: Final = ("value", "interval", "unit")  # keys of a prediction
_UNLIKELY: Final = 0.01  # chance below which a law is said not to fit
_CHOICE_ROWS: Final = 1_000  # that a law is chosen on; more would take minutes and tell the same


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A value elsewhere.

    Attributes
    ----------
    inputs : mapping of str to float
        In SI units.
    value : float
    interval : tuple of float
        That holds one more measurement.
    inside : bool
        Whether every input lies within the measured range.
    """

    inputs: Mapping[str, float]
    value: float
    interval: tuple[float, float]
    inside: bool


@dataclasses.dataclass(frozen=True)
class Calibration:
    """A law fitted to a table.

    Attributes
    ----------
    table : MeasurementTable
    fit : LawFit
    candidates : tuple of Candidate
        The chosen law's errors on points left out; those of every law where it was to be chosen.
    noise : Noise
    lack : LackOfFit or None
    predictions : tuple of Prediction
    """

    table: MeasurementTable
    fit: LawFit
    candidates: tuple[Candidate, ...]
    noise: Noise
    lack: LackOfFit | None
    predictions: tuple[Prediction, ...]

    @property
    def law(self) -> Law:
        """Return the fitted law."""
        return self.fit.law

    @property
    def formula(self) -> str:
        """Return the formula with the table's names; a name that is no word stands in brackets."""
        names = [column.name if column.name.isidentifier() else f"[{column.name}]" for column in self.table.columns]
        own = dict(zip(self.law.inputs, names, strict=False))
        text = re.sub(r"\b[a-z]\w*", lambda word: own.get(word[0], word[0]), self.law.formula)
        return f"{names[-1]} = {text}"

    @property
    def validation(self) -> Candidate:
        """Return how the law does on points left out."""
        return next(one for one in self.candidates if one.law is self.law)

    def parameters(self) -> dict[str, dict[str, Any]]:
        """Return value, interval, unit and meaning of each parameter."""
        *inputs, output = self.table.points.units
        units = self.law.parameter_units(inputs, output)
        rows = zip(self.law.parameters, self.fit.values, self.fit.intervals(LEVEL), units, strict=True)
        return {
            own.name: {"value": float(value), "interval": list(interval), "unit": unit, "meaning": own.meaning}
            for own, value, interval, unit in rows
        }

    def warnings(self) -> list[str]:
        """Return what a reader of the numbers should know."""
        found = []
        missing = self.table.missing
        if missing:
            lines = _listed([one.line for one in missing])
            found.append(f"{_rows(len(missing))} without a value left out ({lines})")
        wild = [self.table.lines[index] for index in np.flatnonzero(self.fit.outliers)]
        if wild:
            found.append(f"{_rows(len(wild))} far off the law left aside as outliers ({_listed(wild)})")
        if self.lack is not None and self.lack.p_value < _UNLIKELY:
            found.append(
                f"{self.law.name} misses the points by more than their noise explains (p = {self.lack.p_value:.2g})"
            )
        outside = [_at_text(one.inputs) for one in self.predictions if not one.inside]
        if outside:
            found.append(f"outside the measured range: {'; '.join(outside[:5])}{'; ...' * (len(outside) > 5)}")
        return found

    def to_dict(self, chosen: bool) -> dict[str, Any]:
        """Return all of it as plain values, with the candidates where the law was ``chosen`` among them."""
        predicted = self.law.value(self.table.points.inputs, self.fit.values)
        document: dict[str, Any] = {
            "schema": 1,
            "perfmodel": perfmodel.__version__,
            "inputs": {self.table.file: self.table.sha256},
            "columns": [{"name": one.name, "unit": one.si_unit} for one in self.table.columns],
            "law": self.law.name,
            "formula": self.formula,
            "meaning": self.law.meaning,
            "parameters": self.parameters(),
            "interval_level": LEVEL,
            "cross_validation_error": self.validation.cross_validation_error,
            "extrapolation_error": self.validation.extrapolation_error,
            "rows": len(self.table.lines),
            "points": self.table.points.distinct,
            "missing": [dataclasses.asdict(one) for one in self.table.missing],
            "outliers": [self.table.lines[index] for index in np.flatnonzero(self.fit.outliers)],
            "scatter": float(self.fit.scatter * np.median(self.noise.errors)),
            "noise": self.noise.typical,
            "lack_of_fit": None if self.lack is None else dataclasses.asdict(self.lack),
            "residuals": [
                {"line": line, "measured": float(seen), "predicted": float(value), "error": float(value / seen - 1.0)}
                for line, seen, value in zip(self.table.lines, self.table.points.output, predicted, strict=True)
            ],
            "warnings": self.warnings(),
        }
        if chosen:
            document["candidates"] = [_candidate(one, self.law) for one in self.candidates]
        if self.predictions:
            document["predictions"] = [
                {**one.inputs, "value": one.value, "interval": list(one.interval), "unit": self.table.points.units[-1]}
                for one in self.predictions
            ]
        return document


def calibrate_table(table: MeasurementTable, law: str = "auto", at: Sequence[str] = ()) -> Calibration:
    """Fit a law to a table, or the one that predicts left-out points best, and predict elsewhere.

    Parameters
    ----------
    table : MeasurementTable
    law : str
        Name of a law, or ``auto``.
    at : sequence of str
        Places to predict at: values of the input, or pairs ``a=1e6;b=10``.

    Returns
    -------
    Calibration

    Raises
    ------
    SpecError
        No such law, a law that does not apply, values out of range.
    """
    given = None if law == "auto" else law_named(law)
    check_signs(table)
    points = table.points
    noise = measured_noise(points)
    if given is not None:
        reason = given.applies(points)
        if reason is not None:
            raise SpecError(f"--law {given.name}", f"must apply to {table.file}", f"a law that {reason}", "auto")
    places = np.array([_place(table, text) for text in at]).reshape(len(at), points.inputs.shape[0]).T
    sample = _sample(len(table.lines))
    if given is None:
        picked, candidates = choose(points.only(sample), noise.errors[sample])
    else:
        picked, candidates = given, [evaluate(given, points.only(sample), noise.errors[sample])]
    _check_places(picked, table, places)
    fitted = fit_law(picked, points, noise.errors)
    lack = lack_of_fit(fitted, noise)
    return Calibration(table, fitted, tuple(candidates), noise, lack, _predictions(fitted, table, places))


def _sample(rows: int) -> np.typing.NDArray[np.bool_]:
    """Return the rows that a law is chosen on: all of them, or some spread evenly over the file."""
    chosen = np.zeros(rows, dtype=bool)
    chosen[np.linspace(0, rows - 1, min(rows, _CHOICE_ROWS)).round().astype(int)] = True
    return chosen


def _predictions(fitted: LawFit, table: MeasurementTable, places: Array) -> tuple[Prediction, ...]:
    if not places.size:
        return ()
    low, high = table.points.inputs.min(axis=1), table.points.inputs.max(axis=1)
    found = []
    names = [column.name for column in table.columns[:-1]]
    for place, value, lower, upper in zip(places.T, *fitted.predict(places, LEVEL), strict=True):
        inside = bool(((low <= place) & (place <= high)).all())
        inputs = dict(zip(names, map(float, place), strict=True))
        found.append(Prediction(inputs, float(value), (float(lower), float(upper)), inside))
    return tuple(found)


def _place(table: MeasurementTable, text: str) -> list[float]:
    """Return the inputs of one place, in SI units."""
    names = [column.name for column in table.columns[:-1]]
    example = ";".join(f"{name}=1" for name in names)
    reserved = [name for name in names if name in _RESERVED]
    if reserved:
        rule = f"an input must not be called {', '.join(_RESERVED)} to be predicted at"
        raise SpecError(table.file, rule, reserved[0], f"{reserved[0]}_")
    if len(names) == 1 and "=" not in text:
        return [_input_value(table, 0, text)]
    found: dict[str, float] = {}
    for pair in text.split(";"):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            rule = f"must be pairs of {', '.join(names)} and their values, separated by semicolons"
            raise SpecError("--at", rule, repr(text.strip()), example)
        if name not in names:
            raise SpecError("--at", f"must name the input{'s' * (len(names) > 1)} of {table.file}", repr(name),
                            nearest(name, names))  # fmt: skip
        if name in found:
            raise SpecError("--at", "must name each input once", f"{name} twice in {text.strip()!r}", example)
        found[name] = _input_value(table, names.index(name), value)
    lacking = [name for name in names if name not in found]
    if lacking:
        raise SpecError(
            "--at", f"must name every input of {table.file}", f"{text.strip()!r} without {lacking[0]}", example
        )
    return [found[name] for name in names]


def _input_value(table: MeasurementTable, position: int, text: str) -> float:
    column = table.columns[position]
    unit = "" if column.unit == "1" else column.unit
    where = f"--at, {column.name}"
    try:
        value = to_si(parse(text.strip(), unit, where), column.unit)
    except UnitError as error:
        rule = f"must be a number{f' in {unit}' if unit else ''}, values separated by commas"
        raise SpecError(where, rule, shown(text.strip()), error.nearest or f"1 {unit}".strip()) from None
    if not math.isfinite(value) or value < 0:
        raise SpecError(where, "must be finite and at least 0", shown(text.strip()), f"1 {unit}".strip())
    return value


def _check_places(law: Law, table: MeasurementTable, places: Array) -> None:
    for column, values in zip(table.columns, places, strict=False):
        if law.positive and (values <= 0).any():
            least = f"{table.points.inputs[table.columns.index(column)].min():g}"
            raise SpecError(f"--at, {column.name}", f"must be above 0 for {law.name}", "0", least)


def _candidate(one: Candidate, chosen: Law) -> dict[str, Any]:
    return {
        "law": one.law.name,
        "formula": one.law.formula,
        "parameters": len(one.law.parameters),
        "cross_validation_error": one.cross_validation_error,
        "extrapolation_error": one.extrapolation_error,
        "applies": one.why_not is None,
        "why_not": one.why_not,
        "chosen": one.law is chosen,
    }


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count > 1)}"


def _listed(lines: Sequence[int], most: int = 12) -> str:
    text = ", ".join(map(str, lines[:most])) + ", ..." * (len(lines) > most)
    return f"line{'s' * (len(lines) > 1)} {text}"


def _at_text(inputs: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in inputs.items())
