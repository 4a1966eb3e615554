"""What visits to pages share: the time of a snapshot's pages where all are there, are read and kept, or read and not."""

from __future__ import annotations

import sympy

from perfmodel.phases._base import symbols

(hits, pages, page, length) = symbols("hit_share file_pages file_page frame_length")
(visit, cache, missed_byte) = symbols("page_visit_time far_cache missed_byte_time")
# pages lie where they come from, a cache or the system's, and where they are brought together
missed = sympy.Max(1 - cache / (2 * length * pages * page), 0)


def _visit(kind: str) -> sympy.Expr:
    each, byte = symbols(f"{kind}_page_time {kind}_byte_time")
    return visit + pages * (each + page * (byte + missed * missed_byte))


found, read, passed = _visit("held"), _visit("kept"), _visit("unkept")
