"""Files that processes share and that are gone with the last of them, even where they are killed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def nameless(folder: str) -> Iterator[tuple[IO[bytes], str]]:
    """Open a new file, and give a path by which other processes open it while this one has it open.

    On Linux the file has no name of its own: the path leads through this process. Elsewhere it has one until the context is
    left.
    """
    if os.path.exists(f"/proc/{os.getpid()}/fd"):
        with tempfile.TemporaryFile(dir=folder) as file:
            yield file, f"/proc/{os.getpid()}/fd/{file.fileno()}"
        return
    with tempfile.NamedTemporaryFile(prefix="perfmodel-", dir=folder) as named:
        yield named.file, named.name
