"""A capacity plan over time: units in service, and what they cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.pictures._base import INK, Picture, fill, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_YEAR = 31557600.0  # s


@dataclasses.dataclass(frozen=True)
class FleetOverTime:
    """What is shown, each list by period.

    Attributes
    ----------
    starts : list of float
        [years]
    units : mapping of name to list
        In service.
    capital, energy : list of float
        [USD]
    title : str
    """

    starts: list[float]
    units: dict[str, list[int]]
    capital: list[float]
    energy: list[float]
    title: str


def over_time(documents: Sequence[Mapping[str, Any]]) -> FleetOverTime:
    """Return what is shown; what is never in service is left out.

    Raises
    ------
    SpecError
        A plan without a period that has a fleet.
    """
    (document,) = documents
    periods = document["periods"]
    if not periods:
        raise SpecError("result 1: periods", "must have a period with a fleet", "none: the first one is infeasible")
    names = [name for name in periods[0]["fleet"] if any(period["fleet"][name] for period in periods)]
    cost = sum(period["capital"] + period["energy_cost"] for period in periods)
    title = f"{document['name']}: {cost:,.0f} USD"
    if document.get("missing"):
        title += f", no fleet from period {document['missing']['period']} on"
    return FleetOverTime(
        [period["start_s"] / _YEAR for period in periods],
        {name: [period["fleet"][name] for period in periods] for name in names},
        [period["capital"] for period in periods],
        [period["energy_cost"] for period in periods],
        title,
    )


def draw(data: FleetOverTime, title: str | None) -> Figure:
    """Return the picture: units above, cost below, and all that is spent so far as a line."""
    figure = new_figure(6.4, 5.6)
    above, below = figure.subplots(2, 1, sharex=True)
    places = np.arange(len(data.starts))
    floor = np.zeros(len(places))
    for number, (name, units) in enumerate(data.units.items()):
        above.bar(places, units, bottom=floor, width=0.7, label=name, **fill(number))
        floor += np.array(units, dtype=float)
    above.bar(places, floor, width=0.7, fill=False, edgecolor=INK, linewidth=0.8)
    above.set_ylabel("units in service [1]")
    above.yaxis.get_major_locator().set_params(integer=True)
    above.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    capital, energy = np.array(data.capital) / 1e3, np.array(data.energy) / 1e3
    below.bar(places, capital, width=0.7, label="devices", **fill(0))
    below.bar(places, energy, bottom=capital, width=0.7, label="energy", **fill(1))
    below.bar(places, capital + energy, width=0.7, fill=False, edgecolor=INK, linewidth=0.8)
    below.plot(places, np.cumsum(capital + energy), color=INK, marker="o", markersize=4, label="all so far")
    below.set_ylabel("cost [1000 USD]")
    below.set_xlabel("start of the period [years]")
    below.set_xticks(places, [f"{start:.3g}" for start in data.starts])
    below.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for axes in (above, below):
        axes.grid(visible=False, axis="x")
    figure.suptitle(title or data.title)
    return figure


PICTURE = Picture(
    "the fleet and its cost, period by period",
    "one result of plan",
    ("periods", "orders", "name"),
    over_time,
    draw,
)
