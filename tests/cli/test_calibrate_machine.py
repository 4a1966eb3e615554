"""``perfmodel calibrate`` on this machine, and what asks for its profile."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tomllib
from typing import Any

import numpy as np
import pytest

from calibration.machine_fit import assumed, fitted_groups
from calibration.machine_profile import completed, earlier_profile
from calibration.measurements import read_journal
from perfmodel.environment import this_machine
from perfmodel.errors import SpecError
from perfmodel.spec import catalog
from perfmodel.spec._base import build
from perfmodel.spec.profile import Profile

ONLY = ("--only", "quantization", "--only", "edge_indexing", "--quick")
KEYS = {
    "schema", "perfmodel", "inputs", "profile", "seconds", "noise_floor", "disturbed", "groups", "skipped", "failed", "residual",
    "environment", "assumed", "noisy",
}  # fmt: skip


def measured() -> dict[str, Any]:
    """Return the profile that stands for a measured machine in the tests."""
    return catalog.parse_toml(catalog.read_bytes(catalog.path_of("profiles", "this-machine")), "this-machine")


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, Any]:
    """Return the folder and the document of one short calibration."""
    folder = tmp_path_factory.mktemp("calibrated")
    command = [sys.executable, "-m", "perfmodel", "calibrate", *ONLY, "--out", "mine.toml", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_a_calibration_writes_a_profile_that_says_where_it_is_from(calibrated: tuple[pathlib.Path, Any]) -> None:
    folder, document = calibrated
    found = build(Profile, tomllib.loads((folder / "mine.toml").read_text(encoding="utf-8")), "mine.toml")
    assert found.name == "this-machine"
    assert found.made_by["machine"] == this_machine()
    assert found.made_by["command"].startswith("perfmodel calibrate")
    assert set(found.made_by["versions"]) >= {"python", "numpy", "perfmodel"}
    journal = (folder / "mine.samples.jsonl").read_bytes()
    assert found.data["samples"] == hashlib.sha256(journal).hexdigest()
    assert document["inputs"] == {"mine.samples.jsonl": found.data["samples"]}
    assert {parameter.entry for parameter in found.parameters if parameter.fitted} == {"devices/this-machine"}
    for parameter in found.parameters:
        assert parameter.meaning
        assert parameter.fitted or parameter.source
        assert parameter.interval[0] <= parameter.value <= parameter.interval[1]
    assert sorted(entry.name for entry in folder.iterdir()) == ["mine.samples.jsonl", "mine.toml"]


def test_the_document_has_what_was_fitted_to_what(calibrated: tuple[pathlib.Path, Any]) -> None:
    _, document = calibrated
    assert set(document) == KEYS
    assert document["schema"] == 1
    assert document["profile"] == "mine.toml"
    assert 0 < document["seconds"] < 120
    assert (document["skipped"], document["failed"]) == ([], [])
    assert {kernel for group in document["groups"] for kernel in group["kernels"]} == {"quantization", "edge_indexing"}
    for group in document["groups"]:
        assert group["points"] > len(group["constants"])
        assert 0 <= group["median_error"] <= group["p90_error"]
        for constant in group["constants"].values():
            low, high = constant["interval"]
            assert 0 < low <= constant["value"] <= high
    assert set(document["residual"]) >= {"quantization", "dequantization", "indexing", "rest"}


def test_more_kernels_complete_a_profile(
    calibrated: tuple[pathlib.Path, Any], process: Any, tmp_path: pathlib.Path
) -> None:
    """A second run with another kernel keeps what the first one fitted, and refits what was asked for."""
    folder, _ = calibrated
    before = (folder / "mine.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(before, encoding="utf-8")
    shown = process("calibrate", "--only", "edge_indexing", "--quick", "--out", "mine.toml")
    assert shown.status == 0, shown.err
    assert "profile written to mine.toml" in shown.out
    values = [fields_of(tomllib.loads(text)) for text in (before, (tmp_path / "mine.toml").read_text(encoding="utf-8"))]
    assert set(values[0]) == set(values[1])
    assert all(values[0][key] == values[1][key] for key in values[0] if "quantization" in key[1])
    assert any(values[0][key] != values[1][key] for key in values[0] if "index" in key[1])


def test_what_fits_hang_on_and_nothing_measured_is_said_and_marked(
    calibrated: tuple[pathlib.Path, Any], process: Any, tmp_path: pathlib.Path
) -> None:
    folder, document = calibrated
    assert document["assumed"] == [{"entry": "devices/this-machine", "field": "displacement_time", "value": 0.01}]
    text = (folder / "mine.toml").read_text(encoding="utf-8")
    profile = build(Profile, tomllib.loads(text), "mine.toml")
    (marked,) = [each for each in profile.parameters if (each.source or "").startswith("assumed")]
    assert (marked.fields, marked.value, marked.fitted) == (("displacement_time",), 0.01, False)
    assert marked.interval[0] < 0.006 < 0.02 < marked.interval[1]
    place = profile.parameters.index(marked)
    assert profile.covariance[place][place] == pytest.approx(0.25)
    (tmp_path / "mine.toml").write_text(
        text, encoding="utf-8"
    )  # completing it measures displacement no more than before
    shown = process("calibrate", "--only", "edge_indexing", "--quick", "--out", "mine.toml")
    assert shown.err.count("\n") == 1
    assert (
        "assumed, since nothing has measured it on this machine: displacement_time = 10 ms; measure with:" in shown.err
    )
    assert "--only neighbor_sampling --only feature_gather" in shown.err


def test_an_earlier_profile_that_measured_it_leaves_nothing_assumed(calibrated: tuple[pathlib.Path, Any]) -> None:
    folder, _ = calibrated
    samples = read_journal(folder / "mine.samples.jsonl")
    groups = fitted_groups(samples, measured())
    assert assumed(samples, groups, measured()) == []
    assert [each.fields for each in assumed(samples, fitted_groups(samples))] == [("displacement_time",)]


def fields_of(table: Any) -> dict[tuple[str, str], float]:
    return {(p["entry"], field): p["value"] for p in table["parameters"] for field in p["fields"]}


def test_completing_keeps_every_other_constant_and_its_uncertainty() -> None:
    earlier = measured()
    fresh = [dict(parameter, value=parameter["value"] * 2) for parameter in earlier["parameters"][3:5]]
    table = {**earlier, "parameters": fresh, "covariance": [[0.5, 0.1], [0.1, 0.7]], "residual": {"sampling": 0.9}}
    found = build(Profile, completed(table, earlier), "found")
    old = fields_of(earlier)
    names = [(parameter.entry, parameter.fields[0]) for parameter in found.parameters]
    assert len(names) == len(set(names)) == len(earlier["parameters"])
    for parameter in found.parameters:
        key = (parameter.entry, parameter.fields[0])
        factor = 2 if key in fields_of({"parameters": fresh}) else 1
        assert parameter.value == factor * old[key]
    covariance = np.array(found.covariance)
    np.testing.assert_array_equal(covariance[:2, :2], [[0.5, 0.1], [0.1, 0.7]])
    assert not covariance[:2, 2:].any()
    kept = [index for index in range(len(earlier["parameters"])) if index not in (3, 4)]
    np.testing.assert_array_equal(covariance[2:, 2:], np.array(earlier["covariance"])[np.ix_(kept, kept)])
    assert found.residual == {**earlier["residual"], "sampling": 0.9}


def test_a_profile_of_another_machine_is_not_completed(command: Any, tmp_path: pathlib.Path) -> None:
    """Said before anything is measured, and the file stays as it is."""
    path = tmp_path / "theirs.toml"
    path.write_text('name = "this-machine"\n[made_by]\nmachine = "0123456789abcdef"\n', encoding="utf-8")
    before = path.read_bytes()
    sentence = command("calibrate", *ONLY, "--out", str(path)).sentence
    assert "must be of this machine to be completed by --only" in sentence
    assert [entry.name for entry in tmp_path.iterdir()] == ["theirs.toml"]
    assert path.read_bytes() == before
    assert earlier_profile(path, "0123456789abcdef") == tomllib.loads(before.decode())
    assert earlier_profile(tmp_path / "none.toml", this_machine()) is None


def test_a_file_that_is_no_profile_is_not_completed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text(f'names = "this-machine"\n[made_by]\nmachine = "{this_machine()}"\n', encoding="utf-8")
    with pytest.raises(SpecError, match=r"other\.toml: names?: "):
        earlier_profile(path, this_machine())


# --- bad input, said before minutes are spent


def test_unknown_kernels(command: Any) -> None:
    assert "nearest valid choice: quantization" in command("calibrate", "--only", "quantisation", "--quick").sentence


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("missing/X.toml", "must be a file in a directory that exists"),
        ("X.json", "must end in .toml, got .json"),
        ("X", "must end in .toml, got no ending"),
        (".", "must be a file in a directory that exists"),
        ("folder.toml", "must be a file in a directory that exists"),
    ],
)
def test_places_that_no_profile_can_be_written_to(process: Any, tmp_path: pathlib.Path, out: str, words: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    assert words in process("calibrate", *ONLY, "--out", out).sentence
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.toml"]


def test_a_folder_of_profiles_that_cannot_be_made(process: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    settings = {**os.environ, "PERFMODEL_PROFILES": str(tmp_path / "file" / "profiles")}
    assert "must be writable" in process("calibrate", *ONLY, env=settings).sentence


# --- a machine that was not measured


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "no profiles"
    monkeypatch.setenv("PERFMODEL_PROFILES", str(folder))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "reddit", "--system", "this-machine"),
        ("predict", "reddit", "--system", "lgnnic-sockets", "--against", "this-machine"),
        ("predict", "reddit", "--system", "lgnnic-sockets", "--set", "system.link=this-machine-tcp"),
        ("explain", "reddit", "--system", "this-machine"),
        ("validate", "machine", "--quick"),
    ],
)
def test_a_machine_has_to_be_measured_first(command: Any, unmeasured: pathlib.Path, arguments: tuple[str, ...]) -> None:
    sentence = command(*arguments).sentence
    assert "needs this machine to be measured first" in sentence
    assert str(unmeasured) in sentence
    assert sentence.endswith("nearest valid choice: perfmodel calibrate")
    assert not unmeasured.exists()


def test_the_profile_of_the_folder_is_used(command: Any, unmeasured: pathlib.Path) -> None:
    """Copied there by hand, as from a run with --out; its numbers are known as what they are."""
    unmeasured.mkdir()
    text = catalog.DATA.joinpath("profiles", "lgnnic.toml").read_text(encoding="utf-8")
    assert "this-machine" not in command("list", "profiles").out
    source = pathlib.Path(__file__).parents[1] / "data" / "profiles" / "this-machine.toml"
    (unmeasured / "this-machine.toml").write_bytes(source.read_bytes())
    (unmeasured / "lgnnic.toml").write_text(text.replace("Fitted to", "My own fit to"), encoding="utf-8")
    found = command("predict", "reddit", "--system", "this-machine", "--json").document
    assert found["inputs"]["profiles/this-machine"] == hashlib.sha256(source.read_bytes()).hexdigest()
    assert {phase["source"] for phase in found["phases"] if phase["time_s"] > 0} <= {"calibrated", "measured"}
    assert "My own fit" in command("list", "profiles").out


# --- options that don't go together


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("validate", "machine", "--table", "rows.csv"), "validate lgnnic --table FILE"),
        (("validate", "lgnnic", "--quick"), "validate machine --quick"),
        (("validate", "machin"), "nearest valid choice: machine"),
        (("calibrate", "--law", "power"), "--from FILE.csv --law LAW"),
        (("calibrate", "--at", "3"), "--from FILE.csv --at X"),
        (("calibrate", "--from", "rows.csv", "--quick"), "measures this machine and can't go with --from"),
        (("calibrate", "--from", "rows.csv", "--only", "quantization"), "can't go with --from"),
    ],
)
def test_options_of_the_other_kind(command: Any, arguments: tuple[str, ...], words: str) -> None:
    assert words in command(*arguments).sentence
