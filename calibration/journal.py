"""The file that measurements go to as they come, so that an interrupted run loses nothing and can be taken up."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

from calibration.measurements import SCHEMA, Line, split_lines
from perfmodel.errors import SpecError

Tell = Callable[[str], None]

_BEGINNING = b'{"line": "header"'
_SAME = ("schema", "fingerprint", "versions", "settings")  # what two sessions must share for their samples to be mixed
_PARTS = {
    "schema": "another format",
    "fingerprint": "another machine",
    "versions": "other versions of Python, perfmodel or the libraries",
    "settings": "other settings",
}


class Journal:
    """A journal open for appending, locked against other runs.

    Parameters
    ----------
    path : Path
    header : dict
        First line of the journal: what an earlier journal must agree with to be taken up.
    tell : callable
        Where to say that an earlier journal was put aside or taken up.

    Attributes
    ----------
    lines : list of dict
        What the journal holds.

    Raises
    ------
    SpecError
        A path that can't be written, or a journal that another run has open.
    """

    def __init__(self, path: pathlib.Path, header: Line, tell: Tell) -> None:
        self.path = path
        self._file = _opened(path)
        try:
            self.lines, size, why = _earlier(self._file, header)
            if why:
                self._put_aside(why, tell)
            elif self.lines:
                tell(f"{path}: what an earlier run measured is taken up")
            os.ftruncate(self._file, size)
            if not self.lines:
                self.append(header)
        except BaseException:
            self.close()
            raise

    def append(self, line: Line) -> None:
        """Write one line, all of it or nothing.

        Raises
        ------
        SpecError
            A full disk.
        """
        text = json.dumps(line, allow_nan=False).encode() + b"\n"
        begin = os.lseek(self._file, 0, os.SEEK_END)
        try:
            left = memoryview(text)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, begin)
                if not begin:
                    self.path.unlink()
            raise SpecError(str(self.path), "needs room to write what is measured", error.strerror) from error
        self.lines.append(line)

    def close(self) -> None:
        """Close the file, which also unlocks it."""
        os.close(self._file)

    def _put_aside(self, why: str, tell: Tell) -> None:
        """Give an earlier journal another name and start a new file under its own."""
        aside = next(
            name
            for number in range(1, 10**6)
            if not (name := self.path.with_name(f"{self.path.name}.{number}")).exists()
        )
        self.path.rename(aside)
        tell(f"{self.path}: {why}; kept as {aside.name}, and measuring starts afresh")
        os.close(self._file)
        self._file = _opened(self.path)
        self.lines = []


def header(environment: dict[str, Any], fingerprint: str, settings: dict[str, Any], started: str) -> Line:
    """Return the first line of a journal."""
    return {
        "line": "header",
        "schema": SCHEMA,
        "started": started,
        "fingerprint": fingerprint,
        "versions": environment["versions"],
        "environment": environment,
        "settings": settings,
    }


def _opened(path: pathlib.Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SpecError(str(path), "must be a file that can be written", error.strerror) from error
    try:
        _lock(file)
    except OSError as error:
        os.close(file)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise SpecError(str(path), "must not be in use", "a file that another run is writing") from error
        raise SpecError(str(path), "must be a file that can be locked", error.strerror) from error
    return file


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # no locks of this kind here: two runs at once are the user's to avoid
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _earlier(file: int, header: Line) -> tuple[list[Line], int, str]:
    """Read what a file holds: its lines, the bytes of them to keep, and why they can't be taken up."""
    with os.fdopen(os.dup(file), "rb") as reader:
        raw = reader.read()
    try:
        lines, size = split_lines(raw)
    except ValueError as error:
        return [], 0, f"the file is no journal, {error}"
    if not lines:
        torn = _BEGINNING.startswith(raw[: len(_BEGINNING)])  # nothing at all, or a header that was never finished
        return [], 0, "" if torn else "the file is no journal"
    plain = json.loads(json.dumps(header))
    for part in _SAME:
        if lines[0].get(part) != plain[part]:
            return [], 0, f"the journal is of {_PARTS[part]}"
    if lines[-1]["line"] == "end":
        return [], 0, "the journal is complete"
    return lines, size, ""
