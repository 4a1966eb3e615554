"""``perfmodel list``: the catalog, with the source of each entry."""

from __future__ import annotations

from typing import Any

import click

import perfmodel
from perfmodel.cli.options import json_option
from perfmodel.cli.output import write_json, write_table
from perfmodel.errors import SpecError, nearest


@click.command("list")
@click.argument("kind", required=False)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the catalog, or one KIND of it: systems, workloads, graphs, devices, links, plans, profiles."""
    from perfmodel.spec.catalog import KINDS

    if kind is not None and kind not in KINDS:
        raise SpecError("list", f"must be one of {', '.join(sorted(KINDS))}", repr(kind), nearest(kind, KINDS))
    entries = {name: _entries(name) for name in ([kind] if kind else KINDS)}
    if as_json:
        hashes = {f"{name}/{entry['name']}": entry["sha256"] for name, found in entries.items() for entry in found}
        write_json({"schema": 1, "perfmodel": perfmodel.__version__, "inputs": hashes, **entries})
        return
    for name, found in entries.items():
        rows = [[entry["name"], entry["title"], _main_source(entry)] for entry in found]
        write_table(name, ["name", "what", "source"], rows, wrapped=(1, 2))


def _main_source(entry: dict[str, Any]) -> str:
    """Return the surest source, and how many more there are; --json has all."""
    from perfmodel.spec._base import SOURCE_KINDS
    from perfmodel.spec.catalog import THIS_MACHINE

    if entry["missing_profile"] is not None:
        instead = "perfmodel calibrate" if entry["missing_profile"] == THIS_MACHINE else "no such profile"
        return f"not measured yet: {instead}"
    surest = sorted(sorted(set(entry["sources"].values())), key=lambda text: SOURCE_KINDS.index(text.split(":")[0]))
    more = f" (and {len(surest) - 1} more)" if len(surest) > 1 else ""
    return f"{surest[0]}{more}" if surest else ""


def _entries(kind: str) -> list[dict[str, Any]]:
    import hashlib

    from perfmodel.spec.catalog import names, parse_toml, path_of

    found = []
    for name in names(kind):
        content = path_of(kind, name).read_bytes()
        table = parse_toml(content, name)
        missing = _missing_profile(kind, table)
        sources = {**table.get("sources", {}), **(_profile_sources(kind, table) if missing is None else {})}
        found.append(
            {
                "name": name,
                "title": table.get("title", ""),
                "source": "; ".join(sorted(set(sources.values()))),
                "sources": sources,
                "missing_profile": missing,
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )
    return found


def _profile_sources(kind: str, table: dict[str, Any]) -> dict[str, str]:
    """Return the sources of the numbers that an entry's profile lays over its file."""
    from perfmodel.spec.catalog import load
    from perfmodel.spec.profile import Profile

    own = table.get("profile")
    profile = load("profiles", own) if isinstance(own, str) else None
    return profile.sources_of(f"{kind}/{table['name']}") if isinstance(profile, Profile) else {}


def _missing_profile(kind: str, table: dict[str, Any]) -> str | None:
    """Return the profile that an entry takes numbers from, itself or by the entries in it, where it is not there."""
    from perfmodel.spec.catalog import REFERENCES, names, parse_toml, path_of

    own = table.get("profile")
    if isinstance(own, str) and own not in names("profiles"):
        return own
    for field, target in REFERENCES.get(kind, {}).items():
        inner = table.get(field)
        if isinstance(inner, str) and inner in names(target):
            missing = _missing_profile(target, parse_toml(path_of(target, inner).read_bytes(), inner))
            if missing is not None:
                return missing
    return None
