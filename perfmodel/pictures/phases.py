"""Where the time goes: the phases of several plans stacked, the whole with its interval above them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.pictures._base import INK, Picture, fill, labels_of, new_figure, scale_of, with_unit, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Stacks:
    """What is shown; times [s].

    Attributes
    ----------
    labels : list of str
        Of the plans.
    phases : mapping of name to a list by plan
    times : list of float
        Of the unit, which overlap makes shorter than the sum of its phases.
    intervals : list of (low, high)
    feasible : list of bool
    unit : str
        What the time is of.
    title : str
    """

    labels: list[str]
    phases: dict[str, list[float]]
    times: list[float]
    intervals: list[tuple[float, float]]
    feasible: list[bool]
    unit: str
    title: str


def stacks(documents: Sequence[Mapping[str, Any]]) -> Stacks:
    """Return what is shown; phases that take no time anywhere are left out."""
    found: dict[str, list[float]] = {}
    for place, document in enumerate(documents):
        for phase in document["phases"]:
            found.setdefault(phase["name"], [0.0] * len(documents))[place] = phase["time_s"]
    workloads = list(dict.fromkeys(document["workload"] for document in documents))
    return Stacks(
        labels_of(documents),
        {name: times for name, times in found.items() if any(times)},
        [document["time_s"] for document in documents],
        [tuple(document["interval_s"]) for document in documents],
        [document["feasible"] for document in documents],
        " or ".join(dict.fromkeys(document["unit"] for document in documents)),
        " and ".join(workloads) if len(workloads) < 4 else f"{len(workloads)} workloads",
    )


def draw(data: Stacks, title: str | None) -> Figure:
    """Return the picture: a bar a plan."""
    most = max(
        max(high for _, high in data.intervals), *(sum(parts) for parts in zip(*data.phases.values(), strict=True))
    )
    scale, unit = scale_of(most, "s")
    figure = new_figure(7.0, 1.6 + 0.55 * len(data.labels) + 0.16 * len(data.phases))
    axes = figure.add_subplot()
    places = np.arange(len(data.labels))[::-1]
    left = np.zeros(len(data.labels))
    for number, (name, times) in enumerate(data.phases.items()):
        widths = np.array(times) / scale
        axes.barh(places, widths, left=left, height=0.62, label=name, **fill(number))
        left += widths
    axes.barh(places, left, height=0.62, fill=False, edgecolor=INK, linewidth=0.8)
    points = np.array(data.times) / scale
    spread = np.abs(np.array(data.intervals).T / scale - points)
    axes.errorbar(
        points, places + 0.4, xerr=spread, fmt="D", color=INK, markersize=4, capsize=3, linewidth=1.2,
        label=f"{data.unit}, 90 % interval",
    )  # fmt: skip
    names = [
        wrapped(label + ("" if fine else " (infeasible)"), 34)
        for label, fine in zip(data.labels, data.feasible, strict=True)
    ]
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.2)
    axes.set_xlim(0, 1.04 * most / scale)
    axes.set_xlabel(with_unit(f"time of a {data.unit}, phase by phase", unit))
    axes.grid(visible=False, axis="y")
    axes.set_title(title or data.title)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


PICTURE = Picture(
    "the phases of several plans, stacked, and the whole with its interval",
    "one or more results of predict",
    ("phases", "interval_s", "unit", "plan"),
    stacks,
    draw,
    several=True,
)
