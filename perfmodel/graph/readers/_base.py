"""What a reader is, how the readers of this folder are found, and how a file meets its reader."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import perfmodel.graph.readers
from perfmodel.errors import ModelError, SpecError, nearest

Ids = NDArray[np.int64]
RelationKey = tuple[str, str, str]

ONLY: RelationKey = ("node", "edge", "node")
CHUNK_EDGES = 1 << 21
NAMED = 1 << 62  # keys from here on stand for names: a hash of the name, not a number in the file


@dataclasses.dataclass(frozen=True, eq=False)
class Chunk:
    """Some edges of one relation.

    Attributes
    ----------
    source, target : array of shape (edges,)
        Node keys: the ids of the file, or ``NAMED`` plus a hash where a node has a name.
    done_bytes : int
        How far into the file the reader is [byte].
    relation : (source type, name, target type)
    """

    source: Ids
    target: Ids
    done_bytes: int
    relation: RelationKey = ONLY


@dataclasses.dataclass(frozen=True)
class EdgeStream:
    """An opened graph file.

    Attributes
    ----------
    chunks : iterator of Chunk
        To be walked once.
    node_counts : mapping of node type to int
        Number of nodes where the file tells it; ids are then below it.
    total_bytes : int
        Size of the file [byte].
    warnings : list of str
        What the reader had to assume; complete once the chunks have been walked.
    least_edges : int
        There are at least so many edges, as far as the file tells before it is read [edge].
    """

    chunks: Iterator[Chunk]
    node_counts: Mapping[str, int]
    total_bytes: int
    warnings: list[str] = dataclasses.field(default_factory=list)
    least_edges: int = 0


@dataclasses.dataclass(frozen=True)
class Reader:
    """One file format.

    Attributes
    ----------
    name : str
        The format; equals the file's name.
    suffixes : tuple of str
        File name endings, without ``.gz``.
    meaning : str
        What such a file holds, in one line.
    recognizes : callable of (path, first bytes) to bool
        Tells by content; consulted where suffixes leave a choice.
    open : callable of path to EdgeStream
    """

    name: str
    suffixes: tuple[str, ...]
    meaning: str
    recognizes: Callable[[Path, bytes], bool]
    open: Callable[[Path], EdgeStream]


@functools.cache
def all_readers() -> Mapping[str, Reader]:
    """Find every reader of the folder, by name."""
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(perfmodel.graph.readers.__path__):
        if not module.name.startswith("_"):
            reader = importlib.import_module(f"{perfmodel.graph.readers.__name__}.{module.name}").READER
            if reader.name != module.name:
                raise ModelError(f"readers/{module.name}.py holds a reader called {reader.name}")
            found[reader.name] = reader
    return dict(sorted(found.items()))


def open_edges(path: str | Path) -> EdgeStream:
    """Open a graph file with the reader of its format.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    EdgeStream
        Every chunk holds int64 keys of at least 0, below the node count where that is known.

    Raises
    ------
    SpecError
        No such file, an unknown format, or content that breaks the format.
    """
    file = checked_file(path)
    stream = pick_reader(file).open(file)
    return dataclasses.replace(stream, chunks=_checked(str(file), stream))


def checked_file(path: str | Path) -> Path:
    """Return the path of a file that exists and holds something.

    Raises
    ------
    SpecError
        Nothing at this path, a directory, an empty file or one that can't be read.
    """
    file = Path(path)
    where = str(path)
    if file.is_dir():
        raise SpecError(where, "must be a graph file", "a directory")
    if not file.exists():
        beside = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
        near = nearest(file.name, beside) if len(beside) > 12 or not beside else _closest(file.name, beside)
        raise SpecError(where, "must be an existing file", "nothing at this path", near)
    if not file.is_file():
        raise SpecError(where, "must be a regular file", "a pipe or device")
    if file.stat().st_size == 0:
        raise SpecError(where, "must hold a graph", "an empty file")
    return file


def pick_reader(file: Path) -> Reader:
    """Return the reader of a file: by suffix, by content where that leaves none or several."""
    head = first_bytes(file)
    suffix = Path(file.name.removesuffix(".gz")).suffix.lower()
    readers = list(all_readers().values())
    by_suffix = [reader for reader in readers if suffix in reader.suffixes]
    if len(by_suffix) == 1:
        return by_suffix[0]
    for reader in by_suffix or readers:
        if reader.recognizes(file, head):
            return reader
    known = sorted({suffix for reader in readers for suffix in reader.suffixes})
    if by_suffix:
        options = " or ".join(reader.meaning for reader in by_suffix)
        raise SpecError(str(file), f"must hold {options}", "neither, or a damaged file")
    got = "binary data of an unknown format" if b"\0" in head else f"text of an unknown format, suffix '{suffix}'"
    raise SpecError(str(file), f"must be a graph file ({' '.join(known)})", got, None if b"\0" in head else ".txt")


def first_bytes(file: Path, size: int = 4096) -> bytes:
    """Return the first bytes of a file, of its content where it is gzipped."""
    try:
        with open(file, "rb") as raw:
            head = raw.read(size)
        if head[:2] != b"\x1f\x8b":
            return head
        with gzip.open(file) as unpacked:
            return unpacked.read(size)
    except (EOFError, gzip.BadGzipFile, ValueError) as error:
        raise SpecError(str(file), "must be a whole gzip file", error) from error
    except OSError as error:
        raise SpecError(str(file), "must be readable", error.strerror or error) from error


def integer_ids(values: NDArray[np.generic], where: str) -> Ids:
    """Return values as int64 ids.

    Raises
    ------
    SpecError
        NaN, a fraction, an id of 2**63 or more, or a kind of value that is no number.

    Examples
    --------
    >>> integer_ids(np.array([1.0, 2.0]), "edges.npy")
    array([1, 2])
    """
    kind = values.dtype.kind
    if kind == "u" and values.size and int(values.max()) >= 2**63:
        raise SpecError(where, "node ids must be below 2**63", values.max())
    if kind in "iu":
        return values.astype(np.int64, copy=False)
    if kind != "f":
        raise SpecError(where, "node ids must be integers", f"values of type {values.dtype}")
    bad = ~np.isfinite(values) | (np.abs(values) >= 2.0**63) | (np.trunc(values) != values)
    if bad.any():
        raise SpecError(where, "node ids must be integers", f"{values[bad][0]} at edge {int(np.argmax(bad))}")
    return values.astype(np.int64)


def _closest(name: str, beside: list[str]) -> str | None:
    found = nearest(name, beside)
    return found if found in beside else None


def _checked(where: str, stream: EdgeStream) -> Iterator[Chunk]:
    for chunk in stream.chunks:
        for end, ids in ((0, chunk.source), (2, chunk.target)):
            if ids.size and int(ids.min()) < 0:
                raise SpecError(where, "node ids must be at least 0", int(ids.min()), "0")
            limit = stream.node_counts.get(chunk.relation[end])
            if limit is not None and ids.size and int(ids.max()) >= limit:
                rule = f"node ids of {chunk.relation[end]} must be below the file's node count, {limit}"
                raise SpecError(where, rule, int(ids.max()), str(limit - 1))
        yield chunk
