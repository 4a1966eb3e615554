"""Where the trials of a study are kept, as the user names it, and what to do when that place fails."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeVar

from perfmodel.errors import SpecError, shown

T = TypeVar("T")

_PATIENCE: Final = 20.0  # seconds that a storage may be away before a search ends
_LOCKED: Final = 10.0  # seconds until the lock of a journal is taken to be left over
_PASSWORD: Final = re.compile(r"(://[^:/@]*):[^@/]*@")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where trials are kept.

    Attributes
    ----------
    kind : str
        ``memory``, ``journal`` (a file) or ``server`` (a database).
    address : str
        The file's path or the server's URL.
    """

    kind: Literal["memory", "journal", "server"]
    address: str = ""

    @staticmethod
    def of(text: str | os.PathLike[str] | None) -> Place:
        """Return the place that a text names.

        Raises
        ------
        SpecError
            Where it is neither a file nor a database's URL.

        Examples
        --------
        >>> Place.of("postgresql://me:secret@host/studies").address
        'postgresql+psycopg://me:secret@host/studies'
        """
        if text is None:
            return Place("memory")
        text = os.fspath(text)
        if not text.strip() or "\0" in text:
            raise SpecError("--storage", "must be a file or the URL of a database", shown(text), "study.journal")
        scheme, colon, rest = text.partition("://")
        if not colon:
            return Place("journal", text)
        if scheme in ("postgres", "postgresql", "postgresql+psycopg"):
            return Place("server", f"postgresql+psycopg://{rest}")
        if scheme in ("sqlite", "mysql", "postgresql+psycopg2", "mysql+pymysql"):
            return Place("server", text)
        rule = "must be a file or the URL of a database"
        raise SpecError("--storage", rule, shown(str(Place("server", text))), "postgresql://user@host/database")

    def __str__(self) -> str:
        return "memory" if self.kind == "memory" else _PASSWORD.sub(r"\1:***@", self.address)


class StorageGone(SpecError):
    """A storage stopped answering in the middle of a search."""

    def __init__(self, place: Place, name: str, reason: object, plans: int = 0, best: float = float("inf")) -> None:
        self.place, self.name, self.reason = place, name, reason
        best_so_far = f", the best of them at {best:.6g}" if best < float("inf") else ""
        kept = f"{plans} plans were evaluated{best_so_far}; what was told is kept: go on with --study {name}"
        super().__init__(f"--storage {place}", "must go on answering", _first_line(reason))
        self.args = (f"{self.args[0]}; {kept}",)

    def after(self, plans: int, best: float) -> StorageGone:
        """Return the same with what was found until then."""
        return StorageGone(self.place, self.name, self.reason, plans, best)


def _first_line(reason: object) -> str:
    """Return what an error says first, without the passwords of URLs."""
    root = reason
    while isinstance(root, BaseException) and root.__cause__ is not None:
        root = root.__cause__
    text = str(root).strip().split("\n")[0] or type(root).__name__
    return _PASSWORD.sub(r"\1:***@", text)


def wrong_storage(place: Place, reason: object) -> SpecError:
    """Return the error of a storage that can't be opened."""
    what = "a database that answers" if place.kind == "server" else "a journal of studies that can be read and written"
    return SpecError(f"--storage {place}", f"must be {what}", _first_line(reason))


def insist(
    call: Callable[[], T], failures: tuple[type[BaseException], ...], place: Place, name: str, stop: Callable[[], bool]
) -> T:
    """Return what a call to a storage gives, trying again for a while where it fails.

    Raises
    ------
    StorageGone
    """
    pause, end = 0.05, time.monotonic() + _PATIENCE
    while True:
        try:
            return call()
        except failures as error:
            if time.monotonic() > end or stop():
                raise StorageGone(place, name, error) from error
            time.sleep(pause)
            pause = min(2 * pause, 2.0)


def mend_journal(path: pathlib.Path) -> None:
    """Check that a file is a journal, and cut off the half line of a worker that was killed while it wrote.

    Raises
    ------
    SpecError
        Where it is a directory, can't be written, or holds something else.
    """
    place = Place("journal", str(path))
    try:
        if path.is_dir():
            raise SpecError(f"--storage {place}", "must be a file", "a directory", str(path / "study.journal"))
        if not path.parent.is_dir():
            raise SpecError(f"--storage {place}", "must lie in a directory that exists", shown(str(path.parent)))
        if not path.exists():
            return
        with path.open("rb+") as file:
            first = file.readline(65536)
            if first and not _is_entry(first):
                raise SpecError(f"--storage {place}", "must be a journal of studies", "another kind of file")
            file.seek(0, os.SEEK_END)
            if file.tell() and not _ends_line(file):
                with _locked(path):
                    _cut_half_line(file)
    except OSError as error:
        raise wrong_storage(place, error.strerror or error) from None


def _is_entry(line: bytes) -> bool:
    """Return whether a line is an entry of a journal, or the beginning of one."""
    if not line.endswith(b"\n"):
        return line.startswith(b'{"op_code"')
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    return isinstance(entry, dict) and "op_code" in entry


def _ends_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _cut_half_line(file: Any) -> None:
    if _ends_line(file):
        return
    position = file.seek(0, os.SEEK_END)
    while position > 0:
        step = min(4096, position)
        position -= step
        file.seek(position)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            file.truncate(position + found + 1)
            return
    file.truncate(0)


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Hold the lock that writers of a journal take; one that is left over is taken after a while."""
    lock, end = pathlib.Path(f"{path}.lock"), time.monotonic() + _LOCKED
    while True:
        try:
            os.symlink(path, lock)
            break
        except FileExistsError:
            if time.monotonic() > end:
                lock.unlink(missing_ok=True)
            time.sleep(0.01)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
