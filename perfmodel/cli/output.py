"""Writing results: JSON for programs, tables for people; only results go to stdout."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document; numbers that JSON lacks become null."""
    json.dump(_plain(document), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value.item() if hasattr(value, "item") else value


def write_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
    wrapped: Sequence[int] = (),
) -> None:
    """Write a table: drawn where a person is looking, tab-separated where a program or a file is.

    Parameters
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequences of str
    numbers : sequence of int
        Columns that hold numbers, set flush right.
    wrapped : sequence of int
        Columns whose text may take several lines.
    """
    if not sys.stdout.isatty():
        if title:
            print(f"# {title}")
        for row in [header, *rows]:
            print("\t".join(row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    natural = sum(max(map(len, column)) + 2 for column in zip(header, *rows, strict=True))
    gap = 0 if not wrapped and natural > console.width else 1
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
    for position, name in enumerate(header):
        table.add_column(name, justify="right" if position in numbers else "left", no_wrap=position not in wrapped)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    console.print(table)


def write_line(text: str) -> None:
    """Write one line of a result."""
    print(text)


def duration(seconds: float) -> str:
    """Return a time as people say it: seconds up to two hours, then hours, days and years.

    Examples
    --------
    >>> duration(0.3333), duration(14400), duration(8.64e6)
    ('333.3 ms', '4 h', '100 d')
    """
    from perfmodel.units import render

    for unit, size, least in (("years", 31557600.0, 2.0), ("d", 86400.0, 2.0), ("h", 3600.0, 2.0)):
        if least * size <= seconds < 1e6 * 31557600.0:
            return f"{seconds / size:.4g} {unit}"
    return render(seconds, "s")


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Draw how far something has come and how long the rest takes, on stderr and only where that is a terminal.

    Gives a callable of (done, total). The bar is drawn when that is called and at no other time: what runs in between may
    be measured.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    left = (TimeRemainingColumn(), TextColumn("left"))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *left)
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total, refresh=True)


def warn(text: str) -> None:
    """Write one warning to stderr."""
    print(f"perfmodel: warning: {text}", file=sys.stderr)
