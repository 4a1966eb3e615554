"""``perfmodel validate buddy``: the document, the table for people, and tables of one's own, good and bad."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import pytest

from calibration.published import buddy

HEADER = ",".join(buddy.HEADER)


def table(folder: pathlib.Path, *rows: str) -> str:
    path = folder / "rows.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_the_document(command: Any) -> None:
    found = command("validate", "buddy", "--json").document
    assert found["schema"] == 1
    assert found["suite"] == "buddy"
    assert found["conflicts"] == []
    assert found["fitted_parameters"] == 5
    assert found["inputs"][buddy.TABLE.name] == hashlib.sha256(buddy.TABLE.read_bytes()).hexdigest()
    assert {"profiles/buddy", "systems/buddy-dpu", "workloads/sssp"} <= set(found["inputs"])
    for row in found["rows"]:
        assert {"id", "application", "scenario", "quantity", "measured", "predicted", "ape", "inside_interval"} <= set(
            row
        )
        assert row["ape"] == pytest.approx(abs(row["predicted"] / row["measured"] - 1))
    counted = [row["ape"] for row in found["rows"] if "input" not in row["properties"]]
    assert found["summary"]["n"] == len(counted) == 6
    assert found["summary"]["max_ape"] == max(counted) <= 0.15
    assert len(found["directions"]) == 5


def test_people_read_directions_and_what_was_fitted(command: Any) -> None:
    shown = command("validate", "buddy")
    assert shown.status == 0
    assert "direction on the DPU: sssp" in shown.out
    assert "5 fitted constants" in shown.out
    assert "left to test" in shown.out


def test_outside_the_bound_is_status_3(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buddy, "BOUND", 0.01)
    assert command("validate", "buddy").status == 3


def test_a_direction_that_is_missed_is_status_3(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buddy, "DIRECTIONS", {"sssp": True})
    shown = command("validate", "buddy")
    assert shown.status == 3
    assert "MISSED" in shown.out


def test_rows_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    path = table(
        tmp_path,
        "a,speedup of DPU offload over no offload,sssp,dpu,0.9,x,point,figure 4",
        "b,speedup of x86 offload over no offload,sssp,x86,1.1,x,point,figure 4",
        "c,network utilization,quicksilver,none,2,%,point,figure 4",
        "d,average transfer size,histogram,dpu,8,kB,point,8 nodes",
        "e,routing threads at the peak,histogram,dpu,8,threads,point,figure 7",
        "f,gain of tuning the number of buffers,histogram,dpu,12,x,peak,figure 7",
        "g,memory-to-communication ratio,sssp,,0.56,ratio,point,text",
        "h,nodes scaled to,histogram and quicksilver,dpu,8,nodes,range,figure 8",
        "i,speedup over no offload,,dpu,1.5,x,peak over applications,figure 4",
    )
    found = command("validate", "buddy", "--table", path, "--json").document
    rows = {row["id"]: row for row in found["rows"]}
    assert set(rows) == set("abcdefgi")
    assert found["settings"] == ["h"]
    assert rows["a"]["predicted"] < 1 < rows["b"]["predicted"]
    assert 0.01 < rows["c"]["predicted"] < 0.05
    assert rows["c"]["measured"] == 0.02
    assert rows["d"]["predicted"] == pytest.approx(8192)
    assert rows["e"]["predicted"] in (7, 8)
    assert rows["i"]["predicted"] == pytest.approx(1.55, rel=0.02)
    assert found["summary"]["n"] == 7


def test_rows_far_off_are_still_an_answer(command: Any, tmp_path: pathlib.Path) -> None:
    path = table(tmp_path, "a,speedup over no offload,sssp,dpu,900,x,point,nowhere")
    found = command("validate", "buddy", "--table", path, "--json").document
    assert found["rows"][0]["ape"] > 0.99
    assert found["summary"]["coverage_90"] == 0.0


ROW = "a,speedup over no offload,sssp,dpu,1.5,x,point,figure 4"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"\xff\xfe\x00", "binary data"),
        (HEADER.encode(), "at least one row"),
        (b"a,b\n1,2\n", "header"),
        (f"{HEADER},more\n{ROW},1\n".encode(), "header"),
        (f"{HEADER}\na,b,c\n".encode(), "line 2: must have 8 columns"),
        (f"{HEADER}\n{ROW.replace('1.5', 'much')}\n".encode(), "must have a value that is a number"),
        (f"{HEADER}\n{ROW.replace('1.5', '-1')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace('1.5', 'nan')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace('1.5', '1e999')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace(',x,', ',furlong,')}\n".encode(), "unit"),
        (f"{HEADER}\n{ROW.replace('sssp', 'sspp')}\n".encode(), "nearest valid choice: sssp"),
        (f"{HEADER}\n{ROW.replace('dpu', 'gpu')}\n".encode(), "scenarios"),
        (f"{HEADER}\n{ROW.replace('speedup', 'sadness')}\n".encode(), "quantities"),
        (f'{HEADER}\n"{ROW}\n'.encode(), "line 2"),
        (f"{HEADER}\n{'x' * 200_000}\n".encode(), "line 2"),
    ],
)
def test_bad_tables(command: Any, tmp_path: pathlib.Path, content: bytes, words: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert words in command("validate", "buddy", "--table", str(path)).sentence


def test_a_profile_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ncovariance = [[0.0]]\n[[parameters]]\nentry = "devices/xeon-gold"\n'
        'fields = ["routing.work_bandwidth"]\n'
        'value = 2e9\nunit = "B/s"\ninterval = [2e9, 2e9]\nbounds = [1e8, 1e12]\nmeaning = "slower memory work"\n',
        encoding="utf-8",
    )
    rows = command("validate", "buddy", "--profile", str(path), "--json")
    assert rows.status == 3
    assert '"predicted"' in rows.out


def test_agents_are_refused_where_there_are_none(command: Any) -> None:
    sentence = command("predict", "sssp", "--system", "buddy-none", "--set", "plan.placement.routing=agent").sentence
    assert "without an agent" in sentence
    sentence = command(
        "predict", "sssp", "--system", "buddy-dpu", "--set", "plan.placement.routing=everywhere"
    ).sentence
    assert "must be one of application, agent" in sentence


def test_a_message_larger_than_a_buffer_is_infeasible(command: Any) -> None:
    found = command(
        "predict", "sssp", "--system", "buddy-dpu", "--set", "workload.message_size=9000 B/message", "--json"
    ).document
    assert found["feasible"] is False
    assert found["violations"][0]["rule"] == "buffer_size"


def test_against_no_offload(command: Any) -> None:
    found = command(
        "predict", "sparse-transpose", "--system", "buddy-dpu", "--against", "buddy-none", "--json"
    ).document
    low, high = found["against"]["speedup_interval"]
    assert low < found["against"]["speedup"] < high
    assert found["against"]["speedup"] == pytest.approx(1.55, rel=0.02)


def test_explain_gives_the_break_even_ratio(command: Any) -> None:
    for system, value in (("buddy-dpu", True), ("buddy-x86", True), ("buddy-none", True)):
        chapter = command("explain", "sssp", "--system", system, "--format", "json").document["break_even"]
        assert (chapter["value"] is not None) == value
        assert chapter["formula"]
    shown = command("explain", "sssp", "--system", "buddy-dpu").out
    assert "BREAK-EVEN RATIO" in shown
    assert "memory_work_time_at_ratio_1" in shown
