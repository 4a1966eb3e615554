"""Text files in blocks of whole lines, and columns of node ids out of them."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import re
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.graph.readers._base import NAMED, Ids

BLOCK_BYTES = 1 << 24
_LONGEST_LINE = 1 << 26
_COMMENT_LINE = re.compile(rb"^[ \t]*[#%].*(?:\n|\Z)", re.MULTILINE)
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DIGITS = frozenset("-0123456789")
WHITESPACE = r"\s+"
Names = NDArray[np.object_]


@dataclasses.dataclass(frozen=True)
class Block:
    """Whole lines of a file.

    Attributes
    ----------
    data : bytes
    first_line : int
        Number of its first line in the file, from 1.
    done_bytes : int
        How far into the file this block reaches [byte].
    """

    data: bytes
    first_line: int
    done_bytes: int


@dataclasses.dataclass(frozen=True)
class Columns:
    """Which columns hold what, and what parts them: ``WHITESPACE`` or one character."""

    separator: str
    source: int
    target: int
    relation: int | None = None

    @property
    def needed(self) -> int:
        """Return how many columns a line must have."""
        return max(self.source, self.target, -1 if self.relation is None else self.relation) + 1


@dataclasses.dataclass(frozen=True, eq=False)
class Parsed:
    """Keys of one block; ``relation`` holds codes into ``names``."""

    source: Ids
    target: Ids
    done_bytes: int
    relation: NDArray[np.integer[Any]] | None = None
    names: Sequence[str] = ()


def blocks(path: Path) -> Iterator[Block]:
    """Walk a text file, gzipped or not, in blocks of whole lines.

    Raises
    ------
    SpecError
        A broken gzip file, binary data, or a line without end.
    """
    with open(path, "rb") as raw:
        gzipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        unpacked = gzip.GzipFile(fileobj=raw) if gzipped else raw
        rest, line = b"", 1
        while True:
            fresh = _read(unpacked, path)
            if b"\0" in fresh:
                raise SpecError(str(path), "must be text", "binary data")
            cut = fresh.rfind(b"\n") + 1 if fresh else 0
            if fresh and not cut:
                rest += fresh
                if len(rest) > _LONGEST_LINE:
                    raise SpecError(f"{path}, line {line}", "a line must end within 64 MiB", "no end of line")
                continue
            data = rest + fresh[:cut]
            rest = fresh[cut:]
            if data:
                yield Block(data.removeprefix(b"\xef\xbb\xbf") if line == 1 else data, line, raw.tell())
            if not fresh:
                return
            line += data.count(b"\n")


def _read(file: gzip.GzipFile | IO[bytes], path: Path) -> bytes:
    try:
        return file.read(BLOCK_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SpecError(str(path), "must be a whole gzip file", error) from error


def without_comments(data: bytes) -> bytes:
    """Return the lines that don't begin with ``#`` or ``%``."""
    return _COMMENT_LINE.sub(b"", data) if b"#" in data or b"%" in data else data


def parse_all(found: Iterator[Block], columns: Columns, path: Path, strict: bool = False) -> Iterator[Parsed]:
    """Parse blocks in order, on two threads.

    Parameters
    ----------
    found : iterator of Block
    columns : Columns
    path : Path
        Named in errors.
    strict : bool
        Only integers will do; otherwise a node may have a name.

    Raises
    ------
    SpecError
        With the number of the first line at fault.
    """
    with ThreadPoolExecutor(2) as pool:
        waiting: deque[Future[Parsed]] = deque()
        for block in found:
            waiting.append(pool.submit(_parse, block, columns, path, strict))
            if len(waiting) > 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _parse(block: Block, columns: Columns, path: Path, strict: bool) -> Parsed:
    data = without_comments(block.data)
    if not data.strip():
        empty = np.zeros(0, dtype=np.int64)
        codes = None if columns.relation is None else empty
        return Parsed(empty, empty, block.done_bytes, codes)
    ends = [columns.source, columns.target]
    try:
        if columns.relation is not None:
            raise ValueError("relations are names")
        with np.errstate(invalid="ignore"):  # "inf" is refused with a sentence below, not with numpy's warning
            frame = _frame(data, columns, ends, np.int64)
        source, target = (frame[column].to_numpy() for column in ends)
    except (ValueError, OverflowError):
        if strict:
            _explain(block, columns, path, strict)
        return _parse_names(data, block, columns, path)
    if min(int(source.min()), int(target.min())) < 0:
        _explain(block, columns, path, strict)
    return Parsed(source, target, block.done_bytes)


def _frame(data: bytes, columns: Columns, wanted: list[int], dtype: Any) -> Any:
    import pandas

    return pandas.read_csv(
        io.BytesIO(data),
        header=None,
        sep=columns.separator,
        usecols=wanted,
        dtype=dtype,
        na_filter=False,
        low_memory=False,
        skipinitialspace=columns.separator != WHITESPACE,
        quoting=csv.QUOTE_MINIMAL if columns.separator == "," else csv.QUOTE_NONE,
        encoding_errors="replace",
    )


def _parse_names(data: bytes, block: Block, columns: Columns, path: Path) -> Parsed:
    import pandas

    wanted = [column for column in (columns.source, columns.target, columns.relation) if column is not None]
    try:
        frame = _frame(data, columns, wanted, str)
    except ValueError:  # pandas' ParserError is one
        _explain(block, columns, path, strict=False)
    coded = {column: pandas.factorize(frame[column].to_numpy(dtype=object)) for column in wanted}
    keys = []
    for column in (columns.source, columns.target):
        codes, names = coded[column]
        if not _acceptable(names):
            _explain(block, columns, path, strict=False)
        keys.append(_keys(names)[codes])
    if columns.relation is None:
        return Parsed(keys[0], keys[1], block.done_bytes)
    relation, names = coded[columns.relation]
    if "" in names:
        _explain(block, columns, path, strict=False)
    return Parsed(keys[0], keys[1], block.done_bytes, relation, [str(name) for name in names])


def _acceptable(names: Names) -> bool:
    """Tell whether the names of a column are whole numbers or names: nothing missing, negative or fractional."""
    if "" in names or any(name[0] == "-" and _WHOLE_NUMBER.fullmatch(name) for name in names):
        return False
    odd = False
    for name in names:
        if name[0] not in _DIGITS or not _WHOLE_NUMBER.fullmatch(name):
            if not _fraction(name):
                return True
            odd = True
    return not odd


def _fraction(name: str) -> bool:
    if name.isdigit():
        return False
    try:
        float(name)
    except ValueError:
        return False
    return True


def _keys(names: Names) -> Ids:
    """Return a key for every name: whole numbers stand for themselves, others for 62 bits of their hash."""
    import pandas

    hashed = pandas.util.hash_array(names, categorize=False) >> np.uint64(2)
    keys: Ids = (hashed | np.uint64(NAMED)).astype(np.int64)
    for position, name in enumerate(names):
        if name[0] in _DIGITS and _WHOLE_NUMBER.fullmatch(name):
            keys[position] = int(name)
    return keys


def split_line(line: str, separator: str) -> list[str]:
    """Return the fields of one line."""
    if separator == WHITESPACE:
        return line.split()
    if separator == ",":
        return [field.strip() for field in next(csv.reader([line], skipinitialspace=True), [])]
    return [field.strip() for field in line.split(separator)]


def _explain(block: Block, columns: Columns, path: Path, strict: bool) -> NoReturn:
    """Find the first line at fault and raise what is wrong with it."""
    for number, raw in enumerate(block.data.split(b"\n"), start=block.first_line):
        line = raw.decode(errors="replace").strip("\r")
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        where = f"{path}, line {number}"
        fields = split_line(line, columns.separator)
        if len(fields) < columns.needed:
            raise SpecError(where, f"must have at least {columns.needed} columns", f"{len(fields)}: {line.strip()}")
        for field in (fields[columns.source], fields[columns.target]):
            if field == "":
                raise SpecError(where, "must have a node id at both ends", line.strip())
            if field[0] == "-" and _WHOLE_NUMBER.fullmatch(field):
                raise SpecError(where, "node ids must be at least 0", field, "0")
            if (strict and not field.isdigit()) or _fraction(field):
                raise SpecError(where, "node ids must be integers" + ("" if strict else " or names"), field)
        if columns.relation is not None and fields[columns.relation] == "":
            raise SpecError(where, "must name the relation", line.strip())
    raise SpecError(f"{path}, line {block.first_line} on", "must be lines of columns", "text that can't be split")
