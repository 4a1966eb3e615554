"""Importing is free: what a fresh interpreter has loaded after ``import perfmodel``, ``--help`` and a cached prediction."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

import perfmodel

ROOT = pathlib.Path(perfmodel.__file__).parents[1]
HEAVY = ("sympy", "scipy", "pandas", "optuna", "torch", "matplotlib")
#: Run the rest of the arguments as ``python -m perfmodel`` would, then tell which modules were loaded.
COMMAND = """
import json, runpy, sys
sys.argv = ["perfmodel", *sys.argv[1:]]
try:
    runpy.run_module("perfmodel", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
IMPORT = "import perfmodel; perfmodel.__version__; dir(perfmodel)"
PREDICT = "import perfmodel as pm; print(repr(pm.predict(pm.load_scenario('reddit', 'lgnnic-doca-dma')).time_s))"
TELL = "\nimport json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def fresh(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter, with this repository's package on its path."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=120,
        check=True,
    )


def loaded(process: subprocess.CompletedProcess[str]) -> set[str]:
    return {name.partition(".")[0] for name in json.loads(process.stderr.strip().splitlines()[-1])}


def test_import_loads_nothing_but_the_package() -> None:
    found = loaded(fresh(IMPORT + TELL))
    assert "perfmodel" in found
    assert not found & {*HEAVY, "numpy", "pydantic", "click", "rich"}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("predict", "--help")])
def test_help_is_quick(arguments: tuple[str, ...]) -> None:
    process = fresh(COMMAND, *arguments)
    assert process.stdout.strip()
    assert not loaded(process) & {*HEAVY, "numpy", "pydantic"}


def test_the_module_and_the_console_script_are_the_same_program() -> None:
    runs = [
        subprocess.run(
            [sys.executable, *start, "--version"],
            capture_output=True, text=True, check=True, timeout=60, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).stdout
        for start in (["-m", "perfmodel"], ["-c", "from perfmodel.cli.main import main; main()"])
    ]  # fmt: skip
    assert runs[0] == runs[1]
    assert perfmodel.__version__ in runs[0]


def test_a_prediction_needs_sympy_once(tmp_path: pathlib.Path) -> None:
    """The first run writes the compiled source, the second loads it; both give the same number to the last bit."""
    cache = tmp_path / "cache"
    first, second = (fresh(PREDICT + TELL, PERFMODEL_CACHE=str(cache)) for _ in range(2))
    assert "sympy" in loaded(first)
    assert not loaded(second) & {"sympy", "pandas", "optuna", "torch"}
    assert float(first.stdout) == float(second.stdout) > 0
    (compiled,) = cache.iterdir()
    compile(compiled.read_text(encoding="utf-8"), compiled.name, "exec")


def test_a_cache_that_can_not_be_written_is_done_without(tmp_path: pathlib.Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert float(fresh(PREDICT, PERFMODEL_CACHE=str(blocked)).stdout) > 0


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'predikt'"):
        _ = perfmodel.predikt
    assert set(perfmodel.__all__) <= set(dir(perfmodel))
    for name in perfmodel.__all__:
        getattr(perfmodel, name)
