"""``perfmodel evaluate``: a CSV of jobs, its results, bad rows by their lines, and a sentence for each bad file."""

from __future__ import annotations

import csv
import hashlib
import pathlib
from typing import Any

import pytest

import perfmodel as pm

GOOD = """workload,system,plan.transfer.chunk,plan.precision.features
reddit,lgnnic-doca-dma,1 MiB,fp16
ogbn-products,lgnnic-sockets,,
reddit,lgnnic-doca-dma,4096,
"""
MIXED = """workload,system,plan.transfer.chunk,team
reddit,lgnnic-doca-dma,1 MiB,a
redit,lgnnic-doca-dma,,"two
lines"
reddit,lgnnic-doca-dma,-1,b

reddit,lgnnic-doca-dma,1
reddit,lgnnic-doca-dma,1 KiB,c
"""


@pytest.fixture
def file(tmp_path: pathlib.Path) -> Any:
    def write(text: str | bytes) -> str:
        path = tmp_path / "jobs.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_every_job_is_what_predict_says(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "times.csv"
    document = command("evaluate", file(GOOD), "--json", "--csv", str(out)).document
    assert document["schema"] == 1
    assert document["units"]["phases.sampling"] == "s"
    assert document["bad_rows"] == []
    assert [row["line"] for row in document["rows"]] == [2, 3, 4]
    assert document["inputs"][str(tmp_path / "jobs.csv")] == hashlib.sha256(GOOD.encode()).hexdigest()
    changes = [{"plan.transfer.chunk": "1 MiB", "plan.precision.features": "fp16"}, {}, {"plan.transfer.chunk": 4096}]
    jobs = [("reddit", "lgnnic-doca-dma"), ("ogbn-products", "lgnnic-sockets"), ("reddit", "lgnnic-doca-dma")]
    expected = [pm.predict(pm.load_scenario(*job, changes=change)) for job, change in zip(jobs, changes, strict=True)]
    assert [row["time_s"] for row in document["rows"]] == pytest.approx([one.time_s for one in expected])
    assert [row["bottleneck"] for row in document["rows"]] == [one.bottleneck for one in expected]
    assert document["rows"][1]["energy_j"] is None
    with out.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0])[:5] == ["workload", "system", "plan.transfer.chunk", "plan.precision.features", "time_s"]
    assert {"bytes.total [B]", "phases.transfer [s]", "energy_j", "feasible"} <= set(rows[0])
    assert [float(row["time_s"]) for row in rows] == pytest.approx([one.time_s for one in expected])
    assert [row["plan.transfer.chunk"] for row in rows] == ["1 MiB", "", "4096"]
    assert rows[0]["feasible"] == "True"


def test_bad_rows_are_told_by_their_lines(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    out, path = tmp_path / "times.csv", file(MIXED)
    outcome = command("evaluate", path, "--keep", "team", "--csv", str(out))
    assert outcome.status == 0
    told = [line.removeprefix(f"perfmodel: {path}, ") for line in outcome.err.splitlines()]
    assert [line.partition(":")[0] for line in told] == ["line 4", "line 5", "line 7"]
    assert "nearest valid choice: reddit" in told[0]
    assert "plan.transfer.chunk: must be above 0 B" in told[1]
    assert "must have 4 cells, as the header has, got 3" in told[2]
    assert "2 jobs evaluated, 0 of them infeasible, 3 bad rows left out" in outcome.out
    with out.open(newline="", encoding="utf-8") as lines:
        assert [row["team"] for row in csv.DictReader(lines)] == ["a", "c"]
    document = command("evaluate", path, "--keep", "team", "--json").document
    assert [each["line"] for each in document["bad_rows"]] == [4, 5, 7]
    assert [row["job"]["team"] for row in document["rows"]] == ["a", "c"]


def test_only_the_first_of_many_bad_rows_are_told(command: Any, file: Any) -> None:
    outcome = command("evaluate", file(GOOD + "redit,lgnnic-local,,\n" * 50))
    assert outcome.status == 0
    assert len(outcome.err.splitlines()) == 21
    assert "30 more bad rows" in outcome.err


def test_a_long_table_is_cut_where_people_read(command: Any, file: Any) -> None:
    outcome = command("evaluate", file("workload,system\n" + "reddit,lgnnic-local\n" * 30))
    assert "and 10 more: --csv FILE has them all" in outcome.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must start with a header, got an empty file"),
        ("\n\n", "must start with a header"),
        (b"\xff\xfe\x00", "must be a CSV file in UTF-8"),
        ("workload,system\n", "rows: must be at least one, got none"),
        ("workload\nreddit\n", "column system: must be given"),
        ("workload,system,system\na,b,c\n", "must be there once"),
        ("workload,system,chunk\nreddit,lgnnic-local,1\n", "column 'chunk'"),
        ("workload,system\nredit,lgnnic-local\n", "line 2: workload: must be one of the workloads"),
        ("workload,system\nredit,x\nreddit,x\n", "no row is good; this is the first of 2"),
        ('workload,system\n"' + "x" * 200_000 + '",y\n', "line 2: must be CSV"),
    ],
)
def test_files_without_a_good_row(command: Any, file: Any, text: str | bytes, words: str) -> None:
    assert words in command("evaluate", file(text)).sentence


def test_bad_options(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    assert "no such file" in command("evaluate", str(tmp_path / "none.csv")).sentence
    assert "--csv" in command("evaluate", file(GOOD), "--csv", str(tmp_path / "no" / "where.csv")).sentence
    assert "keep: must be columns" in command("evaluate", file(GOOD), "--keep", "team").sentence
