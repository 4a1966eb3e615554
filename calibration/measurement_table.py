"""Reads the user's own measurements: a CSV whose header names each column and its unit; the last column is measured.

Values become SI at the door. Cells without a value (empty, NA, nan) leave their row out and are reported; anything else
that is no number is an error with its line.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import math
import pathlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from calibration.laws._base import Points, unit_text
from perfmodel.errors import SpecError, UnitError, nearest, shown
from perfmodel.units import Dimension, parse, unit_factor

MOST_BYTES: Final = 64 * 2**20
MOST_ROWS: Final = 20_000
_MISSING: Final = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
_HEADER: Final = re.compile(r"\s*([^\[\]=;,]*?)\s*\[([^\[\]]*)\]\s*")
_EXAMPLE: Final = "transfer_bytes [B],time [s]"


@dataclasses.dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    unit : str
        As written in the header.
    si_unit : str
        That the values are kept in; "1" for a pure number.
    """

    name: str
    unit: str
    si_unit: str


@dataclasses.dataclass(frozen=True)
class Missing:
    """A row that was left out.

    Attributes
    ----------
    line : int
        Of the file, from 1 on.
    column : str
        The first that has no value.
    """

    line: int
    column: str


@dataclasses.dataclass(frozen=True)
class MeasurementTable:
    """Measurements as read.

    Attributes
    ----------
    file : str
    sha256 : str
    columns : tuple of Column
        The inputs, then the measured one.
    points : Points
    lines : tuple of int
        Of the rows.
    missing : tuple of Missing
    """

    file: str
    sha256: str
    columns: tuple[Column, ...]
    points: Points
    lines: tuple[int, ...]
    missing: tuple[Missing, ...]


def read_measurements(path: str) -> MeasurementTable:
    """Read a file of measurements.

    Parameters
    ----------
    path : str

    Returns
    -------
    MeasurementTable

    Raises
    ------
    SpecError
        No such file, no text, a header without units, a cell that is no number, a value out of range, no rows.
    """
    content = _content(path)
    header, rows = _split(path, content)
    columns = _columns(path, header)
    lines, values, missing = [], [], []
    for line, cells in rows:
        if len(cells) != len(columns):
            rule = f"must have {len(columns)} cells, as the header has"
            raise SpecError(f"{path}, line {line}", rule, len(cells), ",".join(header)[:100])
        empty = [
            column.name for column, cell in zip(columns, cells, strict=True) if cell.strip().casefold() in _MISSING
        ]
        if empty:
            missing.append(Missing(line, empty[0]))
            continue
        lines.append(line)
        values.append([_number(path, line, column, cell) for column, cell in zip(columns, cells, strict=True)])
    _check_rows(path, values, missing)
    *inputs, output = np.array(values).T
    names, units = tuple(column.name for column in columns), tuple(column.si_unit for column in columns)
    points = Points(np.array(inputs), output, names, units)
    return MeasurementTable(path, hashlib.sha256(content).hexdigest(), columns, points, tuple(lines), tuple(missing))


def _check_rows(path: str, values: Sequence[object], missing: Sequence[Missing]) -> None:
    if not values:
        got = f"{len(missing)} rows, none complete" if missing else "a header alone"
        raise SpecError(path, "must hold rows of measurements", got)
    if len(values) > MOST_ROWS:
        raise SpecError(path, "must hold a sample that can be fitted", f"{len(values)} rows", f"{MOST_ROWS} rows")


def _content(path: str) -> bytes:
    """Return the bytes of a regular file."""
    if not path.strip() or "\0" in path:
        raise SpecError("--from", "must be the path of a CSV file", repr(path), "measurements.csv")
    file = pathlib.Path(path)
    try:
        if file.is_dir():
            raise SpecError(path, "must be a CSV file", "a directory", _beside(file, ".csv"))
        if not file.exists():
            raise SpecError(path, "must be an existing file", "nothing at this path", _beside(file.parent, file.name))
        if not file.is_file():
            raise SpecError(path, "must be a regular file", "a pipe or device")
        if file.stat().st_size > MOST_BYTES:
            raise SpecError(path, f"must be at most {MOST_BYTES // 2**20} MiB", f"{file.stat().st_size} bytes")
        return file.read_bytes()
    except OSError as error:
        raise SpecError(path, "must be readable", error.strerror or error) from None


def _beside(folder: pathlib.Path, name: str) -> str | None:
    """Return the file of a folder whose name is closest."""
    try:
        files = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return None
    near = nearest(name, files)
    return str(folder / near) if near in files else None


def _split(path: str, content: bytes) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the rows with their lines; blank lines and comments (#) are passed over."""
    if not content.strip():
        raise SpecError(path, "must hold measurements", "an empty file", _EXAMPLE)
    if b"\0" in content:
        raise SpecError(path, "must be a CSV text", "binary data")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{path}, line {line}", "must be UTF-8 text", "other bytes") from None
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#"):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise SpecError(f"{path}, line {reader.line_num}", "must be CSV", error) from None
    if not rows:
        raise SpecError(path, "must hold measurements", "comments alone", _EXAMPLE)
    return rows[0][1], rows[1:]


def _columns(path: str, header: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a header."""
    where = f"{path}, header"
    if len(header) < 2:
        raise SpecError(
            where, "must name an input and a measured column, separated by commas", shown(header[0]), _EXAMPLE
        )
    columns: list[Column] = []
    for cell in header:
        match = _HEADER.fullmatch(cell)
        if match is None or not match[1]:
            near = f"{cell.strip() or 'size'} [B]" if not re.search(r"[\[\]=;,]", cell) else _EXAMPLE.split(",")[0]
            raise SpecError(where, "each column must be a name with its unit in brackets", shown(cell.strip()), near)
        name, unit = match[1], match[2].strip()
        if name in {column.name for column in columns}:
            raise SpecError(where, "each column must have a name of its own", f"{name!r} twice", f"{name}_2 [{unit}]")
        try:
            _, dimension = unit_factor(unit)
        except UnitError as error:
            rule = "must have a unit of the unit table ([1] for none)"
            raise SpecError(f"{where}, column {name}", rule, f"[{unit}]", error.nearest) from None
        columns.append(Column(name, unit or "1", unit_text(dimension)))
    return tuple(columns)


def _number(path: str, line: int, column: Column, cell: str) -> float:
    """Return a cell in SI units."""
    where = f"{path}, line {line}, column {column.name}"
    try:
        value = parse(cell.strip(), "" if column.unit == "1" else column.unit, where)
    except UnitError:
        raise SpecError(where, f"must be a number [{column.unit}]", shown(cell.strip()), "an empty cell") from None
    measured = to_si(value, column.unit)
    if not math.isfinite(measured):
        raise SpecError(where, "must be finite", shown(cell.strip()), "an empty cell")
    return measured


def to_si(value: float, unit: str) -> float:
    """Return a value in SI units.

    Examples
    --------
    >>> to_si(4.0, "KiB"), to_si(25.0, "us")
    (4096.0, 2.5e-05)
    """
    factor, _dimension = unit_factor(unit)
    return value * factor.numerator / factor.denominator


def dimension_of(column: Column) -> Dimension:
    """Return the dimension of a column."""
    return unit_factor(column.si_unit)[1]


def check_signs(table: MeasurementTable) -> None:
    """Raise where an input is negative or a measured value is not positive: errors are relative.

    Raises
    ------
    SpecError
    """
    for position, column in enumerate(table.columns):
        last = position == len(table.columns) - 1
        values = table.points.output if last else table.points.inputs[position]
        wrong = np.flatnonzero(values <= 0 if last else values < 0)
        if wrong.size:
            where = f"{table.file}, line {table.lines[wrong[0]]}, column {column.name}"
            raise SpecError(
                where, "must be above 0" if last else "must be at least 0", f"{values[wrong[0]]:g}", "an empty cell"
            )
