"""``perfmodel validate``: predicted against measured, row by row."""

from __future__ import annotations

from typing import Any

import click

import perfmodel
from perfmodel.cli.exit_status import ExitStatus
from perfmodel.cli.options import json_option
from perfmodel.cli.output import write_json, write_line, write_table
from perfmodel.errors import SpecError, nearest
from perfmodel.units import render

_SUITES = ("lgnnic", "buddy", "mdgnn", "machine")
_LOADERS = ("plain", "pyg")


@click.command("validate")
@click.argument("suite")
@click.option("--table", metavar="FILE", help="Rows of your own, with the header of the shipped table.")
@click.option("--profile", metavar="FILE", help="Profile to validate in place of the shipped or the machine's own.")
@click.option("--quick", is_flag=True, help="machine: 12 configurations in place of 60.")
@click.option(
    "--loader", default="plain", metavar="LOADER", help="machine: whose sampler, plain or pyg [default: plain]."
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    table: str | None,
    profile: str | None,
    quick: bool,
    loader: str,
    as_json: bool,
) -> None:
    """Hold the model against published numbers (lgnnic, buddy, mdgnn), or against real runs on this machine (machine).

    Exit status 3 where the stated bounds are missed. lgnnic, on the shipped rows: median 7 %, mean 10 %, coverage 80 to
    98 %. buddy: every shipped number within 15 %. mdgnn: median 10 %, every shipped row that no
    other contradicts within 25 %, energies within 15 %. machine: total time with a median error of 10 % and a 90th percentile
    of 25 %, each phase's median 15 %, 80 % inside the intervals, 95 % of the pairs that differ by more than 20 % ordered
    right; noise above a bound excuses it.
    """
    if suite not in _SUITES:
        raise SpecError("validate", f"must be one of {', '.join(_SUITES)}", repr(suite), nearest(suite, _SUITES))
    if suite == "machine" and table is not None:
        raise SpecError(
            "--table", "holds rows of a published table", "validate machine", "validate lgnnic --table FILE"
        )
    if suite != "machine" and quick:
        raise SpecError("--quick", "shortens the runs on this machine", f"validate {suite}", "validate machine --quick")
    if loader not in _LOADERS:
        raise SpecError("--loader", f"must be one of {', '.join(_LOADERS)}", repr(loader), nearest(loader, _LOADERS))
    found = _on_this_machine(profile, quick, loader) if suite == "machine" else _published(suite, table, profile)
    document = {"schema": 1, "perfmodel": perfmodel.__version__, **found}
    if as_json:
        write_json(document)
    else:
        (_write_machine if suite == "machine" else _write)(document)
    if not document["within_bounds"]:
        context.exit(ExitStatus.NOT_REACHED)


def _published(suite: str, table: str | None, profile: str | None) -> dict[str, Any]:
    import importlib

    found: dict[str, Any] = importlib.import_module(f"calibration.published.{suite}").validate(table, profile)
    return found


def _on_this_machine(profile: str | None, quick: bool, loader: str) -> dict[str, Any]:
    from calibration.machine_validation import validate
    from perfmodel.cli.output import progress_bar

    with progress_bar("running configurations") as progress:
        return validate(profile, quick, progress, loader="pyg" if loader == "pyg" else "plain")


def _write_machine(document: dict[str, Any]) -> None:
    rows = [
        [
            f"{row['graph'].removeprefix('synthetic-')} {row['batch']}x{row['fanout']}",
            f"{row['dimension']}-{row['hidden']}-{row['classes']} {row['precision']}",
            f"{row['mechanism']} {render(row['chunk'], 'B')} x{row['window']}",
            f"{row['placement']}, {row['workers']} workers",
            render(row["measured"], "s"),
            render(row["predicted"], "s"),
            f"{row['ape']:.1%}",
            f"{row['noise']:.1%}",
            "yes" if row["inside_interval"] else "no",
        ]
        for row in document["rows"]
        if row["quantity"] == "total"
    ]
    header = ["graph, batch", "widths", "transfer", "sampling on", "measured", "predicted", "error", "noise", "in"]
    write_table("total time of a mini-batch (--json has every phase)", header, rows, numbers=(4, 5, 6, 7))
    summaries = [
        [
            quantity,
            str(found["n"]),
            f"{found['median_ape']:.1%}",
            f"{found['p90_ape']:.1%}",
            f"{found['noise_floor']:.1%}",
            f"{found['coverage_90']:.0%}",
        ]
        for quantity, found in sorted(document["by_quantity"].items(), key=lambda item: item[0] != "total")
    ]
    columns = ["quantity", "runs", "median error", "90th percentile", "noise floor", "inside the 90 % interval"]
    write_table("predicted against measured", columns, summaries, numbers=(1, 2, 3, 4, 5))
    pairs = document["ordered_pairs"]
    write_line(f"{pairs['share']:.1%} of {pairs['pairs']} pairs that differ by more than 20 % are ordered right")
    for sentence in document["missed"]:
        write_line(f"missed: {sentence}")


def _write(document: dict[str, Any]) -> None:
    names = list(document["columns"])
    rows = [
        [
            *[str(row[name]) for name in names],
            row["quantity"] + "*" * bool(row.get("properties")),
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
    write_table(document["title"], header, rows, numbers=(first, first + 1, first + 2))
    named = sorted({name for row in document["rows"] for name in row.get("properties", ())})
    if named:
        write_line(f"* property of the experiment: {', '.join(named)}")
    for quantity, found in {**document["by_quantity"], "all": document["summary"]}.items():
        if found["n"]:
            write_line(
                f"{quantity}: {found['n']} rows, median error {found['median_ape']:.1%}, mean {found['mean_ape']:.1%}, "
                f"largest {found['max_ape']:.1%}, {found['coverage_90']:.0%} inside the 90 % interval"
            )
    for note in document["notes"]:
        write_line(note)
