"""The winning plan as a TOML file that ``perfmodel predict --plan`` takes."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from perfmodel.errors import SpecError, shown
from perfmodel.search.result import PlanFound, plain


def check_out(out: str, option: str = "--out") -> None:
    """Raise where nothing can be written, before time is spent.

    Raises
    ------
    SpecError
    """
    if not out.strip() or "\0" in out:
        raise SpecError(option, "must be the path of a file", shown(out), "plan.toml")
    path = pathlib.Path(out)
    try:
        if path.is_dir():
            raise SpecError(f"{option} {out}", "must be a file", "a directory", str(path / "plan.toml"))
        if not path.parent.is_dir():
            raise SpecError(f"{option} {out}", "must lie in a directory that exists", str(path.parent), path.name)
    except OSError as error:
        raise SpecError(f"{option} {out}", "must be the path of a file", error.strerror or error) from None


def plan_text(found: PlanFound) -> str:
    """Return a plan as TOML; what a plan can't hold stands above it as options of ``predict``."""
    import tomli_w

    scenario = found.scenario
    table = _filled(scenario.plan.model_dump(exclude={"sources"}))
    table["name"] = f"best-{scenario.workload.name}-{scenario.system.name}"
    table["title"] = f"Found by perfmodel search for {scenario.workload.name} on {scenario.system.name}"
    table["sources"] = {"*": "analytic: perfmodel search"}
    command = f"perfmodel predict {scenario.workload.name} --system {scenario.system.name} --plan FILE"
    others = [f"--set {key}={_shell(value)}" for key, value in found.parameters.items() if not key.startswith("plan.")]
    lines = [f"# {name} = {value:.6g}" for name, value in found.objectives.items()]
    return "\n".join([*lines, f"# {' '.join([command, *others])}", tomli_w.dumps(table)])


def write_text(out: str, text: str, option: str = "--out") -> None:
    """Write a file, or say why not.

    Raises
    ------
    SpecError
    """
    try:
        pathlib.Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{option} {out}", "must be writable", error.strerror or error) from None


def _filled(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table without what is not there; TOML has no word for it."""
    return {
        key: _filled(value) if isinstance(value, Mapping) else plain(value)
        for key, value in table.items()
        if value is not None
    }


def _shell(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return text if text.isalnum() or set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.,") else f"'{text}'"
