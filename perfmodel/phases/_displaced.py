r"""What of an outer cache the phases of a mini-batch have displaced by the time one of them comes round again.

A mini-batch that touches ``D`` bytes in all displaces the share ``D / \\max(D, L)`` of a cache of ``L`` bytes: nearly
nothing where it is small, all where it is larger than the cache. What is displaced comes from memory once more: code and
interpreter (a phase's restart), tables and buffers.
"""

import sympy

from perfmodel.phases._base import symbol


def displaced(outer_cache: str = "outer_cache") -> sympy.Expr:
    """Return the share of the outer cache that is displaced between two mini-batches."""
    touched = symbol("touched_bytes")
    return touched / sympy.Max(touched, symbol(outer_cache))
