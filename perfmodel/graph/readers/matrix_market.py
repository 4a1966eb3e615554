"""Matrix Market coordinate files: entry (i, j) is an edge from node i to node j, numbered from 1.

Format: https://math.nist.gov/MatrixMarket/formats.html. A symmetric file holds one triangle; its edges run both ways.
A matrix that is not square has two node types, ``row`` and ``column``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from perfmodel.errors import SpecError, nearest
from perfmodel.graph.readers._base import ONLY, Chunk, EdgeStream, Reader, RelationKey
from perfmodel.graph.readers._text import WHITESPACE, Block, Columns, Parsed, blocks, parse_all

_ROWS_TO_COLUMNS: RelationKey = ("row", "edge", "column")
_BANNER = "%%MatrixMarket matrix coordinate pattern general"
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_FIELDS = ("pattern", "real", "integer", "complex", "double")


def _recognizes(path: Path, head: bytes) -> bool:
    return head.startswith(b"%%MatrixMarket")


def _open(path: Path) -> EdgeStream:
    found = blocks(path)
    first = next(found)
    mirrored = _mirrored(first.data.split(b"\n", 1)[0].decode(errors="replace"), path)
    shape, entries, rest = _sizes(first, path)
    square = shape[0] == shape[1]
    if mirrored and not square:
        raise SpecError(str(path), "a symmetric matrix must be square", f"{shape[0]} x {shape[1]}")
    counts = {"node": shape[0]} if square else {"row": shape[0], "column": shape[1]}
    parsed = parse_all(itertools.chain([rest], found), Columns(WHITESPACE, 0, 1), path, strict=True)
    chunks = _chunks(parsed, path, entries, mirrored, ONLY if square else _ROWS_TO_COLUMNS)
    return EdgeStream(chunks, counts, path.stat().st_size, least_edges=entries)


def _mirrored(banner: str, path: Path) -> bool:
    where = f"{path}, line 1"
    words = banner.casefold().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise SpecError(where, "must be a Matrix Market header", banner.strip(), _BANNER)
    if words[2] != "coordinate":
        raise SpecError(where, "must be a sparse matrix", words[2], "coordinate")
    for word, choices in ((words[3], _FIELDS), (words[4], _SYMMETRIES)):
        if word not in choices:
            raise SpecError(where, f"must be one of {', '.join(choices)}", word, nearest(word, choices))
    return words[4] != "general"


def _sizes(block: Block, path: Path) -> tuple[tuple[int, int], int, Block]:
    """Read the line of sizes; returns shape, number of stored entries, and the lines after it."""
    position = 0
    for number, line in enumerate(block.data.splitlines(keepends=True), start=block.first_line):
        position += len(line)
        if line.lstrip()[:1] in (b"%", b""):
            continue
        sizes = line.split()
        if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
            got = line.decode(errors="replace").strip()
            raise SpecError(f"{path}, line {number}", "must give rows, columns and entries", got, "4 4 6")
        rows, columns, entries = map(int, sizes)
        return (rows, columns), entries, Block(block.data[position:], number + 1, block.done_bytes)
    raise SpecError(str(path), "must give rows, columns and entries", "comments only", "4 4 6")


def _chunks(
    parsed: Iterator[Parsed], path: Path, entries: int, mirrored: bool, relation: RelationKey
) -> Iterator[Chunk]:
    read = 0
    for part in parsed:
        source, target = part.source - 1, part.target - 1
        read += source.size
        if source.size and min(int(source.min()), int(target.min())) < 0:
            raise SpecError(str(path), "rows and columns are numbered from 1", "0", "1")
        if mirrored:
            apart = source != target
            source, target = np.concatenate([source, target[apart]]), np.concatenate([target, source[apart]])
        yield Chunk(source, target, part.done_bytes, relation)
    if read != entries:
        raise SpecError(str(path), f"must hold the {entries} entries that its header gives", f"{read} entries")


READER = Reader(
    name="matrix_market",
    suffixes=(".mtx", ".mm"),
    meaning="a Matrix Market coordinate matrix",
    recognizes=_recognizes,
    open=_open,
)
