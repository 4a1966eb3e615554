"""NumPy edge indices: a 2 x E or E x 2 array in .npy or .npz, or two vectors of one length in .npz.

Read in pieces rather than mapped: pages of a mapped file count as resident memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.readers._base import CHUNK_EDGES, Chunk, EdgeStream, Reader, integer_ids
from perfmodel.graph.readers._npy import Arrays

_PAIRS = (("source", "target"), ("src", "dst"), ("row", "col"), ("head", "tail"), ("u", "v"))
_PREFERRED = ("edge_index", "edges", "edge_list", "arr_0")


def _recognizes(path: Path, head: bytes) -> bool:
    if head.startswith(b"\x93NUMPY"):
        return True
    if not head.startswith(b"PK\x03\x04"):
        return False
    with Arrays(path) as arrays:
        return bool(arrays.headers) and "format" not in arrays.headers


def _open(path: Path) -> EdgeStream:
    with Arrays(path) as arrays:
        pair = next((pair for pair in _PAIRS if set(pair) <= set(arrays.headers)), None)
        chosen = pair or (_edge_index(arrays),)
        for name in chosen:
            _check(arrays, name, 1 if pair else 2)
        if pair and arrays.headers[pair[0]].shape != arrays.headers[pair[1]].shape:
            shapes = [arrays.headers[name].shape for name in pair]
            raise SpecError(str(path), f"{pair[0]} and {pair[1]} must have one length", shapes)
        edges = arrays.headers[chosen[0]].size // (1 if pair else 2)
    return EdgeStream(_chunks(path, chosen), {}, path.stat().st_size, least_edges=edges)


def _edge_index(arrays: Arrays) -> str:
    two = [name for name, header in arrays.headers.items() if len(header.shape) == 2 and 2 in header.shape]
    named = [name for name in _PREFERRED if name in arrays.headers]
    if named or len(two) == 1:
        return (named or two)[0]
    if list(arrays.headers) == [""]:
        return ""
    rule = "must hold one edge index: edge_index, or source and target"
    raise SpecError(str(arrays.path), rule, f"arrays {', '.join(arrays.headers) or 'none'}", "edge_index")


def _check(arrays: Arrays, name: str, dimensions: int) -> None:
    header = arrays.headers[name]
    where = f"{arrays.path}: {name}" if name else str(arrays.path)
    if len(header.shape) != dimensions or (dimensions == 2 and 2 not in header.shape):
        rule = "must have the shape (2, edges) or (edges, 2)" if dimensions == 2 else "must be a vector"
        raise SpecError(where, rule, f"shape {header.shape}")
    if header.size == 0:
        raise SpecError(where, "must hold edges", f"shape {header.shape}")
    if header.dtype.kind not in "iuf":
        raise SpecError(where, "node ids must be integers", f"values of type {header.dtype}")


def _chunks(path: Path, chosen: tuple[str, ...]) -> Iterator[Chunk]:
    with Arrays(path) as arrays:
        header = arrays.headers[chosen[0]]
        total, edges = path.stat().st_size, header.size // 2 if len(chosen) == 1 else header.size
        done = 0
        for source, target in _halves(arrays, chosen):
            done += source.size
            yield Chunk(integer_ids(source, str(path)), integer_ids(target, str(path)), total * done // edges)


def _halves(arrays: Arrays, chosen: tuple[str, ...]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    header = arrays.headers[chosen[0]]
    if len(chosen) == 2:
        streams = [arrays.pieces(name, 0, header.size, CHUNK_EDGES) for name in chosen]
        yield from zip(*streams, strict=True)
    elif (header.shape[0] == 2) != header.fortran:  # all sources, then all targets
        half = header.size // 2
        sources = arrays.pieces(chosen[0], 0, half, CHUNK_EDGES)
        yield from zip(sources, arrays.pieces(chosen[0], half, header.size, CHUNK_EDGES), strict=True)
    else:
        for piece in arrays.pieces(chosen[0], 0, header.size, 2 * CHUNK_EDGES):
            yield np.ascontiguousarray(piece[0::2]), np.ascontiguousarray(piece[1::2])


READER = Reader(
    name="numpy_edges",
    suffixes=(".npy", ".npz"),
    meaning="a NumPy edge index",
    recognizes=_recognizes,
    open=_open,
)
