"""``perfmodel calibrate --from``: from a file of measurements to a law, its parameters, and predictions."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibration.laws._base import all_laws
from perfmodel.cli.main import main

SIZES = 4096.0 * np.arange(1, 26)
HEADER = "transfer_bytes [B],time [s]"


def line_through(fixed: float = 20e-6, per_byte: float = 1e-9, noise: float = 0.02, repeats: int = 1) -> list[str]:
    sizes = np.repeat(SIZES, repeats)
    times = (fixed + per_byte * sizes) * (1 + noise * np.random.default_rng(0).standard_normal(sizes.size))
    return [f"{size:.0f},{time!r}" for size, time in zip(sizes, map(float, times), strict=True)]


@pytest.fixture
def file(tmp_path: pathlib.Path) -> Callable[..., str]:
    """Return a writer of files of measurements."""

    def write(rows: list[str] | None = None, header: str = HEADER, name: str = "transfers.csv") -> str:
        path = tmp_path / name
        path.write_text("\n".join([header, *(line_through() if rows is None else rows)]) + "\n", encoding="utf-8")
        return str(path)

    return write


def test_a_law_is_chosen_and_predicts(command: Any, file: Any) -> None:
    path = file()
    found = command("calibrate", "--from", path, "--law", "auto", "--at", "1 MiB,8e5", "--json").document
    assert found["schema"] == 1
    assert found["inputs"] == {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}
    assert found["law"] == "affine"
    assert found["formula"] == "time = fixed + per_unit * transfer_bytes"
    fixed, per_unit = found["parameters"]["fixed"], found["parameters"]["per_unit"]
    assert (fixed["unit"], per_unit["unit"]) == ("s", "s/B")
    assert fixed["value"] == pytest.approx(20e-6, rel=0.05)
    assert per_unit["value"] == pytest.approx(1e-9, rel=0.03)
    for own in (fixed, per_unit):
        low, high = own["interval"]
        assert low < own["value"] < high
    assert 0.005 < found["cross_validation_error"] < 0.03
    assert {one["law"] for one in found["candidates"]} == set(all_laws())
    (chosen,) = [one for one in found["candidates"] if one["chosen"]]
    assert chosen["law"] == "affine"
    assert chosen["cross_validation_error"] == found["cross_validation_error"]
    assert all(one["applies"] == (one["why_not"] is None) for one in found["candidates"])
    assert [one["transfer_bytes"] for one in found["predictions"]] == [2.0**20, 8e5]
    for one in found["predictions"]:
        assert one["value"] == pytest.approx(20e-6 + 1e-9 * one["transfer_bytes"], rel=0.03)
        assert one["interval"][0] < one["value"] < one["interval"][1]
    assert (found["rows"], found["points"], found["missing"], found["noise"]) == (25, 25, [], None)


def test_a_given_law_is_fitted_without_candidates(command: Any, file: Any) -> None:
    found = command("calibrate", "--from", file(), "--law", "power", "--json").document
    assert found["law"] == "power"
    assert "candidates" not in found
    assert "predictions" not in found
    assert found["parameters"]["exponent"]["unit"] == "1"


def test_other_units_give_the_same_parameters(command: Any, file: Any) -> None:
    here = command("calibrate", "--from", file(), "--json").document["parameters"]
    rows = [
        f"{float(size) / 1024!r},{float(time) * 1e6!r}" for size, time in (row.split(",") for row in line_through())
    ]
    other = file(rows, "size [KiB],time [us]", "other.csv")
    there = command("calibrate", "--from", other, "--at", "64,64 KiB,65536 B", "--json").document
    for name, own in here.items():
        assert there["parameters"][name]["value"] == pytest.approx(own["value"], rel=1e-6)
        assert there["parameters"][name]["unit"] == own["unit"]
    first, *others = there["predictions"]
    assert first["size"] == 65536.0
    assert others == [first, first]


def test_repeated_rows_give_the_noise_and_missing_ones_are_reported(command: Any, file: Any) -> None:
    rows = line_through(repeats=4)
    rows[3:3] = ["4096,", "NA,1", "nan,NaN", "", "# a remark"]
    outcome = command("calibrate", "--from", file(rows), "--law", "affine", "--json")
    found = outcome.document
    assert (found["rows"], found["points"]) == (100, 25)
    assert [one["line"] for one in found["missing"]] == [5, 6, 7]
    assert [one["column"] for one in found["missing"]] == ["time", "transfer_bytes", "transfer_bytes"]
    assert found["noise"] == pytest.approx(0.02, rel=0.25)
    assert found["lack_of_fit"]["p_value"] > 0.01
    assert outcome.err == "perfmodel: warning: 3 rows without a value left out (lines 5, 6, 7)\n"


def test_a_law_that_noise_rules_out_is_warned_of(command: Any, file: Any) -> None:
    outcome = command("calibrate", "--from", file(line_through(repeats=4)), "--law", "power", "--json")
    assert outcome.document["lack_of_fit"]["p_value"] < 0.01
    assert "by more than their noise explains" in outcome.err


def test_an_outlier_is_named(command: Any, file: Any) -> None:
    rows = line_through()
    rows[7] = f"{SIZES[7]:.0f},1"
    outcome = command("calibrate", "--from", file(rows), "--law", "affine", "--json")
    assert outcome.document["outliers"] == [9]
    assert "line 9" in outcome.err
    assert outcome.document["parameters"]["per_unit"]["value"] == pytest.approx(1e-9, rel=0.03)


def test_predictions_outside_the_range_are_warned_of(command: Any, file: Any) -> None:
    outcome = command("calibrate", "--from", file(), "--law", "affine", "--at", "8192,1e9", "--json")
    assert outcome.err == "perfmodel: warning: outside the measured range: transfer_bytes = 1e+09\n"


def products(command: Any, file: Any, *arguments: str) -> Any:
    random = np.random.default_rng(1)
    rows = [
        f"{n},{f},{(1e-3 + 1e-7 * n * f) * (1 + 0.02 * random.standard_normal())!r}"
        for n in range(1000, 6000, 1000)
        for f in (32, 64, 128, 256, 512)
    ]
    return command("calibrate", "--from", file(rows, "rows [node],width [B],time [s]"), *arguments)


def test_two_inputs(command: Any, file: Any) -> None:
    found = products(command, file, "--at", "rows=1e4;width=1 KiB,width=64;rows=1 node", "--json").document
    assert found["law"] == "product"
    assert found["parameters"]["per_element"]["unit"] == "s/B/node"
    first, second = found["predictions"]
    assert (first["rows"], first["width"], second["rows"], second["width"]) == (1e4, 1024.0, 1.0, 64.0)
    assert first["value"] == pytest.approx(1e-3 + 1e-7 * 1e4 * 1024, rel=0.05)


def test_throughputs_have_laws_of_their_own(command: Any, file: Any) -> None:
    depths = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128])
    rates = ((depths * 12e3) ** -2.0 + 4e5**-2.0) ** -0.5 * (1 + 0.01 * np.random.default_rng(2).standard_normal(14))
    rows = [f"{depth},{float(rate)!r}" for depth, rate in zip(depths, rates, strict=True)]
    found = command("calibrate", "--from", file(rows, "depth [],rate [1/s]"), "--json").document
    assert found["law"] == "closed_loop_throughput"
    assert found["parameters"]["limit"]["value"] == pytest.approx(4e5, rel=0.05)
    assert found["parameters"]["limit"]["unit"] == "1/s"


def test_the_table_for_people(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "fit.toml"
    outcome = command("calibrate", "--from", file(), "--at", "64 KiB", "--out", str(out))
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("affine: a fixed cost")
    assert lines[1] == "time = fixed + per_unit * transfer_bytes"
    for part in ("parameter\tvalue\t90% interval", "# laws", "# predictions", "64 KiB\t", "# predicted over measured"):
        assert part in outcome.out
    view = [line for line in lines if "|" in line or line.rstrip().endswith("*")]
    assert len(view) >= 25
    assert lines[-1] == f"fit written to {out}"


def test_the_fit_as_toml(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    out, path = tmp_path / "fit.toml", file()
    found = command("calibrate", "--from", path, "--out", str(out), "--json").document
    table = tomllib.loads(out.read_text(encoding="utf-8"))
    assert (table["law"], table["formula"]) == (found["law"], found["formula"])
    assert table["parameters"] == found["parameters"]
    assert table["inputs"] == found["inputs"]
    assert set(table["versions"]) == {"python", "numpy", "scipy"}


def test_windows_files_are_read(command: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("\ufeff" + "\r\n".join(['"size" [B], "time [s]"'.replace('"', ""), *line_through()])).encode())
    assert command("calibrate", "--from", str(path), "--law", "affine", "--json").document["rows"] == 25


GOOD = line_through()


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        ("", [], "an empty file"),
        (HEADER, [], "must hold rows of measurements, got a header alone"),
        (HEADER, ["1,NA"], "1 rows, none complete"),
        ("# nothing", [], "comments alone"),
        ("size,time", GOOD, "must be a name with its unit in brackets, got 'size'; nearest valid choice: size [B]"),
        ("[B],time [s]", GOOD, "a name with its unit"),
        ("size [B],time s]", GOOD, "a name with its unit"),
        ("size [B]", GOOD, "must name an input and a measured column"),
        ("size [B];time [s]", GOOD, "separated by commas"),
        ("size [BB],time [s]", GOOD, "column size: must have a unit of the unit table ([1] for none), got [BB]"),
        ("size [B],time [sec]", GOOD, "column time: must have a unit of the unit table"),
        ("x [B],x [s]", GOOD, "each column must have a name of its own, got 'x' twice"),
        (HEADER, [*GOOD[:3], "abc,1", *GOOD[3:]], "line 5, column transfer_bytes: must be a number [B], got 'abc'"),
        (HEADER, [*GOOD, "1,2,3"], "line 27: must have 2 cells, as the header has, got 3"),
        (HEADER, [*GOOD, "7"], "line 27: must have 2 cells"),
        (HEADER, [*GOOD, "7,inf"], "line 27, column time: must be finite"),
        (HEADER, [*GOOD, "7,1e999"], "line 27, column time: must be"),
        (HEADER, [*GOOD, "7,5 B"], "line 27, column time: must be a number [s]"),
        (HEADER, [*GOOD, "7,0"], "line 27, column time: must be above 0"),
        (HEADER, [*GOOD, "7,-1"], "line 27, column time: must be above 0"),
        (HEADER, [*GOOD, "-7,1"], "line 27, column transfer_bytes: must be at least 0"),
        (HEADER, GOOD[:2], "affine has 2 parameters and needs 3 different points, not 2"),
        (HEADER, ["5,1", "5,2", "5,3"], "needs different values of transfer_bytes, and all are 5"),
        ("a [1],b [1],c [1],y [s]", ["1,2,3,4"] * 5, "not 3"),
        (HEADER, ['"5,1'], "line 2"),
    ],
)  # fmt: skip
def test_bad_files(command: Any, file: Any, header: str, rows: list[str], words: str) -> None:
    assert words in command("calibrate", "--from", file(rows, header)).sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--law", "afine"], "nearest valid choice: affine"),
        (["--law", ""], "--law: must be auto or a law"),
        (["--law", "AUTO"], "nearest valid choice: auto"),
        (["--law", "product"], "--law product: must apply to"),
        (["--law", "closed_loop"], "takes a count, and transfer_bytes is in [B]"),
        (["--law", "hockney_bandwidth"], "is of rates, and time is in [s]"),
        (["--at", "x=5"], "--at: must name the input of"),
        (["--at", "abc"], "--at, transfer_bytes: must be a number in B"),
        (["--at", "5 s"], "--at, transfer_bytes: must be a number in B"),
        (["--at", ""], "--at, transfer_bytes: must be a number in B"),
        (["--at", "4096,"], "--at, transfer_bytes: must be a number in B"),
        (["--at", "nan"], "--at, transfer_bytes: must be"),
        (["--at", "inf"], "must be finite and at least 0"),
        (["--at", "-5"], "must be finite and at least 0"),
        (["--at", "0", "--law", "power"], "--at, transfer_bytes: must be above 0 for power"),
        (["--at", "transfer_bytes=1;transfer_bytes=2"], "must name each input once"),
        (["--at", "transfer_bytes=1;5"], "must be pairs of transfer_bytes and their values"),
        (["--quick"], "--quick: measures this machine"),
        (["--only", "gather"], "--only: measures this machine"),
        (["--out", ""], "--out: must be the path of a file"),
    ],
)
def test_bad_arguments(command: Any, file: Any, arguments: list[str], words: str) -> None:
    assert words in command("calibrate", "--from", file(), *arguments).sentence


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("5", "must be pairs of rows, width and their values"),
        ("rows=5", "without width"),
        ("rows=5;wdith=6", "must name the inputs of"),
        ("rows=5,width=6", "without width"),
        ("rows=5;width=6 s", "--at, width: must be a number in B"),
    ],
)
def test_bad_pairs(command: Any, file: Any, at: str, words: str) -> None:
    assert words in products(command, file, "--at", at).sentence


@pytest.mark.parametrize("option", ["--law", "--at"])
def test_without_a_file_there_is_nothing_to_fit(command: Any, option: str) -> None:
    assert "--from FILE.csv" in command("calibrate", option, "5").sentence


def test_files_that_are_none(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    file()
    near = command("calibrate", "--from", str(tmp_path / "transfer.csv")).sentence
    assert near.endswith("transfers.csv")
    assert "nothing at this path" in near
    assert "a directory" in command("calibrate", "--from", str(tmp_path)).sentence
    assert "must be the path" in command("calibrate", "--from", "").sentence
    assert "a pipe or device" in command("calibrate", "--from", os.devnull).sentence
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)))
    assert "binary data" in command("calibrate", "--from", str(binary)).sentence
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"size [B],time [s]\n1,2\n2,\xff\n")
    assert "line 3: must be UTF-8 text" in command("calibrate", "--from", str(latin)).sentence


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(command: Any, tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "good.csv").write_text("\n".join([HEADER, *GOOD]), encoding="utf-8")
    out = ("--out", str(tmp_path / "pipe.csv"))
    assert "must be a file, got a pipe" in command("calibrate", "--from", str(tmp_path / "good.csv"), *out).sentence
    assert "a pipe or device" in command("calibrate", "--from", str(tmp_path / "pipe.csv")).sentence


def test_a_large_file_is_fitted_whole_and_a_huge_one_refused(command: Any, file: Any) -> None:
    found = command("calibrate", "--from", file(line_through(repeats=120)), "--law", "affine", "--json").document
    assert found["rows"] == 3000
    low, high = found["parameters"]["per_unit"]["interval"]
    assert high < 1.01 * low
    assert found["parameters"]["per_unit"]["value"] == pytest.approx(1e-9, rel=3e-3)
    assert (
        "20001 rows; nearest valid choice: 20000 rows"
        in command("calibrate", "--from", file(["1,2"] * 20_001), "--law", "affine").sentence
    )


def test_out_is_checked_before_anything_is_fitted(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    path = file()
    assert (
        "must lie in a directory that exists"
        in command("calibrate", "--from", path, "--out", str(tmp_path / "no" / "fit.toml")).sentence
    )
    assert "a directory" in command("calibrate", "--from", path, "--out", str(tmp_path)).sentence
    assert "must not be the measurements" in command("calibrate", "--from", path, "--out", path).sentence
    assert pathlib.Path(path).read_text(encoding="utf-8").startswith(HEADER)


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: f"{HEADER}\n{text}".encode()))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_end_in_a_sentence(tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    with pytest.raises(SystemExit) as stop:
        main(["calibrate", "--from", str(path), "--law", "affine", "--json"])
    assert stop.value.code in (0, 2)
