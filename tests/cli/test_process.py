"""The command line as a process: exit statuses, streams, imports, and the same bytes for the same input."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import click.testing
import pytest

import perfmodel
from perfmodel.cli.main import commands

REDDIT = ("predict", "reddit", "--system", "lgnnic-doca-dma", "--json")
HEAVY = {"sympy", "scipy", "pandas", "optuna", "pydantic", "rich", "numpy", "calibration"}


def loaded(code: str) -> set[str]:
    """Return the packages that a piece of code imports."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_done_bad_input_and_infeasible(process: Any) -> None:
    assert process(*REDDIT).document["feasible"] is True
    assert process(*REDDIT, "--set", "system.memory_node.memory=1 MiB").document["feasible"] is False
    assert "reddit" in process("predict", "redit", "--system", "lgnnic-doca-dma").sentence


def test_the_same_input_gives_the_same_bytes(process: Any) -> None:
    for arguments in (REDDIT, ("list",), ("validate", "lgnnic", "--json"), ("schema", "systems")):
        first = process(*arguments, env={**os.environ, "PYTHONHASHSEED": "1"})
        second = process(*arguments, env={**os.environ, "PYTHONHASHSEED": "2"})
        assert first.status == 0
        assert (first.out, first.err) == (second.out, second.err)


def test_the_first_run_says_what_later_ones_say(process: Any, tmp_path: pathlib.Path) -> None:
    """The model is compiled once and loaded from its cache afterwards."""
    settings = {"env": {**os.environ, "PERFMODEL_CACHE": str(tmp_path / "fresh")}}
    assert process(*REDDIT, **settings) == process(*REDDIT, **settings)


def test_a_cache_that_cannot_be_written_is_no_error(process: Any, tmp_path: pathlib.Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    assert process(*REDDIT, env={**os.environ, "PERFMODEL_CACHE": str(blocked / "x")}).status == 0


def test_debug_shows_where_it_broke(process: Any) -> None:
    found = process("predict", "redit", "--system", "lgnnic-doca-dma", "--debug")
    assert found.status == 2
    assert "Traceback" in found.err
    assert found.err.splitlines()[-1].startswith("perfmodel: workload: ")
    assert "Traceback" not in process("predict", "redit", "--system", "lgnnic-doca-dma").err


def test_help_and_version(process: Any) -> None:
    for arguments in ((), ("--help",), ("-h",), ("predict", "--help")):
        found = process(*arguments)
        assert found.status == 0
        assert found.out.startswith("Usage: perfmodel")
        assert found.err == ""
    assert perfmodel.__version__ in process("--version").out


def test_help_imports_nothing_heavy() -> None:
    code = "import runpy, sys; sys.argv = ['perfmodel', '--help']\ntry: runpy.run_module('perfmodel')\nexcept SystemExit: pass"
    assert not loaded(code) & HEAVY
    assert not loaded("import perfmodel") & (HEAVY | {"click"})


def test_a_warm_prediction_imports_no_sympy() -> None:
    code = "import perfmodel as pm; pm.predict(pm.load_scenario('reddit', 'lgnnic-doca-dma'))"
    loaded(code)
    assert not loaded(code) & {"sympy", "pandas", "optuna", "rich"}


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize(
    "arguments", ["list", "list --json", "predict reddit --system lgnnic-doca-dma", "validate lgnnic"]
)
def test_a_reader_that_leaves_early_hears_nothing(arguments: str) -> None:
    script = f"{sys.executable} -m perfmodel {arguments} | head -c 1 > /dev/null"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("list",), REDDIT, ("--help",)])
def test_a_full_disk_is_a_sentence(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "perfmodel", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "perfmodel: stdout: must be writable, got No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a stream in a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(closed: str) -> None:
    script = f"{sys.executable} -m perfmodel predict reddit --system lgnnic-doca-dma {closed}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_terminal_that_knows_ascii_only(process: Any) -> None:
    for arguments in (("list",), REDDIT, ("validate", "lgnnic"), ("predict", "é💥", "--system", "x")):
        found = process(*arguments, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert found.status in (0, 2)
        assert "Traceback" not in found.err


def test_json_is_all_of_stdout(process: Any) -> None:
    found = process(*REDDIT, "--plan", "fp16")
    assert json.loads(found.out)["warnings"]
    assert found.out.endswith("}\n")


@pytest.mark.parametrize("name", ["graph", "list", "predict", "schema", "validate"])
def test_every_command_helps(name: str) -> None:
    result = click.testing.CliRunner().invoke(commands, [name, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: commands " + name)


def test_explain_runs(process: Any) -> None:
    found = process("explain", "reddit", "--system", "lgnnic-doca-dma", "--format", "json").document
    assert found["schema"] == 1
    for form in ("text", "latex"):
        shown = process("explain", "reddit", "--system", "lgnnic-doca-dma", "--format", form)
        assert shown.status == 0
        assert "transfer" in shown.out
