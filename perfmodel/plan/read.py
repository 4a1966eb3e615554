"""Reading a fleet's file, with changes by dotted key laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.spec._base import build
from perfmodel.spec.catalog import Reader, Reference
from perfmodel.spec.fleet import Fleet

_LISTS = ("jobs", "devices", "shared")


def read_table(reference: Reference) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table of a fleet, by catalog name, path or table, and the hashes of the files it was read from."""
    reader = Reader()
    return reader.table("fleets", reference, "fleet"), reader.inputs


def fleet_of(table: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Fleet:
    """Return a fleet's spec with changes such as ``jobs.0.growth.edges`` or ``devices.bluefield.price``.

    Raises
    ------
    SpecError
        Unknown keys, values outside their bounds.
    """
    name = table.get("name")
    return build(Fleet, changed(table, changes or {}), name if isinstance(name, str) and name else "fleet")


def changed(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fleet's table with changes by dotted key, not yet checked."""
    found = dict(table)
    for key, value in changes.items():
        if key in _LISTS:
            raise SpecError(f"--set {key}", f"must lead to one of the {key}", shown(value), f"{key}.0.name")
        found = _laid(found, key.split("."), value, key)
    return found


def _laid(node: Any, parts: list[str], value: object, key: str) -> Any:
    """Return a table or list with a value put in at a path; parts of a list go by number or by name."""
    if not parts:
        return value
    head, rest = parts[0], parts[1:]
    if isinstance(node, (list, tuple)):
        position = _position(node, head, key)
        return [_laid(each, rest, value, key) if number == position else each for number, each in enumerate(node)]
    if node is not None and not isinstance(node, Mapping):
        raise SpecError(f"--set {key}", "must lead to a value of the plan", f"{shown(head)} in {shown(node)}")
    table = dict(node or {})
    table[head] = _laid(table.get(head), rest, value, key) if rest else value
    return table


def _position(parts: list[Any] | tuple[Any, ...], head: str, key: str) -> int:
    names = [str(each.get("name", "")) if isinstance(each, Mapping) else "" for each in parts]
    if head in names:
        return names.index(head)
    if head.isdigit() and int(head) < len(parts):
        return int(head)
    choices = [name for name in names if name]
    raise SpecError(
        f"--set {key}",
        f"must name one of {len(parts)} by number from 0 or by name",
        shown(head),
        nearest(head, choices),
    )
