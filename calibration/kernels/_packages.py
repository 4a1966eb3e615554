"""Packages that some kernels need and most machines lack: asked for when a kernel runs, never before."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any


def load(*names: str) -> list[Any]:
    """Import modules, some of which warn while they load or choose a default for the whole home folder.

    Raises
    ------
    ImportError, OSError
        A package that isn't installed, or was built against another version of torch.
    """
    # without a choice DGL writes one to the home folder
    os.environ.setdefault("DGLBACKEND", "pytorch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [importlib.import_module(name) for name in names]


def missing(*names: str) -> str:
    """Return a sentence about the first of the packages that can't be loaded, empty where all can.

    Examples
    --------
    >>> missing("json"), missing("json", "no_such_package")
    ('', "needs no_such_package: No module named 'no_such_package'")
    """
    for name in names:
        try:
            load(name)
        except Exception as error:  # a package built against another torch may raise anything
            return f"needs {name}: {' '.join(str(error).split()) or type(error).__name__}"
    return ""


@contextlib.contextmanager
def own_temporary_folder() -> Iterator[None]:
    """Let libraries write temporary files that they never delete, and delete them; PyG writes one per kind of layer."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="perfmodel-") as folder:
        tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = before


@contextlib.contextmanager
def one_torch_thread() -> Iterator[Any]:
    """Give torch one thread, and back what it had."""
    (torch,) = load("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield torch
    finally:
        torch.set_num_threads(before)
