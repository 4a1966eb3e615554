"""``perfmodel explain``: the formulas with the numbers in place, and what would change them."""

from __future__ import annotations

import click

from perfmodel.cli.options import json_option, parsed_changes, scenario_options
from perfmodel.cli.output import warn, write_json, write_line
from perfmodel.errors import SpecError, nearest

_FORMATS = ("text", "latex", "json")


@click.command("explain")
@scenario_options
@click.option("--format", "form", metavar="FORMAT", help="text, latex or json [default: text].")
@json_option
def command(
    workload: str,
    system: str,
    plan: str | None,
    changes: tuple[str, ...],
    profile: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Explain the time of a mini-batch of WORKLOAD: formulas, regimes, elasticities and the best chunk.

    \b
    perfmodel explain reddit --system lgnnic-doca-dma
    perfmodel explain ogbn-mag --system lgnnic-sockets --plan fp16 --format latex > book.tex
    """  # noqa: D301
    form = _settled(form, as_json)
    from perfmodel.spec.scenario import load_scenario

    scenario = load_scenario(workload, system, plan, profile, parsed_changes(changes))
    from perfmodel.model.book import explain

    book = explain(scenario)
    if form == "json":
        write_json(book)
        return
    if form == "latex":
        from perfmodel.model.book_latex import book_latex

        write_line(book_latex(book).rstrip("\n"))
    else:
        from perfmodel.model.book_text import book_text

        write_line(book_text(book).rstrip("\n"))
    for step in book["steps"]:
        for entry in (*step["uses"], step):
            for limit in entry["domain"]:
                if not limit["holds"]:
                    warn(f"{step['name']}: {limit['meaning']}")


def _settled(form: str | None, as_json: bool) -> str:
    """Return the format that is asked for."""
    if form is None:
        return "json" if as_json else "text"
    if form not in _FORMATS:
        raise SpecError("--format", f"must be one of {', '.join(_FORMATS)}", repr(form), nearest(form, _FORMATS))
    if as_json and form != "json":
        raise SpecError("--json", "must not be given beside another format", f"--format {form}", "--format json")
    return form
