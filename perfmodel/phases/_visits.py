"""What visits to pages share: the time of a snapshot's pages where all are there, are read and kept, or read and not."""

from __future__ import annotations

import sympy

from perfmodel.phases._base import symbols

(hits, pages, page) = symbols("hit_share file_pages file_page")


def _visit(kind: str) -> sympy.Expr:
    visit, each, byte = symbols(f"{kind}_visit_time {kind}_page_time {kind}_byte_time")
    return visit + pages * (each + page * byte)


found, read, passed = _visit("held"), _visit("kept"), _visit("unkept")
