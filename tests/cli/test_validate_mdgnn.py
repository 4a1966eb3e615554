"""``perfmodel validate mdgnn``: the document, the table for people, and tables of one's own, good and bad."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import pytest

from calibration.published import mdgnn
from calibration.published.mdgnn_table import HEADER as COLUMNS

HEADER = ",".join(COLUMNS)
ROW = "a,end-to-end speedup,m-dgnn,m-base,amazon,16,4,2.7,x,point,nowhere"


def table(folder: pathlib.Path, *rows: str) -> str:
    path = folder / "rows.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_the_document(command: Any) -> None:
    found = command("validate", "mdgnn", "--json").document
    assert (found["schema"], found["suite"]) == (1, "mdgnn")
    assert found["inputs"][mdgnn.TABLE.name] == hashlib.sha256(mdgnn.TABLE.read_bytes()).hexdigest()
    assert {"profiles/mdgnn", "systems/mdgnn-m-dgnn", "workloads/dgnn-ppi"} <= set(found["inputs"])
    assert len(found["rows"]) == 19
    for row in found["rows"]:
        assert {"id", "system", "baseline", "dataset", "layers", "csds", "quantity", "inside_interval"} <= set(row)
        assert row["ape"] == pytest.approx(abs(row["predicted"] / row["measured"] - 1))
    counted = sorted(row["ape"] for row in found["rows"] if not row["properties"])
    assert found["summary"]["n"] == len(counted)
    assert found["summary"]["max_ape"] == counted[-1]
    for conflict in found["conflicts"]:
        assert set(conflict) == {"rows", "least_error", "set_apart"}
        assert conflict["least_error"] > 0.02


def test_people_read_conflicts(command: Any) -> None:
    shown = command("validate", "mdgnn")
    assert shown.status == 0
    assert shown.out.count("conflict: no machine meets") == 3
    assert "neither fitted to nor counted: p2p-speedup-am-l8, p2p-speedup-avg" in shown.out
    assert "6 fitted constants" in shown.out


@pytest.mark.parametrize("bound", ["MEDIAN_BOUND", "LARGEST_BOUND", "ENERGY_BOUND"])
def test_outside_a_bound_is_status_3(command: Any, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(mdgnn, bound, 0.001)
    monkeypatch.setattr(mdgnn, "conflicts", lambda rows: [])
    assert command("validate", "mdgnn").status == 3


def test_rows_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    path = table(
        tmp_path,
        "a,end-to-end speedup,M-DGNN,m-base,Amazon,16,4,2.7,x,,figure",
        "b,throughput over 1 CSD,blad,blad@2,reddit,8,8,4,x,point,figure",
        "c,throughput over 1 CSD,m-dgnn,m-dgnn,amazon,4,2,1.7,x,point,figure",
        "d,end-to-end energy reduction,m-dgnn,blad,,,4,80,%,mean of all,figure",
        "e,rnn share of runtime,esdg,,ppi+ogbn,4+16,2,0.2,x,mean,figure",
        "f,control plane share of runtime,m-base,,flickr,4,4,1,%,upper bound,figure",
        "g,flash I/O share of the GNN phase,dgc,,youtube,1,1,99,%,point,figure",
        "h,end-to-end speedup,m-dgnn,m-p2p,movielens,100,1000,1.0,x,peak,figure",
        ",normalized throughput,dgc,m-base,,5,,0.2,x,mean,figure",
    )
    found = command("validate", "mdgnn", "--table", path, "--json").document
    rows = {row["id"]: row for row in found["rows"]}
    assert set(rows) == {*"abcdefgh", "line 10"}
    assert found["conflicts"] == []
    assert 2.5 < rows["a"]["predicted"] < 3.0
    assert rows["b"]["predicted"] == pytest.approx(4.0, rel=0.01)
    assert 1.5 < rows["c"]["predicted"] < 2.0
    assert 0.7 < rows["d"]["predicted"] < 0.9
    assert 0.1 < rows["e"]["predicted"] < 0.3
    assert rows["f"]["predicted"] == 0.0
    assert rows["g"]["predicted"] > 0.9
    assert rows["h"]["predicted"] == pytest.approx(1.0, abs=0.01)
    assert found["summary"]["n"] == 8


def test_a_mean_is_over_what_its_row_names(command: Any, tmp_path: pathlib.Path) -> None:
    rows = [
        f"{name},end-to-end speedup,m-p2p,m-base,{name},{depth},4,2,x,point,"
        for name, depth in (("reddit", 4), ("amazon", 8))
    ]
    both = [
        "mean,end-to-end speedup,m-p2p,m-base,reddit+amazon,4..8,4,2,x,mean,",
        "most,end-to-end speedup,m-p2p,m-base,reddit+amazon,4..8,4,2,x,peak,",
        "rd8,end-to-end speedup,m-p2p,m-base,reddit,8,4,2,x,point,",
        "am4,end-to-end speedup,m-p2p,m-base,amazon,4,4,2,x,point,",
    ]
    found = command("validate", "mdgnn", "--table", table(tmp_path, *rows, *both), "--json").document
    predicted = {row["id"]: row["predicted"] for row in found["rows"]}
    single = [predicted[name] for name in ("reddit", "amazon", "rd8", "am4")]
    assert predicted["mean"] == pytest.approx(sum(single) / 4)
    assert predicted["most"] == pytest.approx(max(single))


def test_negative_reductions_and_impossible_rows_are_still_an_answer(command: Any, tmp_path: pathlib.Path) -> None:
    path = table(
        tmp_path,
        "a,end-to-end energy reduction,blad,m-base,,,4,20,%,mean,",
        "b,RNN share of runtime,m-base,,amazon,4,4,150,%,point,",
    )
    found = command("validate", "mdgnn", "--table", path, "--json").document
    assert found["rows"][0]["predicted"] < -1
    assert [conflict["rows"] for conflict in found["conflicts"]] == [["b"]]
    assert found["summary"]["n"] == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"\xff\xfe\x00", "binary data"),
        (HEADER.encode(), "at least one row"),
        (b"a,b\n1,2\n", "header"),
        (f"{HEADER},more\n{ROW},1\n".encode(), "header"),
        (f"{HEADER}\na,b,c\n".encode(), "line 2: must have 11 columns"),
        (f"{HEADER}\n{ROW}\n{ROW}\n".encode(), "must have each id once"),
        (f"{HEADER}\n{ROW.replace('2.7', 'much')}\n".encode(), "must have a number as value"),
        (f"{HEADER}\n{ROW.replace('2.7', '-1')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace('2.7', 'nan')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace('2.7', '1e999')}\n".encode(), "above 0"),
        (f"{HEADER}\n{ROW.replace(',x,', ',furlong,')}\n".encode(), "must be one of x, %"),
        (f"{HEADER}\n{ROW.replace('amazon', 'amazonas')}\n".encode(), "nearest valid choice: amazon"),
        (f"{HEADER}\n{ROW.replace('m-dgnn', 'm-dgn')}\n".encode(), "nearest valid choice: m-dgnn"),
        (f"{HEADER}\n{ROW.replace('m-base', '')}\n".encode(), "must be one of"),
        (f"{HEADER}\n{ROW.replace('speedup', 'sadness')}\n".encode(), "must be one of end-to-end speedup"),
        (f"{HEADER}\n{ROW.replace('point', 'guess')}\n".encode(), "must be one of peak, mean, point, upper bound"),
        (f"{HEADER}\n{ROW.replace(',16,', ',0,')}\n".encode(), "layers must be a whole number"),
        (f"{HEADER}\n{ROW.replace(',16,', ',4..,')}\n".encode(), "layers must be a whole number"),
        (f"{HEADER}\n{ROW.replace(',4,2.7', ',four,2.7')}\n".encode(), "csds must be a whole number"),
        (f"{HEADER}\n{ROW.replace('m-base', 'm-base@x')}\n".encode(), "csds must be a whole number"),
        (f"{HEADER}\na,RNN share of runtime,m-base,blad,amazon,4,4,1,x,point,\n".encode(), "must have no baseline"),
        (f'{HEADER}\n"{ROW}\n'.encode(), "line 2"),
        (f"{HEADER}\n{'x' * 200_000}\n".encode(), "line 2"),
    ],
)
def test_bad_tables(command: Any, tmp_path: pathlib.Path, content: bytes, words: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert words in command("validate", "mdgnn", "--table", str(path)).sentence


def test_a_missing_table(command: Any, tmp_path: pathlib.Path) -> None:
    assert "rows.csv" in command("validate", "mdgnn", "--table", str(tmp_path / "rows.csv")).sentence


def test_a_profile_of_ones_own(command: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ncovariance = [[0.0]]\n[[parameters]]\nentry = "devices/mdgnn-host"\nfields = ["stack.passes"]\n'
        'value = 1.0\nunit = ""\ninterval = [1.0, 1.0]\nbounds = [1.0, 16.0]\nmeaning = "one message at a time"\n',
        encoding="utf-8",
    )
    shown = command("validate", "mdgnn", "--profile", str(path), "--json")
    assert shown.status == 3
    assert '"predicted"' in shown.out


def test_against_takes_the_system_of_two_entries_with_one_name(command: Any) -> None:
    found = command("predict", "dgnn-amazon", "--system", "mdgnn-m-dgnn", "--against", "mdgnn-blad", "--json").document
    assert found["against"]["name"] == "dgnn-amazon on mdgnn-blad under mdgnn-blad"
    assert found["against"]["speedup"] == pytest.approx(6.2, rel=0.05)
