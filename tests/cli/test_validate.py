"""``perfmodel validate``: rows, summaries, files of one's own, exit statuses."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from calibration.published import lgnnic

HEADER = "dataset,mechanism,fanout,precision,transfer_s,execution_s"
SUMMARY = {"n", "median_ape", "mean_ape", "max_ape", "coverage_90"}


def table(folder: pathlib.Path, *rows: str, header: str = HEADER) -> str:
    path = folder / "rows.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_the_shipped_table(command: Any) -> None:
    found = command("validate", "lgnnic", "--json").document
    assert set(found) >= {
        "schema",
        "perfmodel",
        "inputs",
        "rows",
        "summary",
        "by_quantity",
        "fitted_parameters",
        "conflicts",
    }
    assert len(found["rows"]) == 72
    for row in found["rows"]:
        assert set(row) >= {
            "dataset", "mechanism", "fanout", "precision", "quantity", "measured", "predicted", "ape", "inside_interval"
        }  # fmt: skip
        assert row["ape"] == pytest.approx(abs(row["predicted"] / row["measured"] - 1), rel=1e-12)
    assert set(found["summary"]) == SUMMARY
    assert set(found["by_quantity"]) == {"transfer", "execution"}
    assert all(set(part) == SUMMARY for part in found["by_quantity"].values())
    assert found["summary"]["n"] == 72
    assert found["conflicts"] == []


def test_rows_that_are_not_shipped(command: Any, tmp_path: pathlib.Path) -> None:
    path = table(
        tmp_path,
        "reddit,doca-dma,10 5,fp16,0.1,0.3",
        "ogbn-products,sockets,25 10,fp32,5,6",
        "ogbn-mag,sockets,25 10,fp32,5,6",
        "ogbn-arxiv,doca-dma,15 10 5,int8,0.05,0.2",
    )
    found = command("validate", "lgnnic", "--table", path, "--json").document
    assert len(found["rows"]) == 8
    assert all(0 < row["predicted"] < 1e4 for row in found["rows"])
    assert [bool(row["properties"]) for row in found["rows"]] == [False] * 5 + [True] + [False] * 2
    assert "rows.csv" in found["inputs"]


def test_rows_far_off_are_still_an_answer(command: Any, tmp_path: pathlib.Path) -> None:
    found = command(
        "validate", "lgnnic", "--table", table(tmp_path, "reddit,sockets,25 10,fp32,1,1"), "--json"
    ).document
    assert found["summary"]["median_ape"] > 10
    assert found["summary"]["coverage_90"] == 0.0


def test_outside_the_bounds_is_status_3(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lgnnic, "_within_bounds", lambda *_: False)
    shown = command("validate", "lgnnic")
    assert shown.status == 3
    assert "fitted constants" in shown.out


def test_people_get_a_table(command: Any) -> None:
    shown = command("validate", "lgnnic")
    assert shown.status == 0
    assert "transfer-counted-twice" in shown.out
    assert "15 fitted constants" in shown.out
    assert "not fitted: sampling of reddit -1 -1" in shown.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"\xff\xfe\x00", "binary data"),
        (HEADER.encode(), "at least one row"),
        (b"a,b,c\n1,2,3\n", "header"),
        ((HEADER.replace("transfer_s", "transfer_ms") + "\n").encode(), "header"),
        ((HEADER + ",more\n").encode(), "header"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,1\n").encode(), "line 2: must have 6 columns"),
        ((HEADER + "\nredit,sockets,25 10,fp32,1,2\n").encode(), "nearest valid choice: reddit"),
        ((HEADER + "\nreddit,socket,25 10,fp32,1,2\n").encode(), "nearest valid choice: sockets"),
        ((HEADER + "\nreddit,sockets,25 10,fp64,1,2\n").encode(), "line 2"),
        ((HEADER + "\nreddit,sockets,25 x,fp32,1,2\n").encode(), "fanout"),
        ((HEADER + "\nreddit,sockets,,fp32,1,2\n").encode(), "fanout"),
        ((HEADER + "\nreddit,sockets,0,fp32,1,2\n").encode(), "fanout"),
        ((HEADER + "\nreddit,sockets,5 5 5 5 5 5,fp32,1,2\n").encode(), "hops"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,-1,2\n").encode(), "above 0 s"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,0,2\n").encode(), "above 0 s"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,nan,2\n").encode(), "above 0 s"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,inf,2\n").encode(), "above 0 s"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,1e999,2\n").encode(), "above 0 s"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,soon,2\n").encode(), "times in seconds"),
        ((HEADER + "\nreddit,sockets,25 10,fp32,,2\n").encode(), "times in seconds"),
        ((HEADER + "\n\nreddit,sockets,25 10,fp32,1,2\nreddit,sockets,25 10,fp32,1,-2\n").encode(), "line 4"),
        ((HEADER + '\nreddit,sockets,"25 10,fp32,1,2\n').encode(), "line 2"),
        ((HEADER + "\n" + "x" * 200_000 + "\n").encode(), "line 2"),
    ],
)
def test_bad_tables(command: Any, tmp_path: pathlib.Path, content: bytes, words: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    sentence = command("validate", "lgnnic", "--table", str(path)).sentence
    assert words in sentence
    assert "rows.csv" in sentence or "workload" in sentence


@pytest.mark.parametrize("path", ["no-such.csv", ".", ""])
def test_tables_that_are_not_there(command: Any, path: str) -> None:
    assert "must be a file" in command("validate", "lgnnic", "--table", path).sentence


def test_a_byte_order_mark_and_spaces_are_no_error(command: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(
        b"\xef\xbb\xbf" + HEADER.replace(",", ", ").encode() + b"\r\nreddit, doca-dma, 25 10, fp32, 0.34, 0.66\r\n"
    )
    assert command("validate", "lgnnic", "--table", str(path), "--json").document["summary"]["n"] == 2


@pytest.mark.parametrize("suite", ["lgnic", "", "LGNNIC "])
def test_unknown_suites(command: Any, suite: str) -> None:
    assert "nearest valid choice" in command("validate", suite).sentence
