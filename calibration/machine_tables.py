"""The tables of a validation on this machine whose rows are the total and the phases of a mini-batch or a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from perfmodel.units import render

#: Title, header, rows, and which columns are numbers.
Table = tuple[str, list[str], list[list[str]], tuple[int, ...]]


def _of_mini_batches(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['graph'].removeprefix('synthetic-')} {row['batch']}x{row['fanout']}",
        f"{row['dimension']}-{row['hidden']}-{row['classes']} {row['precision']}",
        f"{row['mechanism']} {render(row['chunk'], 'B')} x{row['window']}",
        f"{row['placement']}, {row['workers']} workers",
    ]


def _of_snapshots(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['processes']} for {row['window']}, {row['layers']} layers",
        f"{row['nodes']}x{row['width']}, {row['targets']}x{row['degree']}",
        f"{row['cell']} {row['hidden']}, {row['exchange']} x{row['fragments']}",
        f"{row['policy']} {row['capacity']} x {render(row['page'], 'B')}, {row['reading']}",
    ]


#: Of each pipeline: what is timed, what the four first columns are, and how they are written.
_COLUMNS: Final[Mapping[str, tuple[str, Sequence[str], Callable[[Mapping[str, Any]], list[str]]]]] = {
    "sampled-training": ("a mini-batch", ("graph, batch", "widths", "transfer", "sampling on"), _of_mini_batches),
    "snapshots": ("a frame", ("processes", "snapshot, targets", "cells, states", "pages"), _of_snapshots),
}


def tables(document: Mapping[str, Any]) -> list[Table]:
    """Return the tables that people see: every run's total, and the errors of each quantity."""
    unit, names, written = _COLUMNS[document["pipeline"]]
    runs = [
        [
            *written(row), render(row["measured"], "s"), render(row["predicted"], "s"), f"{row['ape']:.1%}",
            f"{row['noise']:.1%}", "yes" if row["inside_interval"] else "no",
        ]
        for row in document["rows"]
        if row["quantity"] == "total"
    ]  # fmt: skip
    errors = [
        [
            quantity, str(found["n"]), f"{found['median_ape']:.1%}", f"{found['p90_ape']:.1%}",
            f"{found['noise_floor']:.1%}", f"{found['coverage_90']:.0%}",
        ]
        for quantity, found in sorted(document["by_quantity"].items(), key=lambda item: item[0] != "total")
    ]  # fmt: skip
    header = [*names, "measured", "predicted", "error", "noise", "in"]
    columns = ["quantity", "runs", "median error", "90th percentile", "noise floor", "inside the 90 % interval"]
    return [
        (f"total time of {unit} (--json has every phase)", header, runs, (4, 5, 6, 7)),
        ("predicted against measured", columns, errors, (1, 2, 3, 4, 5)),
    ]


def sentences(document: Mapping[str, Any]) -> list[str]:
    """Return what is said below the tables."""
    pairs = document["ordered_pairs"]
    found = [f"{pairs['share']:.1%} of {pairs['pairs']} pairs that differ by more than 20 % are ordered right"]
    if "least_undisturbed" in document:
        found.append(
            f"{document['disturbed']:.0%} of the mini-batches were slowed by what else runs on this host; only the others"
            f" count, or where they are fewer than {document['least_undisturbed']}, the faster half, and a total is then the"
            " sum of its parts"
        )
    return found
