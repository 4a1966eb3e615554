"""``perfmodel schema``: JSON Schema of the spec files."""

from __future__ import annotations

import click

from perfmodel.cli.output import write_json, write_line
from perfmodel.errors import SpecError, nearest


@click.command("schema")
@click.argument("kind", required=False)
def command(kind: str | None) -> None:
    """Write the JSON Schema of one KIND of spec file, or the names of all kinds."""
    from perfmodel.spec.catalog import KINDS

    if kind is None:
        for name in KINDS:
            write_line(name)
        return
    if kind not in KINDS:
        raise SpecError("schema", f"must be one of {', '.join(sorted(KINDS))}", repr(kind), nearest(kind, KINDS))
    write_json(KINDS[kind].model_json_schema())
