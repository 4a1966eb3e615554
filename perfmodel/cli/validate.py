"""``perfmodel validate``: predicted against measured, row by row."""

from __future__ import annotations

from typing import Any

import click

import perfmodel
from perfmodel.cli.exit_status import ExitStatus
from perfmodel.cli.options import json_option
from perfmodel.cli.output import write_json, write_line, write_table
from perfmodel.errors import SpecError, nearest

_SUITES = ("lgnnic",)


@click.command("validate")
@click.argument("suite")
@click.option("--table", metavar="FILE", help="Rows of your own, with the header of the shipped table.")
@click.option("--profile", metavar="FILE", help="Profile to validate in place of the shipped one.")
@json_option
@click.pass_context
def command(context: click.Context, suite: str, table: str | None, profile: str | None, as_json: bool) -> None:
    """Hold the model against a published table: lgnnic.

    Exit status 3 where the shipped rows miss the stated bounds (median 7 %, mean 10 %, coverage 80 to 98 %).
    """
    if suite not in _SUITES:
        raise SpecError("validate", f"must be one of {', '.join(_SUITES)}", repr(suite), nearest(suite, _SUITES))
    from calibration.published import lgnnic

    document = {"schema": 1, "perfmodel": perfmodel.__version__, **lgnnic.validate(table, profile)}
    if as_json:
        write_json(document)
    else:
        _write(document)
    if not document["within_bounds"]:
        context.exit(ExitStatus.NOT_REACHED)


def _write(document: dict[str, Any]) -> None:
    names = list(document["columns"])
    rows = [
        [
            *[str(row[name]) for name in names],
            row["quantity"] + "*" * bool(row["properties"]),
            f"{row['measured']:g}",
            f"{row['predicted']:.3g}",
            f"{row['ape']:.1%}",
            f"{row['interval'][0]:.3g} to {row['interval'][1]:.3g}",
            "yes" if row["inside_interval"] else "no",
        ]
        for row in document["rows"]
    ]
    header = [*names, "quantity", "measured", "predicted", "error", "90 % interval", "in"]
    first = len(names) + 1
    write_table("times in seconds", header, rows, numbers=(first, first + 1, first + 2))
    named = sorted({name for row in document["rows"] for name in row["properties"]})
    if named:
        write_line(f"* property of the experiment: {', '.join(named)}")
    for quantity, found in {**document["by_quantity"], "all": document["summary"]}.items():
        if found["n"]:
            write_line(
                f"{quantity}: {found['n']} rows, median error {found['median_ape']:.1%}, mean {found['mean_ape']:.1%}, "
                f"largest {found['max_ape']:.1%}, {found['coverage_90']:.0%} inside the 90 % interval"
            )
    for row in document["unfitted"]:
        write_line(
            f"not fitted: {row['quantity']} of {row['dataset']} {row['fanout']}: {row['predicted']:.3g} s against about "
            f"{row['measured']:g} s"
        )
    count = document["fitted_parameters"]
    write_line(f"{count} fitted constants, to the shipped rows and to one printed mini-batch of ogbn-mag")
    write_line("errors on rows left out of the fit: studies/lgnnic_leave_one_out")
