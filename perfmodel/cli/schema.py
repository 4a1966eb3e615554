"""``perfmodel schema``: JSON Schema of the spec files and of the documents of results."""

from __future__ import annotations

from typing import Any, Union

import click

import perfmodel
from perfmodel.cli.output import write_json, write_line
from perfmodel.errors import SpecError, nearest

#: Documents that commands write with --json: the module and the class that read them.
_RESULTS = {
    "predict-result": ("perfmodel.estimate", "Estimate"),
    "search-result": ("perfmodel.search.saved", "SavedSearch"),
    "plan-result": ("perfmodel.plan.result", "CapacityPlan"),
}


@click.command("schema")
@click.argument("kind", required=False)
def command(kind: str | None) -> None:
    """Write the JSON Schema of one KIND of spec file or of a command's --json, or the names of all kinds."""
    from perfmodel.spec.catalog import KINDS

    kinds = (*KINDS, *_RESULTS)
    if kind is None:
        for name in kinds:
            write_line(name)
        return
    if kind not in kinds:
        raise SpecError("schema", f"must be one of {', '.join(sorted(kinds))}", repr(kind), nearest(kind, kinds))
    write_json(_result_schema(kind) if kind in _RESULTS else _schema(kind))


def _result_schema(kind: str) -> dict[str, Any]:
    """Return the schema of a command's document."""
    import importlib

    from perfmodel.documents import schema_of

    module, name = _RESULTS[kind]
    loaded = importlib.import_module(module)
    found = schema_of(getattr(loaded, name), loaded.SCHEMA, f"perfmodel {kind.removesuffix('-result')} --json")
    return {"schema": 1, "perfmodel": perfmodel.__version__, "inputs": {}, **found}


def _schema(kind: str) -> dict[str, Any]:
    """Return the schema of the file: fields that name another entry take a name, or a table that starts from one."""
    import pydantic

    from perfmodel.spec.catalog import REFERENCES, specs_of

    specs = specs_of(kind)
    schema: dict[str, Any] = pydantic.TypeAdapter(Union[specs]).json_schema()  # type: ignore[arg-type]  # noqa: UP007
    definitions = schema.get("$defs", {})
    entries = [schema] if len(specs) == 1 else [definitions[each["$ref"].split("/")[-1]] for each in schema["anyOf"]]
    for entry in entries:
        for field, target in REFERENCES.get(kind, {}).items():
            if field in entry["properties"]:
                entry["properties"][field] = {"anyOf": [*_reference(target), entry["properties"][field]]}
    for part in (schema, *definitions.values()):
        _leave_to_profile(part)
    return {"schema": 1, "perfmodel": perfmodel.__version__, "inputs": {}, **schema}


def _reference(target: str) -> list[dict[str, Any]]:
    """Return what stands for an entry of another kind."""
    return [
        {"type": "string", "description": f"A name of the catalog's {target}, or a TOML file."},
        {"type": "object", "required": ["use"], "description": "An entry with some of its fields changed."},
    ]


def _leave_to_profile(schema: dict[str, Any]) -> None:
    """Ask for numbers only where no profile is named that could give them."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    numbers = [field for field in required if "unit" in properties[field]]
    if "profile" in properties and numbers:
        schema["required"] = [field for field in required if field not in numbers]
        schema["if"] = {"required": ["profile"], "properties": {"profile": {"type": "string"}}}
        schema["else"] = {"required": numbers}
