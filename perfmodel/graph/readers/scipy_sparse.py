"""SciPy sparse matrices saved by ``scipy.sparse.save_npz``: entry (i, j) is an edge from node i to node j.

The compressed index is streamed; only the row or column pointer is held. A matrix that is not square has two node
types, ``row`` and ``column``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.readers._base import CHUNK_EDGES, ONLY, Chunk, EdgeStream, Ids, Reader, integer_ids
from perfmodel.graph.readers._npy import Arrays

_MEMBERS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
_LOADED = ("bsr", "dia")  # small by nature: loaded as a whole


def _recognizes(path: Path, head: bytes) -> bool:
    if not head.startswith(b"PK\x03\x04"):
        return False
    with Arrays(path) as arrays:
        return "format" in arrays.headers


def _open(path: Path) -> EdgeStream:
    with Arrays(path) as arrays:
        layout = _layout(arrays)
        missing = [name for name in (*_MEMBERS.get(layout, ()), "shape") if name not in arrays.headers]
        if missing:
            raise SpecError(str(path), f"a {layout} matrix must hold {' and '.join(missing)}", list(arrays.headers))
        entries = arrays.headers[_MEMBERS[layout][0]].size if layout in _MEMBERS else 0
        shape = integer_ids(arrays.whole("shape"), f"{path}: shape").tolist()
    if len(shape) != 2:
        raise SpecError(str(path), "must be a matrix", f"shape {tuple(shape)}")
    square = shape[0] == shape[1]
    counts = {"node": shape[0]} if square else {"row": shape[0], "column": shape[1]}
    return EdgeStream(_chunks(path, layout, shape, square), counts, path.stat().st_size, least_edges=entries)


def _layout(arrays: Arrays) -> str:
    raw = arrays.whole("format")
    text = "".join(word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in raw.tolist())
    if text not in _MEMBERS and text not in _LOADED:
        raise SpecError(str(arrays.path), f"must be one of {', '.join([*_MEMBERS, *_LOADED])}", text, "csr")
    return text


def _chunks(path: Path, layout: str, shape: list[int], square: bool) -> Iterator[Chunk]:
    total, done = path.stat().st_size, 0
    relation = ONLY if square else ("row", "edge", "column")
    with Arrays(path) as arrays:
        entries = arrays.headers[_MEMBERS[layout][0]].size if layout in _MEMBERS else 1
        for row, column in _entries(arrays, layout, shape):
            done += row.size
            reached = min(total, total * done // max(entries, 1))
            yield Chunk(integer_ids(row, str(path)), integer_ids(column, str(path)), reached, relation)


def _entries(arrays: Arrays, layout: str, shape: list[int]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    if layout == "coo":
        if arrays.headers["row"].size != arrays.headers["col"].size:
            raise SpecError(str(arrays.path), "row and col must have one length", "two lengths")
        streams = [arrays.pieces(name, 0, arrays.headers[name].size, CHUNK_EDGES) for name in ("row", "col")]
        yield from zip(*streams, strict=True)
    elif layout in _MEMBERS:
        majors = shape[0] if layout == "csr" else shape[1]
        for major, minor in _compressed(arrays, majors):
            yield (major, minor) if layout == "csr" else (minor, major)
    else:
        import scipy.sparse

        try:
            matrix = scipy.sparse.coo_array(scipy.sparse.load_npz(arrays.path))
        except (ValueError, OSError, KeyError) as error:
            raise SpecError(str(arrays.path), f"must be a {layout} matrix", error) from error
        yield matrix.row, matrix.col


def _compressed(arrays: Arrays, majors: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    pointer: Ids = arrays.whole("indptr").astype(np.int64, copy=False)
    entries = arrays.headers["indices"].size
    falls = pointer.size != majors + 1 or pointer[0] != 0 or pointer[-1] != entries or (np.diff(pointer) < 0).any()
    if falls:
        rule = f"indptr must rise from 0 to {entries} in {majors} steps"
        raise SpecError(str(arrays.path), rule, f"{pointer.size} values, the last {pointer[-1:]}")
    first = 0
    for minor in arrays.pieces("indices", 0, entries, CHUNK_EDGES):
        last = first + minor.size
        begin = int(np.searchsorted(pointer, first, side="right")) - 1
        end = int(np.searchsorted(pointer, last, side="left"))
        bounds = np.clip(pointer[begin : end + 1], first, last)
        lengths: Ids = bounds[1:] - bounds[:-1]
        yield np.repeat(np.arange(begin, end), lengths), minor
        first = last


READER = Reader(
    name="scipy_sparse",
    suffixes=(".npz",),
    meaning="a SciPy sparse matrix",
    recognizes=_recognizes,
    open=_open,
)
