"""Results as documents: back and forth, those of schema 1 as they were written once, and what is refused."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import jsonschema
import pytest

import perfmodel as pm
from perfmodel.documents import load
from perfmodel.errors import SpecError

OLD = pathlib.Path(__file__).parents[1] / "data" / "results"
KINDS: dict[str, Any] = {
    "predict-schema-1": pm.Estimate,
    "plan-schema-1": pm.CapacityPlan,
    "plan-infeasible-schema-1": pm.CapacityPlan,
    "search-schema-1": pm.SearchResult,
}
each_old = pytest.mark.parametrize("name", KINDS)


def old(name: str) -> dict[str, Any]:
    return load(str(OLD / f"{name}.json"))


@each_old
def test_a_file_of_schema_1_says_again_what_it_said(name: str) -> None:
    """Key by key, the version that made it among them; later versions may have more keys."""
    document = old(name)
    assert document["schema"] == 1
    again = json.loads(json.dumps(KINDS[name].from_dict(document).to_dict()))
    assert {key: again[key] for key in document} == document


def test_an_old_estimate_has_its_parts() -> None:
    estimate = pm.Estimate.from_dict(old("predict-schema-1"))
    assert not estimate.feasible
    assert estimate.violations[0].rule == "memory.memory_node"
    assert estimate.against is not None
    assert estimate.against.speedup_interval[0] < estimate.against.speedup < estimate.against.speedup_interval[1]
    assert estimate.model.startswith("ffb82f84")
    assert estimate.phases[0].name == "sampling"


def test_old_plans_have_their_parts() -> None:
    plan, short = (pm.CapacityPlan.from_dict(old(name)) for name in ("plan-schema-1", "plan-infeasible-schema-1"))
    assert plan.feasible
    assert plan.proof is not None
    assert plan.proof.gap == 0
    assert plan.periods[0].resources[0].headroom == pytest.approx(1 - plan.periods[0].resources[0].utilization)
    assert short.missing is not None
    assert (short.feasible, short.missing.period, len(short.periods)) == (False, 2, 2)
    assert short.missing.dropped == ("products",)


def test_an_old_search_has_its_front() -> None:
    found = pm.SearchResult.from_dict(old("search-schema-1"))
    assert found.best is not None
    assert found.best["objectives"] == found.pareto[0].objectives
    times = [plan.objectives["time"] for plan in found.pareto]
    devices = [plan.objectives["plan.devices"] for plan in found.pareto]
    assert len(found.pareto) > 1
    assert times == sorted(times)
    assert devices == sorted(devices, reverse=True)


def test_what_is_made_now_comes_back_the_same() -> None:
    scenario = pm.load_scenario("sssp", "buddy-dpu")
    estimate = pm.predict(scenario, pm.load_scenario("sssp", "buddy-none"))
    assert pm.Estimate.from_dict(json.loads(json.dumps(estimate.to_dict()))) == estimate
    plan = pm.plan_capacity("three-jobs", {"periods.count": 2, "jobs.citations.growth.jobs": 1})
    again = pm.CapacityPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert (again.periods, again.orders, again.to_dict()) == (plan.periods, plan.orders, plan.to_dict())
    found = pm.search(pm.load_scenario("reddit", "lgnnic-sockets"), {"plan.devices": [1, 2]}, objectives=["time"])
    document = json.loads(json.dumps(found.to_dict(), default=float))
    assert json.loads(json.dumps(pm.SearchResult.from_dict(document).to_dict())) == document


@each_old
def test_keys_that_are_not_known_are_left_aside(name: str) -> None:
    document = old(name)
    more = {**document, "later": {"a": 1}, "inputs": {**document["inputs"], "b": "c"}}
    for parts in (more.get("phases"), more.get("periods"), more.get("pareto")):
        if parts:
            parts[0]["later"] = [1]
    found = KINDS[name].from_dict(more)
    assert "later" not in found.to_dict()
    assert found.inputs["b"] == "c"


@each_old
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, "schema: must be at most 1, the newest that this version of perfmodel knows, got 2"),
        ({"schema": 0}, "schema: must be a whole number from 1 on, got 0"),
        ({"schema": True}, "schema: must be a whole number from 1 on, got True"),
        ({"schema": None}, "schema: must be a whole number from 1 on, got None"),
        ({"inputs": 3}, "inputs: must be a valid dictionary, got 3"),
        ({"warnings": "none"}, "warnings: must be a valid tuple, got 'none'"),
    ],
)
def test_documents_that_are_refused(name: str, change: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        KINDS[name].from_dict({**old(name), **change})
    assert words in str(caught.value)


@each_old
def test_a_missing_key_is_named(name: str) -> None:
    document = old(name)
    del document["inputs"]
    with pytest.raises(SpecError, match="inputs: must be given, got nothing"):
        KINDS[name].from_dict(document)
    with pytest.raises(SpecError, match="must be the document of a result"):
        KINDS[name].from_dict([document])


def test_numbers_that_json_lacks_come_back_as_unknown() -> None:
    document = old("predict-schema-1")
    document["memory"][0]["capacity_bytes"] = None
    found = pm.Estimate.from_dict(document)
    assert math.isnan(found.memory[0].capacity_bytes)
    assert document["memory"][0]["capacity_bytes"] is None
    with pytest.raises(SpecError, match="estimate: unit: must be a valid string, got None"):
        pm.Estimate.from_dict({**document, "unit": None})


@each_old
def test_the_printed_schema_takes_its_documents(name: str) -> None:
    from perfmodel.cli.schema import _result_schema

    schema = _result_schema(f"{name.partition('-')[0]}-result")
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    assert [error.message for error in kind(schema).iter_errors(old(name))] == []
    assert list(kind(schema).iter_errors({**old(name), "schema": 2}))
    assert list(kind(schema).iter_errors({key: value for key, value in old(name).items() if key != "inputs"}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "must be valid JSON"),
        (b"[1]", "must be the document of a result"),
        (b"\xff", "must be valid JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (None, "must be a file that can be read, got No such file"),
    ],
)
def test_files_that_hold_no_document(tmp_path: pathlib.Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "result.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        load(str(path))
    assert words in str(caught.value)
