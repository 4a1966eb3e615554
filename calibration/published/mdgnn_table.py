"""Rows of M-DGNN's published numbers: what each is about, read from a CSV file and checked."""

from __future__ import annotations

import csv
import io
import pathlib
from typing import Final, NamedTuple

from perfmodel.errors import SpecError, nearest
from perfmodel.spec.catalog import names, read_bytes

TABLE: Final = pathlib.Path(__file__).parent / "data" / "mdgnn_published.csv"
HEADER: Final = (
    "id", "quantity", "system", "baseline", "dataset", "layers", "csds", "value", "unit", "kind", "where",
)  # fmt: skip
QUANTITIES: Final = (
    "end-to-end speedup",
    "normalized throughput",
    "RNN share of runtime",
    "flash I/O share of the GNN phase",
    "throughput over 1 CSD",
    "control plane share of runtime",
    "end-to-end energy reduction",
)
#: Quantities that compare a system with another one.
COMPARED: Final = (
    "end-to-end speedup",
    "normalized throughput",
    "throughput over 1 CSD",
    "end-to-end energy reduction",
)
KINDS: Final = ("peak", "mean", "point", "upper bound")
UNITS: Final = {"x": 1.0, "%": 0.01}
#: Ten configurations of two datasets have five depths; the text names 4, 8 and 32, its figures 16.
DEPTHS: Final = (4, 8, 16, 24, 32)
#: The depths of the end-to-end figure, where a row names none.
FIGURE_DEPTHS: Final = (4, 16, 32)
DATASETS: Final = ("flickr", "youtube", "reddit", "amazon", "movielens", "ogbn", "ppi")
CSDS: Final = 4


class Configuration(NamedTuple):
    """A dataset at a depth on some devices."""

    dataset: str
    layers: int
    csds: int


class Published(NamedTuple):
    """One row; ``value`` and ``resolution`` (half a unit of the last printed digit) as pure numbers.

    Attributes
    ----------
    configurations : tuple of Configuration
        What the number is of; a mean is over all of them, a peak the largest of them.
    depths : tuple of int
        Depths that ``layers`` names, empty where it names none.
    """

    id: str
    quantity: str
    system: str
    baseline: str
    baseline_csds: int
    configurations: tuple[Configuration, ...]
    value: float
    resolution: float
    unit: str
    kind: str
    inputs: tuple[str, ...]

    @property
    def is_bound(self) -> bool:
        """Return whether the number is only an upper bound."""
        return self.kind == "upper bound"


def read_table(path: str | None = None) -> list[Published]:
    """Read the shipped table, or another with its header.

    Raises
    ------
    SpecError
        Missing file, other header, unknown quantity, system, dataset or kind, numbers that aren't positive.
    """
    source = TABLE if path is None else pathlib.Path(path)
    try:
        text = read_bytes(source).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(str(source), "must be a CSV file", "binary data") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        header = tuple(cell.strip() for cell in next(lines, []))
        if header != HEADER:
            got = ",".join(header) or "an empty file"
            raise SpecError(str(source), f"must have the header {','.join(HEADER)}", got)
        rows = [_parsed(cells, f"{source}: line {lines.line_num}") for cells in lines if any(map(str.strip, cells))]
    except csv.Error as error:
        raise SpecError(f"{source}: line {lines.line_num}", "must be a line of CSV", error) from None
    if not rows:
        raise SpecError(str(source), "must have at least one row", "a header alone")
    twice = next((row.id for number, row in enumerate(rows) if row.id in {other.id for other in rows[:number]}), None)
    if twice is not None:
        raise SpecError(str(source), "must have each id once", repr(twice))
    return rows


def _parsed(cells: list[str], where: str) -> Published:
    if len(cells) != len(HEADER):
        raise SpecError(where, f"must have {len(HEADER)} columns", f"{len(cells)}")
    row = dict(zip(HEADER, (cell.strip() for cell in cells), strict=True))
    row |= {name: row[name].casefold() for name in ("system", "baseline", "dataset", "unit", "kind")}
    row["quantity"] = next(
        (each for each in QUANTITIES if each.casefold() == row["quantity"].casefold()), row["quantity"]
    )
    systems = [name.removeprefix("mdgnn-") for name in names("systems") if name.startswith("mdgnn-")]
    _one_of(row["quantity"], QUANTITIES, where)
    _one_of(row["system"], systems, where)
    baseline, csds = row["baseline"].partition("@")[::2]
    if row["quantity"] in COMPARED:
        _one_of(baseline, systems, where)
    elif baseline:
        raise SpecError(where, f"{row['quantity']} must have no baseline", repr(row["baseline"]), "an empty cell")
    _one_of(row["unit"], tuple(UNITS), where)
    kind = next((kind for kind in KINDS if row["kind"].startswith(kind)), row["kind"] or "point")
    _one_of(kind, KINDS, where)
    factor, devices = UNITS[row["unit"]], _whole(row["csds"] or str(CSDS), where, "csds")
    configurations = tuple(
        Configuration(dataset, layers, devices)
        for dataset in _datasets(row["dataset"], where)
        for layers in _depths(row["layers"], where)
    )
    of_baseline = _whole(csds, where, "csds") if csds else devices
    if row["quantity"] == "throughput over 1 CSD" and not csds:
        of_baseline = 1
    return Published(
        row["id"] or where.rpartition(": ")[2], row["quantity"], row["system"], baseline, of_baseline, configurations,
        factor * _positive(row["value"], where), factor * _resolution(row["value"]), row["unit"], kind,
        (row["id"] or where.rpartition(": ")[2], row["system"], row["baseline"], row["dataset"], row["layers"], row["csds"]),
    )  # fmt: skip


def _one_of(value: str, choices: tuple[str, ...] | list[str], where: str) -> None:
    if value not in choices:
        raise SpecError(where, f"must be one of {', '.join(choices)}", repr(value), nearest(value, choices))


def _datasets(text: str, where: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split("+")) if text else DATASETS
    for dataset in found:
        _one_of(dataset, DATASETS, where)
    return found


def _depths(text: str, where: str) -> tuple[int, ...]:
    """Return the depths that a cell names: one, several joined by ``+``, or all of ours within ``low..high``."""
    if not text:
        return FIGURE_DEPTHS
    if ".." in text:
        low, high = (_whole(part, where, "layers") for part in text.split("..", 1))
        found = tuple(depth for depth in DEPTHS if low <= depth <= high)
        return found or (low, high)
    return tuple(_whole(part, where, "layers") for part in text.split("+"))


def _whole(text: str, where: str, column: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise SpecError(where, f"{column} must be a whole number from 1 to 1000000", repr(text), "4")
    return int(text)


def _positive(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise SpecError(where, "must have a number as value", repr(text)) from None
    if not 0 < value < float("inf"):
        raise SpecError(where, "must have a value above 0", repr(text))
    return value


def _resolution(text: str) -> float:
    mantissa, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
