"""Compiled phases: vectorized numpy source, written from the formulas once and cached by a hash of the model's files.

Loading the cached source needs no sympy, which takes about two seconds to import.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import perfmodel

_PACKAGE = pathlib.Path(perfmodel.__file__).parent


@dataclasses.dataclass(frozen=True)
class CompiledPhase:
    """A phase as a function of arrays.

    Attributes
    ----------
    name, result, source : str
        As in the phase.
    arguments : tuple of str
        Names of the function's arguments, in order.
    function : callable
        ``function(*arrays) -> array`` [unit of the result].
    domain : tuple of (arguments, callable, str)
        The phase's limits of validity as functions giving true where they hold, with what it means where they don't.
    """

    name: str
    result: str
    source: str
    arguments: tuple[str, ...]
    function: Callable[..., Any]
    domain: tuple[tuple[tuple[str, ...], Callable[..., Any], str], ...]


@functools.cache
def model_hash() -> str:
    """Return the hash of all files that formulas and their compilation depend on."""
    digest = hashlib.sha256(f"{perfmodel.__version__} {sys.version_info[:2]}".encode())
    files = [path for folder in ("symbols", "phases", "model") for path in _PACKAGE.joinpath(folder).rglob("*.py")]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def compiled() -> Mapping[str, CompiledPhase]:
    """Return every phase as a numpy function, from the cache where the model's files haven't changed."""
    path = cache_folder() / f"model-{model_hash()[:32]}.py"
    try:
        return _load(path.read_text(encoding="utf-8"), str(path))
    except Exception:  # not there yet, or broken: either way it is written again
        from perfmodel.model.source import numpy_source

        source = numpy_source()
        _store(path, source)
        return _load(source, str(path))


def cache_folder() -> pathlib.Path:
    """Return the folder of compiled models: ``PERFMODEL_CACHE``, or the user's cache folder."""
    given = os.environ.get("PERFMODEL_CACHE")
    if given:
        return pathlib.Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "perfmodel"


def _store(path: pathlib.Path, source: str) -> None:
    """Write the source so that a reader never sees half of it; without a writable cache, go on without one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
            file.write(source)
        os.replace(file.name, path)
    except OSError:
        return


def _load(source: str, filename: str) -> Mapping[str, CompiledPhase]:
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    return {
        name: CompiledPhase(name, result, origin, arguments, function, domain)
        for name, (result, origin, arguments, function, domain) in namespace["PHASES"].items()
    }
