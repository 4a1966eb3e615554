"""Edge lists as text: one edge a line, columns parted by whitespace, commas, semicolons or tabs, gzipped or not.

Lines that begin with ``#`` or ``%`` are comments. A header line may name the columns; one that names a relation column
makes a graph of one node type and several relations. Without a header the first two columns are source and target;
further columns (weight, time) are passed over.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.graph.readers._base import ONLY, Chunk, EdgeStream, Reader
from perfmodel.graph.readers._text import (
    WHITESPACE,
    Block,
    Columns,
    Parsed,
    blocks,
    parse_all,
    split_line,
    without_comments,
)

_HEADER_NAMES = """
source: source src from head subject row u node1 source_id src_id from_node_id fromnodeid
target: target dst to tail object col v node2 target_id dst_id to_node_id tonodeid dest destination
relation: relation rel predicate relation_type edge_type rel_type
"""
_SOURCE, _TARGET, _RELATION = (frozenset(line.split(": ")[1].split()) for line in _HEADER_NAMES.strip().splitlines())


def _recognizes(path: Path, head: bytes) -> bool:
    """Tell text of integer pairs, after comments and at most one header; names are believed only by suffix."""
    if b"\0" in head or head.startswith((b"\x93NUMPY", b"PK\x03\x04", b"%%MatrixMarket", b"\x80")):
        return False
    lines = [line for line in without_comments(head).decode(errors="replace").splitlines() if line.strip()]
    fields = [re.split(r"[\s,;]+", line.strip())[:2] for line in lines[:2]]
    return any(len(pair) == 2 and all(field.isdigit() for field in pair) for pair in fields)


def _open(path: Path) -> EdgeStream:
    found = blocks(path)
    lead: list[Block] = []
    for block in found:
        lead.append(block)
        if without_comments(block.data).strip():
            break
    lines = without_comments(lead[-1].data)[: 1 << 16].decode(errors="replace").splitlines() if lead else []
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise SpecError(str(path), "must hold edges", "comments only")
    columns, header, warnings = _layout(lines[:2], path)
    if header:
        lead[-1] = _without_first_line(lead[-1])
    parsed = parse_all(itertools.chain(lead[-1:], found), columns, path)
    return EdgeStream(_chunks(parsed, path), {}, path.stat().st_size, warnings)


def _layout(lines: list[str], path: Path) -> tuple[Columns, bool, list[str]]:
    """Tell the columns, whether the first line is a header, and what had to be assumed."""
    separator = next((mark for mark in ",;\t" if mark in lines[0].strip()), WHITESPACE)
    first = split_line(lines[0], separator)
    names = [field.strip("\"'").casefold() for field in first]
    places = [
        next((place for place, name in enumerate(names) if name in known), None)
        for known in (_SOURCE, _TARGET, _RELATION)
    ]
    if places[0] is not None and places[1] is not None:
        return Columns(separator, places[0], places[1], places[2]), True, []
    plain = Columns(separator, 0, 1)
    if len(lines) > 1:
        second = split_line(lines[1], separator)
        whole = len(second) > 1 and all(field.isdigit() for field in second[:2])
        if whole and not any(_number(field) for field in first[:2]):
            return plain, True, []
    named = len(first) == 3 and not any(_number(field) for field in first)
    assumed = "the first two columns were taken as source and target: a header source,relation,target names relations"
    return plain, False, [f"{path}: {assumed}"] if named else []


def _number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _without_first_line(block: Block) -> Block:
    """Turn the first line that is no comment into one, so that later line numbers stay right."""
    position = 0
    for line in block.data.splitlines(keepends=True):
        if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
            break
        position += len(line)
    return Block(block.data[:position] + b"#" + block.data[position:], block.first_line, block.done_bytes)


def _chunks(parsed: Iterator[Parsed], path: Path) -> Iterator[Chunk]:
    edges = 0
    for part in parsed:
        edges += part.source.size
        if part.relation is None:
            yield Chunk(part.source, part.target, part.done_bytes, ONLY)
            continue
        order = np.argsort(part.relation, kind="stable")
        bounds = np.searchsorted(part.relation[order], np.arange(len(part.names) + 1))
        for code, name in enumerate(part.names):
            rows = order[bounds[code] : bounds[code + 1]]
            yield Chunk(part.source[rows], part.target[rows], part.done_bytes, ("node", name, "node"))
    if not edges:
        raise SpecError(str(path), "must hold edges", "a header only")


READER = Reader(
    name="edge_list",
    suffixes=(".txt", ".csv", ".tsv", ".edges", ".edgelist", ".el", ".ssv"),
    meaning="an edge list as text",
    recognizes=_recognizes,
    open=_open,
)
