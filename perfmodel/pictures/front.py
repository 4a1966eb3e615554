"""What one objective costs in the other: the Pareto front of a search, each plan that no other beats in both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.pictures._base import INK, Picture, new_figure, scale_of, with_unit, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Side:
    """One objective of all plans of the front."""

    name: str
    unit: str
    values: list[float]


@dataclasses.dataclass(frozen=True)
class Front:
    """What is shown: plans in the order of the first objective."""

    first: Side
    second: Side
    notes: list[str]
    title: str


def front(documents: Sequence[Mapping[str, Any]]) -> Front:
    """Return what is shown.

    Raises
    ------
    SpecError
        A search for one objective, or one that found nothing.
    """
    (document,) = documents
    objectives = document["objectives"]
    if len(objectives) < 2:
        raise SpecError(
            "result 1", "must be of search with two objectives", f"{len(objectives)}", "--objective time,energy"
        )
    if not document["pareto"]:
        raise SpecError("result 1: pareto", "must have plans", "none: nothing feasible was found")
    one, other = (objective["name"] for objective in objectives[:2])
    plans = sorted(document["pareto"], key=lambda plan: (plan["objectives"][one], plan["objectives"][other]))
    sides = [
        Side(objective["name"], objective["unit"], [plan["objectives"][objective["name"]] for plan in plans])
        for objective in objectives[:2]
    ]
    ends = [plans[0], plans[-1]] if len(plans) > 1 else plans
    telling = [key for key in plans[0]["parameters"] if len({str(plan["parameters"].get(key)) for plan in ends}) > 1]
    notes = [
        ", ".join(f"{key.rpartition('.')[2]} {_text(plan['parameters'].get(key))}" for key in telling) for plan in ends
    ]
    return Front(
        sides[0], sides[1], notes, f"{document['workload']} on {document['system']}: {len(plans)} plans that none beats"
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "-" if value is None else str(value)


def draw(data: Front, title: str | None) -> Figure:
    """Return the picture: a mark a plan; the steps bound what the front leaves free."""
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    (x, x_label), (y, y_label) = _scaled(data.first), _scaled(data.second)
    axes.step(x, y, where="post", color=INK, linewidth=1.0, linestyle="--", label="no plan lies below these steps")
    axes.plot(
        x, y, linestyle="", marker="o", color="#08519c", markeredgecolor=INK, markersize=6, label="plan of the front"
    )
    marks = ("s", "^")
    for place, note, mark in zip((0, -1), data.notes, marks, strict=False):
        side = data.first if place == 0 else data.second
        label = f"least {side.name}" + (f": {note}" if note else "")
        axes.plot(
            x[place],
            y[place],
            linestyle="",
            marker=mark,
            color="white",
            markeredgecolor=INK,
            markersize=9,
            label=wrapped(label, 72),
        )
    axes.margins(0.08)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title or data.title)
    figure.legend(loc="outside lower center", ncols=1)
    return figure


def _scaled(side: Side) -> tuple[Any, str]:
    scale, unit = scale_of(max(map(abs, side.values)), side.unit)
    return np.array(side.values) / scale, with_unit(side.name, unit)


PICTURE = Picture(
    "the Pareto front of a search with two objectives",
    "one result of search with two objectives",
    ("pareto", "objectives", "workload"),
    front,
    draw,
)
