"""A real PostgreSQL server for tests: its own folder, a free port, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

_BINARIES = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))


class NoServer(Exception):
    """There are no binaries of PostgreSQL, or it does not start."""


class Server:
    """A running server."""

    def __init__(self, folder: pathlib.Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Return whether it has been started and not stopped."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = ["-D", str(self.folder / "data"), "-p", str(self.port), "-k", str(self.folder), "-h", "127.0.0.1"]
        command = [str(_program("postgres")), *options, "-c", "fsync=off"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(_as_user(command), stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 60
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                answer = subprocess.run(
                    [str(_program("pg_isready")), "-h", "127.0.0.1", "-p", str(self.port)], capture_output=True
                )
                if answer.returncode == 0:
                    return
            time.sleep(0.05)
        raise NoServer((self.folder / "log").read_text(errors="replace")[-2000:])

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        if self._process is not None and self.is_running:
            pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGQUIT)  # immediate shutdown, as after a power cut
            self._process.wait(30)


def _program(name: str) -> pathlib.Path:
    found = shutil.which(name)
    folders = [pathlib.Path(found).resolve().parent] if found else []
    for folder in (*reversed(_BINARIES), *folders):
        if (folder / name).exists() and (folder / "postgres").exists():
            return folder / name
    raise NoServer(f"no {name} of PostgreSQL: install Debian's package postgresql")


def _as_user(command: list[str]) -> list[str]:
    """Return a command as another user where we are root, whom PostgreSQL refuses."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server on a free port and stop it at the end.

    Raises
    ------
    NoServer
    """
    initdb = _program("initdb")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
        done = subprocess.run(
            _as_user([str(initdb), "-D", str(folder / "data"), "-U", "postgres", "--auth=trust", "--no-sync"]),
            capture_output=True, cwd=folder, text=True,
        )  # fmt: skip
        if done.returncode:
            raise NoServer(done.stderr)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        server = Server(folder, port)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    except KeyError:
        raise NoServer("no user postgres to run the server as") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
