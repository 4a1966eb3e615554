"""``perfmodel plan``: text, JSON, CSV, what-if, and a sentence for each bad plan."""

from __future__ import annotations

import csv
import json
import pathlib
from typing import Any

import pytest
import tomli_w

TABLE: dict[str, Any] = {
    "name": "small",
    "periods": {"count": 2, "length": "182.625 d"},
    "jobs": [{"name": "products", "workload": "ogbn-products", "epochs_per_day": 300, "growth": {"nodes": 1.5}}],
    "devices": [
        {"name": "nic", "system": "lgnnic-doca-dma", "price": 20000},
        {"name": "host", "system": "lgnnic-local", "price": 24000},
    ],
}


@pytest.fixture
def file(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "fleet.toml"
    path.write_text(tomli_w.dumps(TABLE), encoding="utf-8")
    return str(path)


def test_text_and_json_agree(command: Any, file: str) -> None:
    text, document = command("plan", file), command("plan", file, "--json").document
    assert text.status == 0
    assert f"small: {document['cost']:,.0f} USD for 2 periods" in text.out
    assert "no fleet is cheaper" in text.out
    assert document["feasible"] is True
    assert document["proof"]["gap"] == 0
    assert [period["period"] for period in document["periods"]] == [0, 1]
    assert file in document["inputs"]
    assert any(name.startswith("systems/") for name in document["inputs"])


def test_csv_has_a_row_a_period_with_units(command: Any, file: str, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "plan.csv"
    document = command("plan", file, "--json", "--csv", str(out), "--set", "devices.host.lead_time=30 d").document
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    periods = document["periods"]
    assert [int(row["period"]) for row in rows] == [0, 1]
    assert [float(row["start [d]"]) for row in rows] == [0, 182.625]
    assert [float(row["devices [USD]"]) for row in rows] == [period["capital"] for period in periods]
    assert float(rows[-1]["cost so far [USD]"]) == pytest.approx(document["cost"])
    assert [float(row["energy [kWh]"]) * 3.6e6 for row in rows] == pytest.approx([p["energy_j"] for p in periods])
    assert [int(row["host in service [units]"]) for row in rows] == [period["fleet"]["host"] for period in periods]
    ordered = {order["period"]: order["order_s"] / 86400 for order in document["orders"] if order["name"] == "host"}
    assert ordered
    for row, period in zip(rows, periods, strict=True):
        due = row["host order by [d]"]
        assert (float(due) if due else None) == ordered.get(period["period"])
        assert (int(row["host bought [units]"]) > 0) == bool(due)
        assert float(row[f"{row['limiting']} used [%]"]) == pytest.approx(
            100 * period["utilization"][period["limiting"]]
        )
        assert float(row["products met with [%]"]) == pytest.approx(100 * period["p_meets_target"]["products"])
    without_units = {"period", "limiting"}
    assert all(name in without_units or name.endswith("]") for name in rows[0])


def test_what_if(command: Any, file: str, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "sweep.csv"
    swept = command("plan", file, "--sweep", "jobs.0.growth.nodes=1.2..3.0:3", "--json", "--csv", str(out)).document
    assert [point["value"] for point in swept["sweep"]["points"]] == [1.2, 2.1, 3.0]
    header, *lines = out.read_text(encoding="utf-8").splitlines()
    assert header.startswith("jobs.0.growth.nodes,cost [USD],first_failing,")
    assert len(lines) == 3
    bars = command("plan", file, "--tornado", "20%", "--json").document
    assert bars["share"] == 0.2
    assert {"input", "swing", "cost_low", "cost_high"} <= set(bars["tornado"][0])
    even = command("plan", file, "--sweep", "devices.host.price=1000..300000", "--break-even", "host,nic")
    assert even.status == 0
    assert "below it host is cheaper, above it nic" in even.out


def test_an_impossible_target(command: Any, file: str) -> None:
    outcome = command(
        "plan",
        file,
        "--set",
        "devices.host.maximum=1",
        "--set",
        "devices.nic.maximum=1",
        "--set",
        "jobs.0.epochs_per_day=3000",
        "--json",
    )
    assert outcome.status == 3
    document = json.loads(outcome.out)
    assert document["feasible"] is False
    assert document["first_failing_period"] == document["missing"]["period"] == len(document["periods"])
    assert 0 < document["missing"]["share_met"] < 1
    assert "no fleet meets all targets from period" in outcome.err
    assert "more of" in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("periods.length=0 d", "must be above 0 s"),
        ("periods.count=0", "must be at least 1"),
        ("periods.count=1.5", "must be a whole number"),
        ("devices.0.price=-5", "at least 0 USD"),
        ("devices.host.price=cheap", "must be a number"),
        ("money.energy_price=-0.1 USD/kWh", "at least 0"),
        ("money.budget=-1", "at least 0 USD"),
        ("confidence=1", "at most 0.99"),
        ("confidence=90 %", ""),
        ("jobs.0.workload=ogbn-product", "nearest valid choice: ogbn-products"),
        ("jobs.0.workload=histogram", "must be of the family of one of the devices' systems"),
        ("jobs.0.family=message-routing", "must be the family of its workload, sampled-training"),
        ("jobs.0.epochs_per_day=0", "above 0"),
        ("jobs.0.deadline=1 h", "contradict each other"),
        ("jobs.0.growth.nodes=0", "above 0"),
        ("jobs.0.growth.nodes=1e7", "at most 1e+06"),
        ("jobs.0.growth.edgs=1", "nearest valid choice: edges"),
        ("jobs.0.growth.values.workload.messages=2", "must be a number"),
        ("jobs.3.count=2", "by number from 0 or by name"),
        ("jobs.product.count=2", "nearest valid choice: products"),
        ("jobs.0.set.plan.workerz=2", "nearest valid choice: workers"),
        ("devices.0.system=lgnnic-doca", "nearest valid choice: lgnnic-doca-dma"),
        ("devices.0.needs.rack=1", "must name one of the file's shared types"),
        ("devices.0.shares.gpu=rack", "must name one of the file's shared types"),
        ("devices.0.name=host", "names of their own"),
        ("devices.0.idle_power=5 kg", "must be in W"),
        ("jobs=none", "jobs"),
        ("money.energy_price=0.1 USD/kWh", "power"),
    ],
)
def test_bad_plans(command: Any, file: str, change: str, words: str) -> None:
    outcome = command("plan", file, "--set", change, "--json")
    if not words:
        assert outcome.status == 0
        return
    assert words in outcome.sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"devices": []}, "an empty fleet"),
        ({"jobs": []}, "at least one job"),
        ({"devices": [{"name": "nic", "system": "lgnnic-doca-dma"}]}, "must be given"),
        ({"jobs": [{"name": "a", "workload": "reddit"}]}, "must have a target"),
        (
            {"jobs": [{"name": "a", "workload": "reddit", "deadline": "1 h", "devices": ["gpu"]}]},
            "must name one of the file's devices",
        ),
        (
            {"jobs": [{"name": "a", "workload": "reddit", "deadline": "1 h", "growth": {"nodes": [1, 2, 3]}}]},
            "one factor for each of the 2",
        ),
        (
            {
                "shared": [{"name": "rack", "price": 1}],
                "devices": [{"name": "n", "system": "lgnnic-local", "price": 1, "needs": {"rack": 1}}],
            },
            "must have slots",
        ),
        (
            {"devices": [{"name": "n", "system": "lgnnic-local", "price": 1, "maximum": 1, "owned": 2}]},
            "at most the maximum",
        ),
        (
            {
                "shared": [{"name": "rack", "price": 1}],
                "devices": [{"name": "n", "system": "lgnnic-local", "price": 1, "shares": {"gpus": "rack"}}],
            },
            "nearest valid choice: gpu",
        ),
        ({"periods": {"count": 2}}, "length: must be given"),
        ({"fleet": 1}, "is not a known key"),
    ],
)
def test_bad_files(command: Any, tmp_path: pathlib.Path, change: dict[str, Any], words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(tomli_w.dumps({**TABLE, **change}), encoding="utf-8")
    assert words in command("plan", str(path)).sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sweep", "periods.count"], "--sweep"),
        (["--sweep", "jobs.0.growth.nodes=1..2:0"], "2 to 1000 points"),
        (["--sweep", "jobs.0.growth.nods=1..2:3"], "nearest valid choice: nodes"),
        (["--tornado", "200%"], "below 1"),
        (["--tornado", "20%", "--sweep", "confidence=0.5..0.9:3"], "--sweep"),
        (["--break-even", "host,nic"], "--sweep"),
        (["--sweep", "devices.0.price=1..2:3", "--break-even", "host"], "two types of device"),
        (["--sweep", "devices.0.price=1..2:3", "--break-even", "host,hots"], "nearest valid choice: host"),
        (["--timeout", "0"], "above 0"),
        (["--csv", "/nowhere/at/all.csv"], "--csv"),
    ],
)
def test_bad_options(command: Any, file: str, options: list[str], words: str) -> None:
    assert words in command("plan", file, *options).sentence


def test_the_example_is_listed_and_has_a_schema(command: Any) -> None:
    assert "three-jobs" in command("list", "fleets").out
    assert "epochs_per_day" in command("schema", "fleets").out
