"""``perfmodel search``: the document, the tables, the files, and what it says where it can't answer."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

SPACE = """
constraints = ["memory.gpu <= 40 GB"]
[parameters]
"plan.placement.sampling" = ["memory-node", "compute-node"]
"plan.fetch" = { values = ["neighborhood", "frontier"], when = { "plan.placement.sampling" = "compute-node" } }
"plan.transfer.window" = [1, 4, 16]
"plan.transfer.chunk" = { low = "4 KiB", high = "4 MiB", factor = 4 }
"""
SEARCH = ("search", "ogbn-products", "--system", "lgnnic-doca-dma")
ROUTING = ("search", "histogram", "--system", "buddy-dpu")


@pytest.fixture
def space(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "space.toml"
    path.write_text(SPACE)
    return str(path)


def test_the_document(command: Any, space: str) -> None:
    found = command(*SEARCH, "--space", space, "--json").document
    for key in ("schema", "perfmodel", "inputs", "best", "pareto", "evaluated", "feasible", "infeasible_by_rule", "optimum",
                "gap", "seconds", "evaluations_per_s", "importance", "study"):  # fmt: skip
        assert key in found
    assert found["optimum"] == {"value": found["best"]["objectives"]["time"], "points": found["evaluated"]}
    assert (found["gap"], found["method"], found["study"]) == (0.0, "exhaustive", None)
    assert found["infeasible_by_rule"]["transfer.chunk"] > 0
    assert found["best"]["time_s"] == found["best"]["objectives"]["time"]
    assert set(found["importance"]) == set(found["best"]["parameters"]) | {"plan.fetch"}
    explanation = found["explanation"]
    assert explanation["comparisons"]
    assert explanation["switch_points"]
    assert all(len(digest) == 64 for digest in found["inputs"].values())


def test_both_families_print_and_write_a_plan(command: Any, tmp_path: pathlib.Path, space: str) -> None:
    for arguments in ((*SEARCH, "--space", space), ROUTING):
        out, table = tmp_path / "plan.toml", tmp_path / "plans.csv"
        done = command(*arguments, "--out", str(out), "--csv", str(table))
        assert done.status == 0
        time_text = re.search(r": time ([^\n]+)", done.out)[1]  # type: ignore[index]
        assert "proof: enumerated; gap 0.00%" in done.out
        assert "where another placement becomes best" in done.out
        again = command("predict", arguments[1], *arguments[2:4], "--plan", str(out))
        assert f": {time_text} per " in again.out
        rows = list(csv.DictReader(table.read_text().splitlines()))
        assert rows[0]["feasible"] == "True"
        assert float(rows[0]["time"]) == min(float(row["time"]) for row in rows if row["feasible"] == "True")


def test_optuna_s_study_in_a_journal(command: Any, tmp_path: pathlib.Path, space: str) -> None:
    given = (*SEARCH, "--space", space, "--storage", str(tmp_path / "s.journal"), "--study", "night", "--no-explain")
    first = command(*given, "--trials", "20", "--json").document
    second = command(*given, "--trials", "20", "--json").document
    assert first["study"] == {"name": "night", "storage": str(tmp_path / "s.journal"), "trials": first["study"]["trials"],
                              "sampler": "tpe", "seed": 0}  # fmt: skip
    assert second["evaluated"] == 40 > first["evaluated"]
    assert "study night in" in command(*given, "--trials", "5").out


def test_several_objectives_give_a_front(command: Any, space: str) -> None:
    done = command(*SEARCH, "--space", space, "--objective", "time,memory.memory_node")
    assert "Pareto front" in done.out
    assert "hypervolume" in done.out
    assert "Pareto front" in command(*SEARCH, "--space", space, "--objective", "time", "--objective", "bytes.total").out


def test_nothing_feasible_is_status_3(command: Any, space: str) -> None:
    done = command(*SEARCH, "--space", space, "--constraint", "time <= 1 ms", "--json")
    assert done.status == 3
    assert re.search(
        r"no feasible plan among 54; .* comes closest, passed [\d.]+-fold: .* where the limit is", done.err
    )
    found = json.loads(done.out)
    assert found["best"] is None
    assert found["closest"]["rule"] == "time <= 1 ms"
    assert found["closest"]["excess"] == pytest.approx(found["closest"]["need"] / 1e-3)


def test_a_quantile_says_whether_it_changes_the_choice(command: Any, space: str) -> None:
    assert "at the 90% quantile" in command(*SEARCH, "--space", space, "--robust", "0.9", "--no-explain").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--objective", "tiem"), "nearest valid choice: time"),
        (("--constraint", "time < "), "must compare"),
        (("--method", "exhaustiv"), "nearest valid choice: exhaustive"),
        (("--trials", "many"), "whole number"),
        (("--timeout", "5 GB"), "must be in s"),
        (("--timeout", "-1"), "above 0"),
        (("--seed", "1.5"), "whole number"),
        (("--robust", "ninety"), "must be a number"),
        (("--sampler", "tpee", "--method", "optuna"), "nearest valid choice: tpe"),
        (("--space", "nowhere.toml"), "no such file"),
        (("--storage", "mongodb://x/y"), "URL of a database"),
        (("--study", "x"), "needs a storage"),
        (("--against", "no-offlaod"), "nearest valid choice: no-offload"),
        (("--out", "/nowhere/plan.toml"), "directory that exists"),
        (("--csv", ""), "path of a file"),
        (("--set", "plan.transfer.chunk=5 parsec"), "plan.transfer.chunk"),
    ],
)
def test_bad_input_is_a_sentence(command: Any, arguments: tuple[str, ...], words: str) -> None:
    assert words in command(*SEARCH, *arguments).sentence


def test_ctrl_c_gives_the_best_so_far(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(
        SPACE.replace("factor = 4", 'count = 20000, scale = "log"').replace("[1, 4, 16]", "[1, 2, 3, 4, 5]")
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "perfmodel", *SEARCH, "--space", str(path), "--method", "optuna", "--trials", "900000",
         "--storage", str(tmp_path / "s.journal"), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ},
    )  # fmt: skip
    end = time.monotonic() + 60
    journal = tmp_path / "s.journal"
    while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b'"state":1') > 40):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    found = json.loads(out)
    assert found["best"] is not None
    assert found["ended"] == "interrupted"
