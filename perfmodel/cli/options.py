"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from perfmodel.errors import SpecError

Command = TypeVar("Command", bound=Callable[..., Any])


def scenario_options(command: Command) -> Command:
    """Add the workload, system, plan, changes and profile of a scenario."""
    for decorate in (
        click.option("--profile", metavar="FILE", help="Profile laid over the catalog: a name or a TOML file."),
        click.option(
            "--set", "changes", multiple=True, metavar="KEY=VALUE",
            help='Change one value, e.g. --set plan.transfer.chunk="512 KiB". May be repeated.',
        ),
        click.option("--plan", metavar="PLAN", help="Plan: a catalog name or a TOML file [default: default]."),
        click.option("--system", required=True, metavar="SYSTEM", help="System: a catalog name or a TOML file."),
        click.argument("workload"),
    ):  # fmt: skip
        command = decorate(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON document to stdout.")


def parsed_changes(changes: tuple[str, ...]) -> dict[str, Any]:
    """Return ``--set`` options as a mapping; the last of one key wins."""
    found: dict[str, Any] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise SpecError("--set", "must be KEY=VALUE", repr(change), 'plan.transfer.chunk="512 KiB"')
        if key.strip().endswith(".profile"):
            raise SpecError(
                f"--set {key.strip()}",
                "can not be changed: profiles are laid over files as they are read",
                repr(value.strip()),
                "--profile FILE",
            )
        found[key.strip()] = value.strip()
    return found
