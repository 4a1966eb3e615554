"""Draws speedups over the ratio of memory traffic to communication as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
COLORS: Final = ("#0072b2", "#d55e00")  # told apart by most eyes
TICKS: Final = (0.1, 1.0, 10.0, 100.0)
FACTORS: Final = (0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def curves(found: Mapping[str, tuple[Sequence[float], Sequence[float]]], marks: Mapping[str, float]) -> str:
    """Return an SVG of speedups over ratios.

    Parameters
    ----------
    found : mapping of name to (ratios, speedups)
    marks : mapping of name to ratio
        Ratios to mark.
    """
    parts = [_text(WIDTH / 2, 20, "Speedup over routing inline, messages of 30 B", "middle")]
    for ratio in TICKS:
        parts += [
            _line(_x(ratio), TOP, _x(ratio), HEIGHT - BOTTOM),
            _text(_x(ratio), HEIGHT - BOTTOM + 18, f"{ratio:g}", "middle"),
        ]
    for factor in FACTORS:
        color = "#444444" if factor == 1.0 else "#dddddd"
        parts += [
            _line(LEFT, _y(factor), WIDTH - RIGHT, _y(factor), color),
            _text(LEFT - 8, _y(factor) + 4, f"{factor:g}", "end"),
        ]
    for number, (name, ratio) in enumerate(sorted(marks.items(), key=lambda mark: mark[1])):
        parts.append(_line(_x(ratio), TOP, _x(ratio), HEIGHT - BOTTOM, "#888888", "4 4"))
        parts.append(_text(_x(ratio) + 4, TOP + 14 + 14 * number, name, "start" if ratio < 50 else "end"))
    parts.append(_text(WIDTH / 2, HEIGHT - 12, "memory traffic of the application over its communication", "middle"))
    for number, (name, (ratios, speedups)) in enumerate(found.items()):
        points = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in zip(ratios, speedups, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[number]}" stroke-width="2"/>')
        parts.append(_text(WIDTH - RIGHT - 8, HEIGHT - BOTTOM - 30 - 16 * number, name, "end", COLORS[number]))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _x(ratio: float) -> float:
    low, high = np.log10(TICKS[0]), np.log10(TICKS[-1])
    return float(LEFT + (np.log10(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT))


def _y(factor: float) -> float:
    low, high = FACTORS[0], FACTORS[-1]
    return float(HEIGHT - BOTTOM - (factor - low) / (high - low) * (HEIGHT - TOP - BOTTOM))


def _line(x1: float, y1: float, x2: float, y2: float, color: str = "#dddddd", dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dashed}/>'


def _text(x: float, y: float, text: str, anchor: str, color: str = "#222222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{text}</text>'
