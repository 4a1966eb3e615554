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
#: Pipelines of this machine, and the modules that run and validate them.
_PIPELINES = {"mini-batches": "calibration.machine_validation", "snapshots": "calibration.snapshot_validation"}


@click.command("validate")
@click.argument("suite")
@click.option("--table", metavar="FILE", help="Rows of your own, with the header of the shipped table.")
@click.option("--profile", metavar="FILE", help="Profile to validate in place of the shipped or the machine's own.")
@click.option("--quick", is_flag=True, help="machine: fewer configurations.")
@click.option(
    "--pipeline",
    default="mini-batches",
    metavar="PIPELINE",
    help=f"machine: what is run, {', '.join(_PIPELINES)} [default: mini-batches].",
)
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
    pipeline: str,
    loader: str,
    as_json: bool,
) -> None:
    """Hold the model against published numbers (lgnnic, buddy, mdgnn), or against real runs on this machine (machine).

    Exit status 3 where the stated bounds are missed. lgnnic, on the shipped rows: median 7 %, mean 10 %, coverage 80 to
    98 %. buddy: every shipped number within 15 %. mdgnn: median 10 %, every shipped row that no
    other contradicts within 25 %, energies within 15 %. machine: total time with a median error of 10 % and a 90th percentile
    of 25 %, each phase's median 15 %, 80 % inside the intervals, 95 % of the pairs that differ by more than 20 % ordered
    right; noise above a bound excuses it. machine --pipeline snapshots: total time of a frame with a median error of 15 %,
    80 % inside the intervals, 90 % of such pairs ordered right.
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
    _check_pipeline(suite, pipeline, loader)
    found = (
        _on_this_machine(profile, quick, pipeline, loader) if suite == "machine" else _published(suite, table, profile)
    )
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


def _check_pipeline(suite: str, pipeline: str, loader: str) -> None:
    if pipeline not in _PIPELINES:
        rule = f"must be one of {', '.join(_PIPELINES)}"
        raise SpecError("--pipeline", rule, repr(pipeline), nearest(pipeline, _PIPELINES))
    if suite != "machine" and pipeline != "mini-batches":
        raise SpecError("--pipeline", "names what runs on this machine", f"validate {suite}", "validate machine")
    if loader != "plain" and pipeline != "mini-batches":
        raise SpecError("--loader", "is of the pipeline mini-batches", repr(loader), "--loader plain")


def _on_this_machine(profile: str | None, quick: bool, pipeline: str, loader: str) -> dict[str, Any]:
    import importlib

    from perfmodel.cli.output import progress_bar

    options = {} if loader == "plain" else {"loader": loader}
    with progress_bar("running configurations") as progress:
        validation = importlib.import_module(_PIPELINES[pipeline])
        found: dict[str, Any] = validation.validate(profile, quick, progress, **options)
    return {"pipeline": pipeline, **found}


def _of_mini_batches(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['graph'].removeprefix('synthetic-')} {row['batch']}x{row['fanout']}",
        f"{row['dimension']}-{row['hidden']}-{row['classes']} {row['precision']}",
        f"{row['mechanism']} {render(row['chunk'], 'B')} x{row['window']}",
        f"{row['placement']}, {row['workers']} workers",
    ]


def _of_snapshots(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['processes']} for {row['window']}, {row['layers']} layers",
        f"{row['nodes']}x{row['width']}, {row['targets']}x{row['degree']}",
        f"{row['cell']} {row['hidden']}, {row['exchange']} x{row['fragments']}",
        f"{row['policy']} {row['capacity']} x {render(row['page'], 'B')}, {row['reading']}",
    ]


#: What the four first columns of each pipeline's table are, and how they are written.
_COLUMNS = {
    "mini-batches": ("a mini-batch", ("graph, batch", "widths", "transfer", "sampling on"), _of_mini_batches),
    "snapshots": ("a frame", ("processes", "snapshot, targets", "cells, states", "pages"), _of_snapshots),
}


def _write_machine(document: dict[str, Any]) -> None:
    unit, names, written = _COLUMNS[document["pipeline"]]
    rows = [
        [
            *written(row),
            render(row["measured"], "s"),
            render(row["predicted"], "s"),
            f"{row['ape']:.1%}",
            f"{row['noise']:.1%}",
            "yes" if row["inside_interval"] else "no",
        ]
        for row in document["rows"]
        if row["quantity"] == "total"
    ]
    header = [*names, "measured", "predicted", "error", "noise", "in"]
    write_table(f"total time of {unit} (--json has every phase)", header, rows, numbers=(4, 5, 6, 7))
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
