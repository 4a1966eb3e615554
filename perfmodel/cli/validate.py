"""``perfmodel validate``: predicted against measured, row by row."""

from __future__ import annotations

from typing import Any

import click

import perfmodel
from perfmodel.cli.exit_status import ExitStatus
from perfmodel.cli.options import json_option
from perfmodel.cli.output import write_json, write_line, write_table
from perfmodel.errors import SpecError, nearest

_SUITES = ("lgnnic", "buddy", "mdgnn", "machine")
_LOADERS = ("plain", "pyg")
_TRAINING = "sampled-training"
#: Pipelines that run on this machine, and the modules that validate them.
_PIPELINES = {
    _TRAINING: "calibration.machine_validation",
    "message-routing": "calibration.routing_validation",
    "snapshots": "calibration.snapshot_validation",
}


@click.command("validate")
@click.argument("suite")
@click.option("--table", metavar="FILE", help="Rows of your own, with the header of the shipped table.")
@click.option("--profile", metavar="FILE", help="Profile to validate in place of the shipped or the machine's own.")
@click.option("--quick", is_flag=True, help="machine: 12 configurations in place of 60.")
@click.option(
    "--loader", default="plain", metavar="LOADER", help="machine: whose sampler, plain or pyg [default: plain]."
)
@click.option(
    "--pipeline",
    default=_TRAINING,
    metavar="PIPELINE",
    help=f"machine: what is run, {', '.join(_PIPELINES)} [default: {_TRAINING}].",
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
    pipeline: str,
    as_json: bool,
) -> None:
    """Hold the model against published numbers (lgnnic, buddy, mdgnn), or against real runs on this machine (machine).

    Exit status 3 where the stated bounds are missed. lgnnic, on the shipped rows: median 7 %, mean 10 %, coverage 80 to
    98 %. buddy: every shipped number within 15 %. mdgnn: median 10 %, every shipped row that no other contradicts within
    25 %, energies within 15 %. machine: total time with a median error of 10 % and a 90th percentile of 25 %, each
    phase's median 15 %, 80 % inside the intervals, 95 % of the pairs that differ by more than 20 % ordered right; noise
    above a bound excuses it. machine --pipeline message-routing: speedup of the spare core with a median error of 15 %,
    break-even ratio within a factor of 1.3. machine --pipeline snapshots: total time of a frame with a median error of
    15 %, 80 % inside the intervals, 90 % of such pairs ordered right.
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
        _on_this_machine(pipeline, profile, quick, loader) if suite == "machine" else _published(suite, table, profile)
    )
    document = {"schema": 1, "perfmodel": perfmodel.__version__, **found}
    if as_json:
        write_json(document)
    elif suite == "machine":
        _write_machine(document, pipeline)
    else:
        _write(document)
    if not document["within_bounds"]:
        context.exit(ExitStatus.NOT_REACHED)


def _check_pipeline(suite: str, pipeline: str, loader: str) -> None:
    known = ", ".join(_PIPELINES)
    if pipeline not in _PIPELINES:
        raise SpecError("--pipeline", f"must be one of {known}", repr(pipeline), nearest(pipeline, _PIPELINES))
    if pipeline != _TRAINING and suite != "machine":
        raise SpecError("--pipeline", "runs on this machine", f"validate {suite}", "validate machine --pipeline NAME")
    if pipeline != _TRAINING and loader != "plain":
        raise SpecError("--loader", f"is for the pipeline {_TRAINING}", f"--pipeline {pipeline}", "plain")


def _published(suite: str, table: str | None, profile: str | None) -> dict[str, Any]:
    import importlib

    found: dict[str, Any] = importlib.import_module(f"calibration.published.{suite}").validate(table, profile)
    return found


def _on_this_machine(pipeline: str, profile: str | None, quick: bool, loader: str) -> dict[str, Any]:
    import importlib

    from perfmodel.cli.output import progress_bar

    options = {"loader": loader} if pipeline == _TRAINING else {}
    with progress_bar("running configurations") as progress:
        validation = importlib.import_module(_PIPELINES[pipeline])
        found: dict[str, Any] = validation.validate(profile, quick, progress, **options)
        return found


def _write_machine(document: dict[str, Any], pipeline: str) -> None:
    import importlib

    module = importlib.import_module(_PIPELINES[pipeline])
    for title, header, rows, numbers in module.tables(document):
        write_table(title, header, rows, numbers=numbers)
    for sentence in (*module.sentences(document), *(f"missed: {found}" for found in document["missed"])):
        write_line(sentence)


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
