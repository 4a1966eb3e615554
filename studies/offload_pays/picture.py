"""Draws curves over a logarithmic axis as SVG, without a plotting library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
COLORS: Final = ("#0072b2", "#d55e00", "#009e73")  # told apart by most eyes
RATES: Final = (1e7, 1e8, 1e9, 1e10)
FACTORS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def lines(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], today: float) -> str:
    """Return an SVG of speedups over link rates.

    Parameters
    ----------
    curves : mapping of name to (rates, speedups)
        Rates [B/s].
    today : float
        Rate to mark [B/s].

    Returns
    -------
    str
    """
    parts = [
        _text(WIDTH / 2, 20, "Speedup of sampling on the SmartNIC over shipping the frontier (fp16, DMA)", "middle")
    ]
    for rate in RATES:
        parts += [
            _line(_x(rate), TOP, _x(rate), HEIGHT - BOTTOM),
            _text(_x(rate), HEIGHT - BOTTOM + 18, _rate(rate), "middle"),
        ]
    for factor in FACTORS:
        parts += [
            _line(LEFT, _y(factor), WIDTH - RIGHT, _y(factor), "#444444" if factor == 1.0 else "#dddddd"),
            _text(LEFT - 8, _y(factor) + 4, f"{factor:g}", "end"),
        ]
    parts.append(_line(_x(today), TOP, _x(today), HEIGHT - BOTTOM, "#444444", "4 4"))
    parts.append(_text(_x(today) + 4, TOP + 12, "today", "start"))
    parts.append(_text(WIDTH / 2, HEIGHT - 12, "rate of a 1 MiB chunk with its acknowledgement", "middle"))
    for number, (name, (rates, speedups)) in enumerate(curves.items()):
        color = COLORS[number % len(COLORS)]
        points = " ".join(
            f"{_x(rate):.1f},{_y(speedup):.1f}"
            for rate, speedup in zip(rates, speedups, strict=True)
            if RATES[0] <= rate <= 1.6 * RATES[-1]
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts.append(_text(LEFT + 12, HEIGHT - BOTTOM - 12 - 18 * number, name, "start", color))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _x(rate: float) -> float:
    low, high = np.log10(RATES[0]), np.log10(1.6 * RATES[-1])
    return float(LEFT + (np.log10(rate) - low) / (high - low) * (WIDTH - LEFT - RIGHT))


def _y(factor: float) -> float:
    low, high = np.log10(FACTORS[0]), np.log10(FACTORS[-1])
    return float(HEIGHT - BOTTOM - (np.log10(factor) - low) / (high - low) * (HEIGHT - TOP - BOTTOM))


def _rate(rate: float) -> str:
    return f"{rate / 1e9:g} GB/s" if rate >= 1e9 else f"{rate / 1e6:g} MB/s"


def _line(x1: float, y1: float, x2: float, y2: float, color: str = "#dddddd", dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dashed}/>'


def _text(x: float, y: float, text: str, anchor: str, color: str = "#222222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{text}</text>'
