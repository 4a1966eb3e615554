"""What people see of a validation of message routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def tables(document: Mapping[str, Any]) -> list[tuple[str, list[str], list[list[str]], tuple[int, ...]]]:
    """Return the tables that people see: title, header, rows, and which columns are numbers."""
    rows = [row for row in document["rows"] if row["quantity"] == "speedup"]
    speedups = [
        [
            *(f"{row[name]:g}" for name in document["columns"]),
            f"{row['measured']:.2f}", f"{row['predicted']:.2f}", f"{row['ape']:.1%}", f"{row['noise']:.1%}",
            "yes" if row["inside_interval"] else "no",
        ]
        for row in rows
    ]  # fmt: skip
    over_ratios = [
        [
            *(f"{found[name]:g}" for name in document["columns"] if name != "ratio"),
            *(_ratio(found[name]) for name in ("measured", "predicted")),
            "" if found["factor"] is None else f"{found['factor']:.2f}",
        ]
        for found in document["break_even"]
    ]
    quantities = [
        [name, str(found["n"]), f"{found['median_ape']:.1%}", f"{found['max_ape']:.1%}", f"{found['coverage_90']:.0%}"]
        for name, found in document["by_quantity"].items()
    ]
    inputs = ["ratio", "message [B]", "buffer [B]", "buffers", "partners"]
    return [
        ("speedup of routing on the spare core", [*inputs, "measured", "predicted", "error", "noise", "in"], speedups,
         tuple(range(9))),
        ("ratio at which the spare core breaks even", [*inputs[1:], "measured", "predicted", "factor"], over_ratios,
         tuple(range(7))),
        ("predicted against measured", ["quantity", "runs", "median error", "largest", "inside the 90 % interval"],
         quantities, (1, 2, 3, 4)),
    ]  # fmt: skip


def sentences(document: Mapping[str, Any]) -> list[str]:
    """Return what is said below the tables."""
    found = [
        f"{document['messages']:,} messages were routed, and each arrived exactly once",
        f"{document['disturbed']:.0%} of the runs were disturbed by what else runs on this host; of each placement "
        f"{document['least_undisturbed']} others count at least, or all (so of {document['rarely_undisturbed']} "
        f"configurations; medians over all runs would be off by "
        f"{document['median_ape_of_all_runs']:.1%})",
    ]
    factors = document["break_even_factor"]
    if factors is not None:
        found.append(
            f"break-even ratio: off by a factor of {factors['median']:.2f} (median), {factors['max']:.2f} at most"
        )
    return found


def _ratio(value: float | None) -> str:
    return "never" if value is None else f"{value:.3g}" if value else "any"
