"""Columns of a DataFrame as the model takes them: numbers in SI or text with units, and rows that say nothing."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.spec._base import Within

if TYPE_CHECKING:
    import pandas

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

NOTHING = -1  # the code of a cell without a value


class Column:
    """One column: numbers as they are, anything else as codes of its distinct values.

    Parameters
    ----------
    name : str
    series : pandas.Series
    """

    def __init__(self, name: str, series: pandas.Series[Any]) -> None:
        self.name = name
        self._numbers: Floats | None = None
        self._codes: Rows | None = None
        self._values: list[Any] = []
        self._parsed: dict[int, tuple[Floats, dict[int, SpecError]]] = {}
        if series.dtype.kind in "iuf":
            self._numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            self._codes, self._values = _distinct(series)

    def given(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of these rows have a value."""
        return ~np.isnan(self._numbers[rows]) if self._numbers is not None else self._coded()[rows] != NOTHING

    def value(self, row: int) -> Any:
        """Return the value of one row, as the scenario takes it."""
        return _whole(float(self._numbers[row])) if self._numbers is not None else self._values[self._coded()[row]]

    def codes(self, rows: Rows) -> Rows:
        """Return a number for each row, the same where values are, ``NOTHING`` where there is none."""
        if self._numbers is None:
            return self._coded()[rows]
        numbers = self._numbers[rows]
        known = ~np.isnan(numbers)
        codes = np.full(len(rows), NOTHING, dtype=np.int64)
        codes[known] = np.unique(numbers[known], return_inverse=True)[1]
        return codes

    def numbers(self, rows: Rows, mark: Within) -> tuple[Floats, dict[int, SpecError]]:
        """Return the numbers of these rows in SI.

        Parameters
        ----------
        rows : array of shape (rows,)
        mark : Within
            Unit and bounds of the column's key.

        Returns
        -------
        numbers : array of shape (rows,)
            NaN where there is no value, or one that can't be had.
        refused : mapping of place among the rows to SpecError
        """
        if self._numbers is not None:
            found = self._numbers[rows]
            bad = np.flatnonzero(~(mark.accepts(found) | np.isnan(found)))
            errors = {value: _refusal(mark, value, self.name) for value in np.unique(found[bad]).tolist()}
            refused = {int(place): errors[float(found[place])] for place in bad}
            found[bad] = np.nan
            return found, refused
        parsed, refusals = self._parsed_by(mark)
        codes = self._coded()[rows]
        found = parsed[codes]  # the last entry is that of NOTHING
        if not refusals:
            return found, {}
        bad = np.flatnonzero(np.isin(codes, list(refusals)))
        return found, {int(place): refusals[int(codes[place])] for place in bad}

    def _parsed_by(self, mark: Within) -> tuple[Floats, dict[int, SpecError]]:
        if id(mark) not in self._parsed:
            found, refused = np.full(len(self._values) + 1, np.nan), dict[int, SpecError]()
            for code, value in enumerate(self._values):
                try:
                    found[code] = mark.check_at(value, self.name)
                except SpecError as error:
                    refused[code] = error
            self._parsed[id(mark)] = found, refused
        return self._parsed[id(mark)]

    def _coded(self) -> Rows:
        assert self._codes is not None
        return self._codes


def combined(codes: Sequence[Rows]) -> list[Rows]:
    """Return the places of rows whose codes are alike, group by group in the order in which groups first appear.

    Examples
    --------
    >>> [group.tolist() for group in combined([np.array([3, 1, 3]), np.array([0, 0, 0])])]
    [[0, 2], [1]]
    """
    together = np.zeros(len(codes[0]), dtype=np.int64)
    for each in codes:
        _, inverse = np.unique(each, return_inverse=True)
        together = np.unique(together * (int(inverse.max(initial=0)) + 1) + inverse, return_inverse=True)[1]
    order = np.argsort(together, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(together[order])) + 1)
    return sorted((group for group in groups if len(group)), key=lambda group: int(group[0]))


def _refusal(mark: Within, value: float, name: str) -> SpecError:
    try:
        mark.check_at(_whole(value), name)
    except SpecError as error:
        return error
    raise AssertionError(f"{name}: {value} is refused and accepted")


def _distinct(series: pandas.Series[Any]) -> tuple[Rows, list[Any]]:
    """Return the code of each row and the values that codes stand for; 1, True and "1" are told apart."""
    import pandas

    if isinstance(series.dtype, (pandas.StringDtype, pandas.CategoricalDtype)):
        codes, found = pandas.factorize(series)
        return codes.astype(np.int64), [_plain(value) for value in found.tolist()]
    known: dict[Hashable, int] = {}
    values: list[Any] = []
    codes = np.full(len(series), NOTHING, dtype=np.int64)
    for row, value in enumerate(series.tolist()):
        if value is None or value is pandas.NA or value is pandas.NaT or (isinstance(value, float) and value != value):
            continue
        plain = _plain(value)
        key = type(plain), plain if isinstance(plain, Hashable) else repr(plain)
        if key not in known:
            known[key] = len(values)
            values.append(plain)
        codes[row] = known[key]
    return codes, values


def _plain(value: Any) -> Any:
    """Return a cell's value as the scenario takes it: no numpy scalars, whole numbers as such, lists as tuples."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _whole(value)
    if isinstance(value, (list, np.ndarray)):
        return tuple(_plain(inner) for inner in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
