"""What more devices bring: speedup over another plan against their number, with its interval."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.pictures._base import INK, LINES, MARKERS, Picture, labels_of, new_figure, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How many devices there are, by the plan's key of the first family that has it.
_KEYS: Final = ("plan.devices", "plan.nodes")
_INKS: Final = ("#08519c", "#cb181d", "#238b45", "#54278f")


@dataclasses.dataclass(frozen=True)
class Curve:
    """One curve; each list by number of devices, in rising order."""

    label: str
    devices: list[float]
    speedups: list[float]
    intervals: list[tuple[float, float]]
    feasible: list[bool]


@dataclasses.dataclass(frozen=True)
class Curves:
    """What is shown: curves over the key, and what the speedup is over."""

    curves: list[Curve]
    key: str
    over: str


def curves(documents: Sequence[Mapping[str, Any]]) -> Curves:
    """Return what is shown; estimates that differ in the number of devices alone are one curve.

    Raises
    ------
    SpecError
        Estimates without a plan to compare with, or without devices to count.
    """
    key = next((key for key in _KEYS if all(key in document["plan"] for document in documents)), None)
    if key is None:
        raise SpecError("results", f"must have a plan with {' or '.join(_KEYS)}", "a plan without it")
    lacking = next((place for place, document in enumerate(documents) if not document.get("against")), None)
    if lacking is not None:
        raise SpecError(f"result {lacking + 1}", "must be of predict --against PLAN", "a result without a speedup")
    apart = [dict(document["plan"]) for document in documents]
    for plan in apart:
        plan.pop(key)
    kinds = [
        str((document["workload"], document["system"], plan)) for document, plan in zip(documents, apart, strict=True)
    ]
    firsts = [kinds.index(kind) for kind in dict.fromkeys(kinds)]
    names = labels_of([documents[first] for first in firsts], without=(key,))
    found = []
    for first, name in zip(firsts, names, strict=True):
        own = sorted(
            (document for document, kind in zip(documents, kinds, strict=True) if kind == kinds[first]),
            key=lambda document: float(document["plan"][key]),
        )
        found.append(
            Curve(
                name,
                [float(document["plan"][key]) for document in own],
                [document["against"]["speedup"] for document in own],
                [tuple(document["against"]["speedup_interval"]) for document in own],
                [document["feasible"] for document in own],
            )
        )
    over = " or ".join(dict.fromkeys(document["against"]["name"] for document in documents))
    return Curves(found, key, over)


def draw(data: Curves, title: str | None) -> Figure:
    """Return the picture: a line and a band for each curve; plans that are infeasible have hollow marks."""
    figure = new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    for number, curve in enumerate(data.curves):
        ink = _INKS[number % len(_INKS)]
        low, high = np.array(curve.intervals).T
        axes.fill_between(curve.devices, low, high, color=ink, alpha=0.15, linewidth=0)
        shift = 1.0 + 0.01 * (number - (len(data.curves) - 1) / 2)
        bars = np.abs(np.array([low, high]) - np.array(curve.speedups))
        axes.errorbar(
            np.array(curve.devices) * shift, curve.speedups, yerr=bars, color=ink, capsize=3, markersize=5,
            linestyle=LINES[number % len(LINES)], marker=MARKERS[number % len(MARKERS)], label=wrapped(curve.label, 40),
        )  # fmt: skip
        hollow = [place for place, fine in enumerate(curve.feasible) if not fine]
        axes.plot(
            np.array(curve.devices)[hollow] * shift, np.array(curve.speedups)[hollow], linestyle="", color=ink,
            marker=MARKERS[number % len(MARKERS)], markersize=5, markerfacecolor="white",
        )  # fmt: skip
    axes.axhline(1.0, color=INK, linewidth=1.0)
    counts = sorted({count for curve in data.curves for count in curve.devices})
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [f"{count:g}" for count in counts])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{data.key.removeprefix('plan.')} ({data.key}) [1]")
    axes.set_ylabel(wrapped(f"speedup over {data.over} [1]", 52))
    axes.set_title(title or "Speedup with its 90 % interval")
    if any(not all(curve.feasible) for curve in data.curves):
        axes.plot([], [], linestyle="", marker="o", color=INK, markerfacecolor="white", label="hollow: infeasible")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


PICTURE = Picture(
    "the speedup over another plan against the number of devices, with its interval",
    "results of predict --against PLAN, one for each number of devices",
    ("phases", "plan", "workload"),
    curves,
    draw,
    several=True,
)
