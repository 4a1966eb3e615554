"""``perfmodel list`` and ``perfmodel schema``."""

from __future__ import annotations

import hashlib
import pathlib
import tomllib
from typing import Any

import jsonschema
import pytest

from perfmodel.spec.catalog import KINDS, names, path_of


def test_list_names_every_entry_with_its_source(command: Any) -> None:
    shown = command("list")
    assert shown.status == 0
    for kind in KINDS:
        assert f"# {kind}" in shown.out
        for name in names(kind):
            (line,) = [line for line in shown.out.splitlines() if line.split("\t")[0] == name][:1]
            assert ": " in line.split("\t")[2]


@pytest.mark.parametrize("kind", KINDS)
def test_list_one_kind(command: Any, kind: str) -> None:
    document = command("list", kind, "--json").document
    assert document["schema"] == 1
    assert set(document) == {"schema", "perfmodel", "inputs", kind}
    assert [entry["name"] for entry in document[kind]] == list(names(kind))
    for entry in document[kind]:
        assert entry["title"]
        assert entry["source"]
        content = path_of(kind, entry["name"]).read_bytes()
        assert entry["sha256"] == document["inputs"][f"{kind}/{entry['name']}"] == hashlib.sha256(content).hexdigest()


def test_a_machine_that_was_not_measured_is_marked(
    command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """Also the system that only takes its devices from the profile; of measured ones the profile is the source."""
    measured = command("list", "--json").document
    monkeypatch.setenv("PERFMODEL_PROFILES", str(tmp_path / "none"))
    found, shown = command("list", "--json").document, command("list").out
    for kind in ("devices", "links", "systems"):
        missing = {entry["name"] for entry in found[kind] if entry["missing_profile"] == "this-machine"}
        assert {name[:12] for name in missing} == {"this-machine"}
        assert not any(entry["missing_profile"] for entry in measured[kind])
        for name in missing:
            assert any(line.startswith(f"{name}\t") and "perfmodel calibrate" in line for line in shown.splitlines())
    assert "this-machine" not in {entry["name"] for entry in found["profiles"]}
    (device,) = [entry for entry in measured["devices"] if entry["name"] == "this-machine"]
    assert device["sources"]["sampling.time_per_edge"] == "calibrated: profile this-machine"
    assert device["sources"]["memory"].startswith("measured: ")


def test_a_number_may_be_left_to_a_profile_that_is_named(command: Any) -> None:
    schema = command("schema", "links").document
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert not list(validator.iter_errors({"name": "mine", "profile": "this-machine"}))
    (problem,) = validator.iter_errors({"name": "mine"})
    assert "bandwidth" in problem.message


def test_list_everything_as_json(command: Any) -> None:
    document = command("list", "--json").document
    assert set(document) >= {"schema", "perfmodel", "inputs", *KINDS}


def test_the_systems_and_workloads_of_lgnnic_are_there(command: Any) -> None:
    document = command("list", "--json").document
    systems = {entry["name"] for entry in document["systems"]}
    workloads = {entry["name"] for entry in document["workloads"]}
    assert systems >= {"lgnnic-doca-dma", "lgnnic-sockets", "lgnnic-local"}
    assert workloads >= {
        "reddit", "ogbn-products", "ogbn-mag", "ogbn-arxiv", "ogbn-papers100M", "MAG240M", "IGB", "Friendster"
    }  # fmt: skip


def test_schema_without_a_kind_names_all(command: Any) -> None:
    results = ["predict-result", "search-result", "plan-result"]
    assert command("schema").out.split() == [*KINDS, *results]
    for name in results:
        assert command("schema", name).document["properties"]["schema"]["maximum"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_schema_accepts_the_catalog_and_refuses_unknown_keys(command: Any, kind: str) -> None:
    schema = command("schema", kind).document
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for name in names(kind):
        table = tomllib.loads(path_of(kind, name).read_text(encoding="utf-8"))
        problems = [
            f"{kind}/{name} {error.json_path}: {error.message}" for error in validator(schema).iter_errors(table)
        ]
        assert problems == []
        assert list(validator(schema).iter_errors({**table, "no_such_key": 1}))
