"""Which placement is best where: a search's map over the two numbers that tip the choice most."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.pictures._base import INK, Picture, fill, new_figure, with_unit, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Side:
    """One axis of the map."""

    what: str
    key: str
    unit: str
    now: float
    values: list[float]


@dataclasses.dataclass(frozen=True)
class Regimes:
    """What is shown: for each row (of ``up``) and column (of ``across``) the place among names, None where none is feasible."""

    across: Side
    up: Side
    names: list[str]
    best: list[list[int | None]]
    title: str


def regimes(documents: Sequence[Mapping[str, Any]]) -> Regimes:
    """Return what is shown.

    Raises
    ------
    SpecError
        A search that drew no map.
    """
    (document,) = documents
    found = document["explanation"].get("regime_map")
    if not found:
        rule = "must hold a map: of a space with placements that numbers can tip"
        raise SpecError("result 1: explanation", rule, "none", "perfmodel search without --timeout")
    sides = [Side(*(found[name][key] for key in ("what", "key", "unit", "now", "values"))) for name in ("x", "y")]
    title = f"{document['workload']} on {document['system']}: best placement"
    return Regimes(sides[0], sides[1], list(found["placements"]), [list(row) for row in found["best"]], title)


def draw(data: Regimes, title: str | None) -> Figure:
    """Return the picture: an area a placement, and where the scenario is now."""
    from matplotlib.patches import Patch

    figure = new_figure(6.4, 4.2 + 0.25 * len(data.names))
    axes = figure.add_subplot()
    axes.grid(visible=False)
    x, y = _edges(data.across.values), _edges(data.up.values)
    places = np.array([[-1 if place is None else place for place in row] for row in data.best])
    handles = []
    for number in [*range(len(data.names)), -1]:
        if not (places == number).any():
            continue
        look = {"facecolor": "white", "edgecolor": INK, "linewidth": 0.0, "hatch": "++"} if number < 0 else fill(number)
        for low, high, row in zip(y[:-1], y[1:], places, strict=True):
            for start, end in _runs(row == number):
                axes.fill_between([x[start], x[end]], low, high, **look)
        name = "nothing feasible" if number < 0 else data.names[number]
        handles.append(Patch(label=wrapped(name, 72), **look))
    (now,) = axes.plot(
        data.across.now, data.up.now, linestyle="", marker="X", markersize=11, color="white", markeredgecolor="black",
        markeredgewidth=1.4, label="now",
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    axes.set_xlabel(with_unit(data.across.what, data.across.unit))
    axes.set_ylabel(with_unit(data.up.what, data.up.unit))
    axes.set_title(title or data.title)
    figure.legend(handles=[*handles, now], loc="outside lower center", ncols=1)
    return figure


def _edges(values: Sequence[float]) -> Any:
    """Return the borders of cells around values that are spread on a log scale."""
    logs = np.log(np.array(values))
    if len(logs) == 1:
        return np.exp([logs[0] - 0.1, logs[0] + 0.1])
    middles = (logs[1:] + logs[:-1]) / 2
    return np.exp([2 * logs[0] - middles[0], *middles, 2 * logs[-1] - middles[-1]])


def _runs(holds: Any) -> list[tuple[int, int]]:
    """Return where a condition begins to hold and where it ceases to.

    Examples
    --------
    >>> _runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    turns = np.flatnonzero(np.diff(np.concatenate([[0], holds.astype(int), [0]]))).tolist()
    return list(zip(turns[::2], turns[1::2], strict=True))


PICTURE = Picture(
    "which placement is best over two numbers",
    "one result of search",
    ("explanation", "workload", "system"),
    regimes,
    draw,
)
