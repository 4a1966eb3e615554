"""``perfmodel evaluate``: a table of jobs to a table of times."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import click

from perfmodel.cli.options import json_option
from perfmodel.cli.output import duration, write_json, write_line, write_table
from perfmodel.errors import SpecError, shown

if TYPE_CHECKING:
    import pandas

_SHOWN = 20  # rows of the table that people see
_TOLD = 20  # bad rows that stderr names one by one
_REPORTED = ("where", "rule", "got", "nearest")
_EXAMPLE = "workload,system,plan.transfer.chunk"


@click.command("evaluate")
@click.argument("jobs", metavar="JOBS.csv")
@click.option("--csv", "csv_file", metavar="FILE", help="Write the jobs with all results, a column each.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Keep another column as it is. May be repeated.")
@json_option
def command(jobs: str, csv_file: str | None, keep: tuple[str, ...], as_json: bool) -> None:
    """Evaluate thousands of jobs, a row each, from a CSV file.

    The header names the columns: workload and system, where wanted plan and profile, and dotted keys as --set takes them.
    An empty cell means the scenario's own value. A bad row goes to stderr with its line and is left out; exit status 2 where
    no row is good.

    \b
    perfmodel evaluate jobs.csv --csv times.csv
    """  # noqa: D301
    from perfmodel.frame import evaluate_frame
    from perfmodel.search.plan_file import check_out, write_text

    if csv_file is not None:
        check_out(csv_file, "--csv")
    table, lines, uneven, digest = _read(jobs)
    found = evaluate_frame(table, keep)
    bad = {lines[each["row"]]: each for each in found.attrs["bad_rows"]} | uneven
    good = [row for row, line in enumerate(lines) if line not in bad]
    sentences = [_sentence(jobs, line, bad[line]) for line in sorted(bad)]
    if not good:
        raise _nothing_good(jobs, bad)
    results = found.drop(columns=list(keep)).iloc[good]
    if csv_file is not None:
        write_text(csv_file, _csv(table.iloc[good], results, found.attrs["units"]), "--csv")
    if as_json:
        reports = [{"line": line, **{name: bad[line][name] for name in _REPORTED}} for line in sorted(bad)]
        write_json(
            {
                **{name: found.attrs[name] for name in ("schema", "perfmodel", "model", "units")},
                "inputs": {jobs: digest, **found.attrs["inputs"]},
                "rows": _rows([lines[row] for row in good], table.iloc[good], results),
                "bad_rows": reports,
            }
        )
    else:
        _write([lines[row] for row in good], table.iloc[good], results, len(bad), csv_file)
    for sentence in sentences[:_TOLD]:
        click.echo(f"perfmodel: {sentence}", err=True)
    if len(sentences) > _TOLD:
        click.echo(f"perfmodel: {len(sentences) - _TOLD} more bad rows; --json has them all", err=True)


def _nothing_good(path: str, bad: dict[int, dict[str, Any]]) -> SpecError:
    """Return the error of a file without a good row: the first bad one's, and how many there are."""
    if not bad:
        return SpecError(f"{path}: rows", "must be at least one", "none")
    line = min(bad)
    more = f" (no row is good; this is the first of {len(bad)})" if len(bad) > 1 else ""
    first = bad[line]
    return SpecError(f"{path}, line {line}: {first['where']}", first["rule"] + more, first["got"], first["nearest"])


def _read(path: str) -> tuple[pandas.DataFrame, list[int], dict[int, dict[str, Any]], str]:
    """Return the file's cells, the line of each row, what is wrong with rows of another length, and the file's sha256."""
    import csv
    import io
    import pathlib

    import pandas

    from perfmodel.spec.catalog import read_bytes

    content = read_bytes(pathlib.Path(path), "CSV")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(path, "must be a CSV file in UTF-8", "binary data") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [name.strip() for name in next(reader, [])]
        if not any(header):
            raise SpecError(path, "must start with a header", "an empty line" if text else "an empty file", _EXAMPLE)
        rows, lines, uneven = [], [], dict[int, dict[str, Any]]()
        for cells in reader:
            if len(cells) == len(header):
                rows.append([cell.strip() or None for cell in cells])
                lines.append(reader.line_num)
            elif cells:
                rule = f"must have {len(header)} cells, as the header has"
                uneven[reader.line_num] = {"where": "row", "rule": rule, "got": str(len(cells)), "nearest": None}
    except csv.Error as error:
        raise SpecError(f"{path}, line {reader.line_num}", "must be CSV", str(error)) from None
    names = dict.fromkeys(header)
    if len(names) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise SpecError(f"{path}: column {shown(twice)}", "must be there once", f"{header.count(twice)} of that name")
    return pandas.DataFrame(rows, columns=header, dtype=object), lines, uneven, hashlib.sha256(content).hexdigest()


def _sentence(path: str, line: int, bad: dict[str, Any]) -> str:
    return str(SpecError(f"{path}, line {line}: {bad['where']}", bad["rule"], bad["got"], bad["nearest"]))


def _header(name: str, unit: str) -> str:
    """Return a result's name with its unit in brackets, where the name doesn't end with it."""
    return f"{name} [{unit}]" if unit and not name.endswith(f"_{unit.lower()}") else name


def _csv(jobs: pandas.DataFrame, results: pandas.DataFrame, units: dict[str, str]) -> str:
    import pandas

    headed = results.rename(columns={name: _header(name, units[name]) for name in results.columns})
    whole: str = pandas.concat([jobs, headed], axis=1).to_csv(index=False, lineterminator="\n")
    return whole


def _rows(lines: list[int], jobs: pandas.DataFrame, results: pandas.DataFrame) -> list[dict[str, Any]]:
    """Return a table a row; cells without a value are null."""
    given = jobs.to_dict("records")
    found = results.astype({"bottleneck": object, "feasible": object}).to_dict("records")
    return [
        {"line": line, "job": job, **{str(name): value for name, value in row.items()}}
        for line, job, row in zip(lines, given, found, strict=True)
    ]


def _write(lines: list[int], jobs: pandas.DataFrame, results: pandas.DataFrame, bad: int, csv_file: str | None) -> None:
    infeasible = int((~results["feasible"].astype(bool)).sum())
    rest = f", {bad} bad rows left out" if bad > 1 else ", 1 bad row left out" if bad else ""
    write_line(f"{len(results):,} jobs evaluated, {infeasible:,} of them infeasible{rest}")
    rows = [
        [str(line), str(workload), str(system), duration(time), duration(epoch), str(longest), "yes" if feasible else "no"]
        for line, workload, system, time, epoch, longest, feasible in zip(
            lines[:_SHOWN], jobs["workload"], jobs["system"], results["time_s"], results["epoch_time_s"],
            results["bottleneck"], results["feasible"], strict=False,
        )
    ]  # fmt: skip
    header = ["line", "workload", "system", "time", "epoch", "bottleneck", "feasible"]
    write_table("", header, rows, numbers=(0, 3, 4))
    if len(results) > _SHOWN:
        write_line(f"and {len(results) - _SHOWN:,} more" + ("" if csv_file else ": --csv FILE has them all"))
