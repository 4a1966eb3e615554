"""How good predictions are: predicted against measured, with intervals, a panel for each unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.pictures._base import INK, MARKERS, Picture, new_figure, with_unit, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAND = 1.25  # either way; a common bound for a model of this kind
_FACES = ("#08519c", "white", "#bdbdbd", "#cb181d")


@dataclasses.dataclass(frozen=True)
class Points:
    """Rows of one quantity."""

    quantity: str
    measured: list[float]
    predicted: list[float]
    intervals: list[tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Panels:
    """What is shown: quantities by unit, and what the document says of all rows."""

    panels: dict[str, list[Points]]
    title: str


def panels(documents: Sequence[Mapping[str, Any]]) -> Panels:
    """Return what is shown; rows that are not positive have no place on a logarithmic axis and are left out.

    Raises
    ------
    SpecError
        Where no row is left.
    """
    (document,) = documents
    found: dict[str, dict[str, Points]] = {}
    for row in document["rows"]:
        numbers = (row["measured"], row["predicted"])
        if any(number is None or number <= 0 for number in numbers):
            continue
        points = found.setdefault(_unit(row), {}).setdefault(row["quantity"], Points(row["quantity"], [], [], []))
        points.measured.append(row["measured"])
        points.predicted.append(row["predicted"])
        low, high = row.get("interval") or (row["predicted"], row["predicted"])
        points.intervals.append((min(low, row["predicted"]), max(high, row["predicted"])))
    if not found:
        raise SpecError("result 1: rows", "must have a row with positive numbers", f"{len(document['rows'])} rows")
    summary, count = document["summary"], sum(len(each.measured) for unit in found.values() for each in unit.values())
    title = f"{document.get('suite', 'validation')}: {count} rows"
    if summary.get("median_ape") is not None:
        title += f", median error {summary['median_ape']:.1%}"
    return Panels({unit: list(by_quantity.values()) for unit, by_quantity in found.items()}, title)


def _unit(row: Mapping[str, Any]) -> str:
    """Return a row's unit: its own, or seconds but for what is a ratio by its name."""
    unit = row.get("unit")
    if unit is None:
        return "1" if row["quantity"] in ("speedup", "ratio", "break_even") else "s"
    return "1" if unit in ("", "ratio", "x", "threads", "factor") else str(unit)


def draw(data: Panels, title: str | None) -> Figure:
    """Return the picture: a mark a row, the diagonal, and a band of 25 % on either side."""
    names = [each.quantity for quantities in data.panels.values() for each in quantities]
    columns = 1 if max(map(len, names)) > 24 and len(data.panels) == 1 else 2
    figure = new_figure(4.8 * len(data.panels) + 0.6, 4.7 + 0.24 * (len(names) + 2) / columns)
    number = 0
    for place, (unit, quantities) in enumerate(data.panels.items()):
        axes = figure.add_subplot(1, len(data.panels), place + 1)
        every = np.array([value for each in quantities for value in (*each.measured, *each.predicted)])
        ends = np.array([every.min() / 1.6, every.max() * 1.6])
        axes.plot(ends, ends, color=INK, linewidth=1.0, label="as measured" if place == 0 else None)
        for factor in (1 / _BAND, _BAND):
            label = "25 % off" if place == 0 and factor > 1 else None
            axes.plot(ends, ends * factor, color=INK, linewidth=0.8, linestyle="--", label=label)
        for each in quantities:
            predicted = np.array(each.predicted)
            bars = np.abs(np.array(each.intervals).T - predicted)
            axes.errorbar(
                each.measured, predicted, yerr=bars, linestyle="", marker=MARKERS[number % len(MARKERS)], color=INK,
                markerfacecolor=_FACES[number % len(_FACES)], markersize=5, elinewidth=0.7,
                label=wrapped(each.quantity, 48),
            )  # fmt: skip
            number += 1
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
        axes.set_aspect("equal")
        axes.set_xlabel(with_unit("measured", unit))
        axes.set_ylabel(with_unit("predicted, 90 % interval", unit))
    figure.suptitle(title or data.title)
    figure.legend(loc="outside lower center", ncols=columns)
    return figure


PICTURE = Picture(
    "predicted against measured, row by row, with intervals",
    "one result of validate",
    ("rows", "by_quantity", "summary"),
    panels,
    draw,
)
