"""Maxima and minima decided from what is known of their arguments, without factoring their differences.

Sympy factors the difference of any two arguments of a ``Max`` whose order it doesn't know, each time one is built. Among
the formulas here that never decides anything, and takes most of the time of a first run and of ``explain``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import sympy
from sympy.functions.elementary.miscellaneous import MinMaxBase


def _known(cls: type, first: sympy.Expr, second: sympy.Expr) -> Any:
    """Return True for equals, the function that picks the first, or False where their order is not known."""
    if first == second:
        return True
    try:
        above, below = first >= second, first <= second
    except TypeError:  # not real
        return False
    if not above.is_Relational:
        return sympy.Max if above else sympy.Min
    if not below.is_Relational:
        return sympy.Min if below else sympy.Max
    return False


@contextlib.contextmanager
def quick_comparisons() -> Iterator[None]:
    """Let maxima and minima be built without factoring; also a decorator.

    Examples
    --------
    >>> a = sympy.Symbol("a", nonnegative=True)
    >>> with quick_comparisons():
    ...     sympy.Max(a, 0), sympy.Max(a + 1, 0)
    (a, a + 1)
    """
    usual = MinMaxBase.__dict__.get("_is_connected")
    if usual is None:  # another sympy: slower, nothing else
        yield
        return
    setattr(MinMaxBase, "_is_connected", classmethod(_known))  # noqa: B010
    try:
        yield
    finally:
        setattr(MinMaxBase, "_is_connected", usual)  # noqa: B010
