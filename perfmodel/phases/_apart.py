"""What caches of their own share: how many snapshots of a window come back to each of the devices that take turns."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from perfmodel.phases._base import symbols

(devices, window, pages, capacity) = symbols("devices frame_length file_pages process_pages")
fewer = sympy.floor((window - 1) / devices)
with_more = window - 1 - fewer * devices


def over_devices(hits: Callable[[sympy.Expr], sympy.Expr]) -> sympy.Expr:
    """Return the share of all accesses that hit, where a device to which so many snapshots come back hits so many times.

    Of a window's snapshots all but the newest come back; some devices have one more of them than others.
    """
    return (with_more * hits(fewer + 1) + (devices - with_more) * hits(fewer)) / window
