"""The command line in this process and as a process of its own."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from perfmodel.cli.main import main


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Return the JSON document; all of stdout must be one."""
        assert self.status == 0, self.err
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """Return the one sentence that bad input must leave on stderr, with nothing on stdout."""
        assert self.status == 2, (self.status, self.out, self.err)
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("perfmodel: ")
        assert len(lines[0]) < 900
        return lines[0].removeprefix("perfmodel: ")


Command = Callable[..., Outcome]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return the command line as a function of its arguments, run in this process."""

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return Outcome(stop.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def process(tmp_path: pathlib.Path) -> Command:
    """Return the command line as a process of its own, in an empty folder."""

    def run(*arguments: str, **settings: Any) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "perfmodel", *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=120,
            check=False, **settings,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run
