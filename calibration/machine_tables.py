"""The tables of a validation of sampled training on this machine, as people see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.units import render


def tables(document: Mapping[str, Any]) -> list[tuple[str, list[str], list[list[str]], tuple[int, ...]]]:
    """Return the tables that people see: title, header, rows, and which columns are numbers."""
    totals = [
        [
            f"{row['graph'].removeprefix('synthetic-')} {row['batch']}x{row['fanout']}",
            f"{row['dimension']}-{row['hidden']}-{row['classes']} {row['precision']}",
            f"{row['mechanism']} {render(row['chunk'], 'B')} x{row['window']}",
            f"{row['placement']}, {row['workers']} workers",
            render(row["measured"], "s"), render(row["predicted"], "s"), f"{row['ape']:.1%}", f"{row['noise']:.1%}",
            "yes" if row["inside_interval"] else "no",
        ]
        for row in document["rows"]
        if row["quantity"] == "total"
    ]  # fmt: skip
    quantities = [
        [
            quantity, str(found["n"]), f"{found['median_ape']:.1%}", f"{found['p90_ape']:.1%}",
            f"{found['noise_floor']:.1%}", f"{found['coverage_90']:.0%}",
        ]
        for quantity, found in sorted(document["by_quantity"].items(), key=lambda item: item[0] != "total")
    ]  # fmt: skip
    header = ["graph, batch", "widths", "transfer", "sampling on", "measured", "predicted", "error", "noise", "in"]
    columns = ["quantity", "runs", "median error", "90th percentile", "noise floor", "inside the 90 % interval"]
    return [
        ("total time of a mini-batch (--json has every phase)", header, totals, (4, 5, 6, 7)),
        ("predicted against measured", columns, quantities, (1, 2, 3, 4, 5)),
    ]


def sentences(document: Mapping[str, Any]) -> list[str]:
    """Return what is said below the tables."""
    pairs = document["ordered_pairs"]
    return [
        f"{pairs['share']:.1%} of {pairs['pairs']} pairs that differ by more than 20 % are ordered right",
        f"{document['disturbed']:.0%} of the mini-batches were slowed by what else runs on this host; only the others count,"
        f" or where they are fewer than {document['least_undisturbed']}, the faster half",
    ]
