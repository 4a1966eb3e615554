"""LGNNIC's Table 5: the fit that is shipped, how good it is, and published numbers that it has not seen."""

from __future__ import annotations

import csv
import pathlib
import subprocess
import sys
import tomllib
from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from calibration.published import lgnnic
from calibration.published.lgnnic_constants import CONSTANTS
from calibration.published.ogbn_mag import SPREADS
from perfmodel.errors import SpecError
from perfmodel.model.bound import bind
from perfmodel.spec.catalog import DATA

TEXT = pathlib.Path(lgnnic.__file__).parent / "data" / "lgnnic_text.csv"


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Return what ``validate lgnnic`` says."""
    return lgnnic.validate()


@pytest.fixture(scope="module")
def text() -> dict[str, float]:
    """Return the numbers of LGNNIC's running text, none of which was fitted."""
    with TEXT.open(encoding="utf-8", newline="") as file:
        return {row["id"]: float(row["value"]) for row in csv.DictReader(file)}


def tensors(dataset: str, fanout: str) -> dict[str, tuple[str, float, float]]:
    """Return kind, bytes and transfer time of every tensor that sockets send."""
    bound = bind(pm.load_scenario(dataset, "lgnnic-sockets", changes={"workload.sampling.fanout": fanout}))
    (part,) = next(step for step in bound.steps if step.step.name == "transfer").parts
    times = {}
    for item, chain in zip(part.items, part.chains, strict=True):
        results: dict[str, Any] = {}
        for call in chain:
            arguments = [bound.values[a.key] if a.key else results[a.name] for a in call.arguments]
            results[call.phase.result] = call.phase.function(*arguments)
        kind = getattr(item, "kind", "")
        times[item.name] = (kind, float(results["tensor_bytes"]), float(results["transfer_time"]))
    return times


@pytest.mark.parametrize("quantity", ["transfer", "execution"])
def test_errors_are_within_the_bounds(found: dict[str, Any], quantity: str) -> None:
    summary = found["by_quantity"][quantity]
    assert summary["n"] == 36
    assert summary["median_ape"] <= 0.07
    assert summary["mean_ape"] <= 0.10


def test_intervals_cover_what_they_say(found: dict[str, Any]) -> None:
    assert 0.80 <= found["summary"]["coverage_90"] <= 0.98
    assert found["within_bounds"]


def test_few_constants(found: dict[str, Any]) -> None:
    """The degree spreads of ogbn-mag count too, though their fit saw none of this table."""
    assert found["fitted_parameters"] == len(CONSTANTS) + len(SPREADS) <= 18


def test_constants_lie_within_what_is_possible_and_inside_their_intervals() -> None:
    profile = tomllib.loads((DATA / "profiles" / "lgnnic.toml").read_text(encoding="utf-8"))
    for parameter in profile["parameters"]:
        low, high = parameter["interval"]
        assert low < parameter["value"] < high
        if parameter["fitted"]:
            least, most = parameter["bounds"]
            assert 1.05 * least < parameter["value"] < most / 1.05, "a constant at its bound was not found"
            assert high / low < 20, "a constant that the table does not fix"


def test_the_transfer_is_counted_twice_in_mags_socket_rows_alone(found: dict[str, Any]) -> None:
    marked = {(row["dataset"], row["mechanism"], row["quantity"]) for row in found["rows"] if row["properties"]}
    assert marked == {("ogbn-mag", "sockets", "execution")}
    assert {name for row in found["rows"] for name in row["properties"]} == {"transfer-counted-twice"}
    assert sum(bool(row["properties"]) for row in found["rows"]) == 6


def test_the_property_is_in_the_table_itself() -> None:
    """Execution less twice the transfer is about the DMA row's remainder; less once, it is far above."""
    rows = {row[:4]: row.measured for row in lgnnic.read_table()}
    for (dataset, mechanism, fanout, precision), (transfer, execution) in rows.items():
        if (dataset, mechanism) == ("ogbn-mag", "sockets"):
            sent, whole = rows[dataset, "doca-dma", fanout, precision]
            assert execution == pytest.approx(2 * transfer + whole - sent, rel=0.10)
            assert execution > 1.2 * (transfer + whole - sent)


def test_every_published_run_is_feasible() -> None:
    """They ran."""
    for row in lgnnic.read_table():
        assert pm.predict(row.scenario()).feasible, row[:4]


def test_the_shipped_profile_is_a_fresh_fit(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "profile.toml"
    done = subprocess.run(
        [sys.executable, "-m", "calibration.published", "lgnnic", "--out", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    fresh = tomllib.loads(out.read_text(encoding="utf-8"))
    shipped = tomllib.loads((DATA / "profiles" / "lgnnic.toml").read_text(encoding="utf-8"))
    assert fresh["data"] == shipped["data"], "the profile was fitted to another table"
    versions = ("numpy", "scipy", "perfmodel")
    if all(fresh["made_by"][name] == shipped["made_by"][name] for name in versions):
        assert fresh == shipped
    for new, old in zip(fresh["parameters"], shipped["parameters"], strict=True):
        assert (new["entry"], new["fields"]) == (old["entry"], old["fields"])
        assert new["value"] == pytest.approx(old["value"], rel=1e-3)
        assert new["interval"] == pytest.approx(old["interval"], rel=1e-2)
    np.testing.assert_allclose(fresh["covariance"], shipped["covariance"], rtol=2e-2, atol=1e-5)


@pytest.mark.parametrize(
    ("number", "fanout"), [("feature-transfer-minimal", "-1,256"), ("feature-transfer-common", "25,10")]
)
def test_the_time_of_the_feature_tensor(text: dict[str, float], number: str, fanout: str) -> None:
    (seconds,) = [time for kind, _, time in tensors("reddit", fanout).values() if kind == "features"]
    assert seconds == pytest.approx(text[number], rel=0.10)


@pytest.mark.parametrize(("number", "fanout"), [("preprocess-full", "-1,-1"), ("preprocess-common", "25,10")])
def test_the_order_of_preprocessing(text: dict[str, float], number: str, fanout: str) -> None:
    scenario = pm.load_scenario("reddit", "lgnnic-sockets", changes={"workload.sampling.fanout": fanout})
    (seconds,) = [phase.time_s for phase in pm.predict(scenario).phases if phase.name == "sampling"]
    assert text[number] / 2 < seconds < text[number] * 2


def test_the_hosts_sampling_is_as_much_faster_as_the_text_says(text: dict[str, float]) -> None:
    for dataset in ("reddit", "ogbn-products", "ogbn-mag"):
        card, host = (
            next(
                phase.time_s
                for phase in pm.predict(pm.load_scenario(dataset, system)).phases
                if phase.name == "sampling"
            )
            for system in ("lgnnic-doca-dma", "lgnnic-local")
        )
        assert text["bf2-slowdown-low"] <= card / host <= text["bf2-slowdown-high"]


def test_the_number_of_packets(text: dict[str, float]) -> None:
    assert len(tensors("reddit", "25,10")) == text["packets-homogeneous"] == 3
    assert len(tensors("ogbn-products", "15,10,5")) == text["packets-homogeneous"]
    packets = tensors("ogbn-mag", "10,10")
    assert len(packets) == text["packets-heterogeneous"] == 12
    kinds = [kind for kind, _, _ in packets.values()]
    assert (kinds.count("features"), kinds.count("labels"), kinds.count("edge_index")) == (4, 1, 7)


def test_seven_relations_three_of_them_reversed() -> None:
    graph = pm.load_scenario("ogbn-mag", "lgnnic-local").workload.graph
    assert len(graph.node_types) == 4
    assert len(graph.relations) == 7
    forward = {(r.source, r.target): r.edges for r in graph.relations if not r.name.startswith("rev_")}
    backward = {(r.target, r.source): r.edges for r in graph.relations if r.name.startswith("rev_")}
    assert len(backward) == 3
    assert backward.items() <= forward.items()


def test_the_mini_batch_and_the_chunk(text: dict[str, float]) -> None:
    for dataset in ("reddit", "ogbn-products", "ogbn-mag"):
        scenario = pm.load_scenario(dataset, "lgnnic-doca-dma")
        assert scenario.workload.sampling.batch == text["batch"]
        assert scenario.system.link is not None
        assert scenario.plan.transfer.chunk == scenario.system.link.max_chunk == text["buffer-limit"] * 2**20


def test_a_table_with_one_row_too_few_columns_says_which_line(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(lgnnic.HEADER) + "\nreddit,sockets,25 10,fp32,1,2\nreddit,sockets\n", encoding="utf-8")
    with pytest.raises(SpecError, match="line 3: must have 6 columns, got 2"):
        lgnnic.read_table(str(path))


def test_printed_digits_say_how_much_is_known() -> None:
    rows = {row[:4]: row for row in lgnnic.read_table()}
    assert rows["reddit", "sockets", (-1,), "fp32"].resolution == (0.005, 0.005)
    assert rows["ogbn-mag", "doca-dma", (-1,), "fp16"].resolution == (0.0005, 0.005)


def test_rows_are_held_out_by_the_same_code(found: dict[str, Any]) -> None:
    """A fit without the rows of one fanout still predicts them; 20 % is what three times the scatter allows."""
    rows = lgnnic.read_table()
    held = [row for row in rows if row.dataset == "reddit" and row.fanout == (25, 10)]
    kept = [row for row in rows if row not in held]
    profile = lgnnic.fitted_profile(kept)
    errors = [row.ape for row in lgnnic.compared(held, profile)]
    assert len(errors) == 8
    assert np.median(errors) < 0.20
