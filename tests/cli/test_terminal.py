"""What people see in a terminal of 100 columns: nothing cut, nothing wider."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")


def seen(*arguments: str) -> list[str]:
    """Return the lines that a command draws in a terminal of 100 columns."""
    main, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "perfmodel", *arguments], stdout=other, stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    os.close(other)
    content = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        content += piece
    os.close(main)
    assert running.wait(timeout=60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", content.decode("utf-8"))
    return [line.rstrip() for line in text.replace("\r", "").split("\n")]


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "reddit", "--system", "lgnnic-doca-dma"),
        ("predict", "ogbn-products", "--system", "bluefield-3-roce", "--against", "no-offload"),
        ("validate", "lgnnic"),
        ("list", "systems"),
        ("list", "devices"),
        ("list", "graphs"),
    ],
)
def test_it_fits(arguments: tuple[str, ...]) -> None:
    lines = seen(*arguments)
    assert max(map(len, lines)) <= 100
    if arguments[0] != "list":
        assert not any("…" in line for line in lines)


def test_the_table_of_a_prediction() -> None:
    lines = seen("predict", "reddit", "--system", "lgnnic-doca-dma")
    (row,) = [line.split() for line in lines if line.split()[:1] == ["transfer"]]
    assert row[-2:] == ["link", "calibrated"]
    assert row[-3].endswith("%")


def test_the_mini_batch_of_a_graph(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("0 1\n1 2\n2 0\n", encoding="utf-8")
    lines = seen("graph", str(path))
    assert any(line.startswith("3 nodes, 3 edges") or "3 nodes, 3 edges" in line for line in lines)
