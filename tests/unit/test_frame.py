"""A frame of jobs: each row as ``predict`` has it, in any order, with bad rows kept apart."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import numpy as np
import pandas
import pytest

import perfmodel as pm
from perfmodel.errors import PerfmodelError, SpecError
from perfmodel.frame_columns import combined
from perfmodel.spec._base import Within

SYSTEMS = ("lgnnic-doca-dma", "lgnnic-sockets", "lgnnic-local", "bluefield-3-roce", "buddy-dpu", "this-machine")
#: What a row may set, and what stands in it; some of it is refused by all systems or by some.
CHOICES: dict[str, list[Any]] = {
    "workload": ["reddit", "ogbn-products", "histogram", "sssp", "redit", None],
    "system": [*SYSTEMS, "lgnnic-doca"],
    "plan": [None, None, None, "fp16", "no-offload", "no-offload-frontier", "route-dpu", "nowhere.toml"],
    "profile": [None, None, None, "lgnnic", "lgnic"],
    "system.link": [None, None, "doca-dma", "ethernet-100g", "roce-100g", "roce"],
    "plan.precision.features": [None, None, "fp16", "int8", "int3"],
    "workload.sampling.fanout": [None, None, "25,10", "10,5", "5,-5", 3.0],
    "plan.transfer.chunk": [None, 4096, 65536.0, "1 MiB", "512 KiB", "1 s", "much", -1, True],
    "plan.workers": [None, 0, 2, 2.5, "4"],
    "system.link.bandwidth": [None, 1e9, "25 GB/s", "inf GB/s", 0.0, "10 GB"],
    "system.gpu.power": [None, 300.0, "0.25 kW", "heavy"],
    "system.memory_node.power": [None, 75.0],
    "system.compute_node.power": [None, 200],
    "system.memory_node.sampling.time_per_node": [None, "1 us/node", 2e-6],
    "workload.memory_ratio": [None, 2.0, 5.0],
}
ROWS = 250


def drawn(rows: int = ROWS) -> pandas.DataFrame:
    """Return rows at random; most are good."""
    generator = np.random.default_rng(12)
    columns: dict[str, list[Any]] = {}
    for name, values in CHOICES.items():
        likely = [1.0 if place < 3 else 0.15 for place in range(len(values))]
        chosen = generator.choice(len(values), rows, p=np.array(likely) / sum(likely))
        columns[name] = [values[place] for place in chosen]
    of_messages = [system == "buddy-dpu" for system in columns["system"]]
    for row, routed in enumerate(of_messages):
        if columns["workload"][row] is not None and generator.random() < 0.95:
            columns["workload"][row] = "sssp" if routed else ["reddit", "ogbn-products"][row % 2]
        for key in CHOICES:
            foreign = key not in ("workload", "system", "profile") and (key == "workload.memory_ratio") != routed
            if foreign and generator.random() < 0.97:
                columns[key][row] = None
    return pandas.DataFrame(columns, dtype=object)


def alone(row: Any) -> pm.Estimate | SpecError:
    """Return what ``predict`` says of one row, or why it says nothing."""
    given = {name: value for name, value in row.items() if value is not None}
    references = {name: given.pop(name, None) for name in ("workload", "system", "plan", "profile")}
    if isinstance(given.get("workload.sampling.fanout"), float):
        given["workload.sampling.fanout"] = int(given["workload.sampling.fanout"])
    try:
        if references["workload"] is None:
            raise SpecError("workload", "must be given", "nothing")
        return pm.predict(pm.load_scenario(**references, changes=given))
    except SpecError as error:
        return error


@pytest.fixture(scope="module")
def jobs() -> pandas.DataFrame:
    return drawn()


@pytest.fixture(scope="module")
def expected(jobs: pandas.DataFrame) -> list[pm.Estimate | SpecError]:
    return [alone(row) for row in jobs.to_dict("records")]


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_each_row_is_what_predict_says(
    jobs: pandas.DataFrame, expected: list[pm.Estimate | SpecError], seed: int | None
) -> None:
    order = np.arange(len(jobs)) if seed is None else np.random.default_rng(seed).permutation(len(jobs))
    found = pm.evaluate_frame(jobs.iloc[order])
    assert found.index.equals(jobs.index[order])
    bad = {each["row"]: each for each in found.attrs["bad_rows"]}
    for place, row in enumerate(order):
        one, result = expected[row], found.iloc[place]
        if isinstance(one, SpecError):
            assert place in bad, (jobs.iloc[row].dropna().to_dict(), one)
            assert np.isnan(result["time_s"])
            assert pandas.isna(result["feasible"])
            assert pandas.isna(result["bottleneck"])
            continue
        assert place not in bad, (jobs.iloc[row].dropna().to_dict(), bad[place])
        assert result["time_s"] == pytest.approx(one.time_s, rel=1e-12)
        assert result["epoch_time_s"] == pytest.approx(one.epoch_time_s, rel=1e-12)
        assert result["bytes.total"] == pytest.approx(one.bytes["total"], rel=1e-12)
        assert result["feasible"] == one.feasible
        if one.energy_j is None:
            assert np.isnan(result["energy_j"])
        else:
            assert result["energy_j"] == pytest.approx(one.energy_j, rel=1e-12)
        phases = {phase.name: phase.time_s for phase in one.phases}
        named = {name.removeprefix("phases."): result[name] for name in found.columns if name.startswith("phases.")}
        assert named == pytest.approx({**dict.fromkeys(named, 0.0), **phases}, rel=1e-12)
        assert phases[result["bottleneck"]] == pytest.approx(max(phases.values()), rel=1e-12)


def test_the_drawn_rows_hold_both_kinds(expected: list[pm.Estimate | SpecError]) -> None:
    """Else the test above would show nothing."""
    estimates = [one for one in expected if not isinstance(one, SpecError)]
    assert ROWS * 0.4 < len(estimates) < ROWS * 0.95
    assert any(one.energy_j is not None for one in estimates)
    assert any(one.energy_j is None for one in estimates)
    assert len({str(one.rule) for one in expected if isinstance(one, SpecError)}) > 10


def test_a_bad_row_says_where_and_what() -> None:
    table = pandas.DataFrame(
        {
            "workload": ["reddit", "redit", None, "reddit", "reddit", "reddit"],
            "system": "lgnnic-doca-dma",
            "plan.transfer.chunk": [4096.0, np.nan, np.nan, -1.0, np.nan, 1.0],
            "plan.precision.features": ["fp16", "fp16", "fp16", "fp16", "fp61", None],
        },
        index=["a", "b", "c", "d", "d", "e"],
    )
    found = pm.evaluate_frame(table)
    reports = {
        each["row"]: (each["where"], each["rule"], each["got"], each["nearest"]) for each in found.attrs["bad_rows"]
    }
    assert list(reports) == [1, 2, 3, 4]
    assert reports[1] == ("workload", "must be one of the workloads of the catalog or a TOML file", "'redit'", "reddit")
    assert reports[2][:3] == ("workload", "must be given", "nothing")
    assert (reports[3][0], reports[3][2]) == ("plan.transfer.chunk", "-1")
    assert reports[3][1].startswith("must be above 0 B")
    assert reports[4][0] == "plan.precision.features"
    assert reports[4][3] == "fp16"
    assert found["time_s"].isna().tolist() == [False, True, True, True, True, False]
    assert found["feasible"].isna().tolist() == [False, True, True, True, True, False]
    assert list(found.index) == list("abcdde")


def test_kinds_of_columns_say_the_same() -> None:
    """Categories, nullable integers, text, lists and numbers of numpy in a column of objects."""
    plain = pandas.DataFrame(
        {
            "workload": ["reddit", "ogbn-products", "reddit"],
            "system": ["lgnnic-sockets"] * 3,
            "plan.workers": [1.0, np.nan, 3.0],
            "plan.transfer.chunk": [65536.0, 4096.0, np.nan],
            "workload.sampling.fanout": ["25,10", None, "10,5"],
        }
    )
    other = plain.astype({"workload": "category", "system": "str", "plan.workers": "Int64"})
    other["plan.transfer.chunk"] = pandas.Series(["64 KiB", np.float64(4096), pandas.NA], dtype=object)
    other["workload.sampling.fanout"] = pandas.Series([[25, 10], np.nan, (10, 5)], dtype=object)
    pandas.testing.assert_frame_equal(pm.evaluate_frame(plain), pm.evaluate_frame(other))


def test_the_result_says_what_it_is() -> None:
    jobs = pandas.DataFrame(
        {"workload": ["reddit", "sssp"], "system": ["lgnnic-doca-dma", "buddy-dpu"], "team": ["a", "b"]}
    )
    found = pm.evaluate_frame(jobs, keep=["team"])
    attributes = found.attrs
    assert attributes["schema"] == 1
    assert attributes["perfmodel"] == pm.__version__
    assert {"workloads/reddit", "systems/lgnnic-doca-dma", "systems/buddy-dpu"} <= set(attributes["inputs"])
    assert set(attributes["units"]) == set(found.columns) - {"team"}
    assert attributes["units"]["phases.sampling"] == attributes["units"]["time_s"] == "s"
    assert (attributes["units"]["bytes.total"], attributes["units"]["energy_j"]) == ("B", "J")
    assert found["team"].tolist() == ["a", "b"]
    assert found["feasible"].dtype == "boolean"


def test_attributes_stay_with_the_frame() -> None:
    jobs = pandas.DataFrame({"workload": ["reddit", "redit"], "system": "lgnnic-doca-dma"})
    found = pm.evaluate_frame(jobs)
    for other in (found.copy(), found[found["time_s"] > 0], copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other.attrs["bad_rows"] == found.attrs["bad_rows"]
    assert pandas.concat([found, found]).attrs["units"] == found.attrs["units"]
    assert pandas.DataFrame(found.attrs["bad_rows"])["row"].tolist() == [1]
    assert "attrs" not in jobs.attrs
    assert list(jobs.columns) == ["workload", "system"]


def test_frames_without_good_rows() -> None:
    empty = pm.evaluate_frame(pandas.DataFrame({"workload": [], "system": []}))
    assert len(empty) == 0
    assert {"time_s", "feasible", "bottleneck"} <= set(empty.columns)
    bad = pm.evaluate_frame(pandas.DataFrame({"workload": [None, "x"], "system": ["y", "lgnnic-local"]}))
    assert bad["time_s"].isna().all()
    assert [each["where"] for each in bad.attrs["bad_rows"]] == ["workload", "workload"]


def test_a_number_that_a_scenario_lacks_takes_one_binding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each value: a thousand powers of a GPU that has none in its file."""
    from perfmodel import frame

    bound: list[Any] = []
    monkeypatch.setattr(frame, "bind", lambda scenario, real=frame.bind: bound.append(scenario) or real(scenario))
    values = np.linspace(100.0, 400.0, 1000)
    jobs = pandas.DataFrame(
        {"workload": "reddit", "system": "lgnnic-doca-dma", "system.memory_node.power": 75.0,
         "system.compute_node.power": 200.0, "system.gpu.power": values, "system.gpu.pwr": np.where(values > 390, 1.0, np.nan)}
    )  # fmt: skip
    found = pm.evaluate_frame(jobs)
    assert len(bound) == 1
    good = found[values <= 390]
    assert good["energy_j"].to_numpy() == pytest.approx((275.0 + values[values <= 390]) * good["time_s"].to_numpy())
    assert {each["where"] for each in found.attrs["bad_rows"]} == {"system.gpu.pwr"}
    assert len(found.attrs["bad_rows"]) == np.count_nonzero(values > 390)


@pytest.mark.parametrize(
    ("frame", "keep", "words"),
    [
        ({"workload": ["reddit"]}, (), "column system: must be given"),
        ({"system": ["lgnnic-local"]}, (), "column workload: must be given"),
        ({"workload": ["reddit"], "system": ["lgnnic-local"], "paln": [1]}, (), "nearest valid choice: plan"),
        (
            {"workload": ["reddit"], "system": ["lgnnic-local"], "cluster": [1]},
            (),
            "nearest valid choice: keep=['cluster']",
        ),
        ({"workload": ["reddit"], "system": ["lgnnic-local"], 7: [1]}, (), "column 7"),
        ({"workload": ["reddit"], "system": ["lgnnic-local"]}, ("team",), "keep: must be columns of the frame"),
        ({"workload": ["reddit"], "system": ["lgnnic-local"]}, "team", "keep: must be a list of columns"),
        ({"workload": ["reddit"], "system": ["lgnnic-local"], "time_s": [1]}, ("time_s",), "called like a result"),
    ],
)
def test_a_frame_that_can_not_be_evaluated(frame: dict[Any, Any], keep: Any, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        pm.evaluate_frame(pandas.DataFrame(frame), keep)
    assert words in str(caught.value)


def test_what_is_no_frame_and_a_column_twice() -> None:
    with pytest.raises(SpecError, match="must be a pandas DataFrame"):
        pm.evaluate_frame({"workload": ["reddit"]})  # type: ignore[arg-type]
    twice = pandas.DataFrame([["reddit", "lgnnic-local", "lgnnic-local"]], columns=["workload", "system", "system"])
    with pytest.raises(SpecError, match="must be there once"):
        pm.evaluate_frame(twice)


def test_times_without_end_are_bad_rows() -> None:
    jobs = pandas.DataFrame(
        {
            "workload": "reddit",
            "system": "lgnnic-doca-dma",
            "system.link.bandwidth": [1e9, 1e-30],
            "plan.transfer.chunk": 1e-18,
        }
    )
    jobs["system.link.time_per_acknowledgement"] = [0.0, 1e30]
    found = pm.evaluate_frame(jobs)
    endless = ~np.isfinite(found["time_s"].to_numpy())
    assert [each["row"] for each in found.attrs["bad_rows"]] == np.flatnonzero(endless).tolist()


@pytest.mark.parametrize(
    "mark",
    [
        Within("s"),
        Within("B", above=True),
        Within("", low=1.0, high=1e6, whole=True),
        Within("B/s", above=True, infinite=True),
    ],
)
def test_arrays_are_checked_like_single_numbers(mark: Within) -> None:
    values = [0.0, 1.0, 1.5, -1.0, 1e6, 1e6 + 1, 1e30, 2e30, float("inf"), float("-inf"), float("nan"), 1e-300]

    def accepted(value: float) -> bool:
        try:
            mark.check_at(value, "here")
        except PerfmodelError:
            return False
        return True

    assert mark.accepts(np.array(values)).tolist() == [accepted(value) for value in values]


def test_all_of_a_column_is_checked() -> None:
    """Halves of a worker also where whole numbers lie below and above them."""
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    with pytest.raises(SpecError, match=r"plan\.workers: must be a whole number, got 1\.5"):
        pm.evaluate(scenario, {"plan.workers": [0.0, 1.5, 3.0]})


def test_energy_is_unknown_where_a_power_is() -> None:
    table = pandas.DataFrame(
        {"workload": "reddit", "system": "lgnnic-doca-dma", "system.memory_node.power": [np.nan, 75.0],
         "plan.precision.features": ["fp32", "fp16"]}
    )  # fmt: skip
    unknown, known = pm.evaluate_frame(table)["energy_j"]
    assert np.isnan(unknown)
    changes = {"system.memory_node.power": 75.0, "plan.precision.features": "fp16"}
    assert known == pm.predict(pm.load_scenario("reddit", "lgnnic-doca-dma", changes=changes)).energy_j


def test_evaluate_has_no_energy_where_a_group_lacks_it() -> None:
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    known = {**scenario.system.memory_node.model_dump(), "power": 75.0}
    tables = np.array([None, known], dtype=object)
    tables[0] = scenario.system.memory_node.model_dump()
    unknown, joules = pm.evaluate(scenario, {"system.memory_node": tables})["energy_j"]
    assert np.isnan(unknown)
    assert joules > 0


def test_groups_come_in_the_order_of_their_first_row() -> None:
    generator = np.random.default_rng(0)
    codes = [generator.integers(-1, 4, 60) for _ in range(3)]
    together = list(zip(*(each.tolist() for each in codes), strict=True))
    groups = combined(codes)
    assert [together[group[0]] for group in groups] == list(dict.fromkeys(together))
    assert sorted(np.concatenate(groups).tolist()) == list(range(60))
    for group in groups:
        assert {together[place] for place in group} == {together[group[0]]}


def many(rows: int) -> pandas.DataFrame:
    """Return jobs that differ in workload, system, two names and two numbers."""
    generator = np.random.default_rng(0)
    bandwidth = generator.uniform(1e9, 25e9, rows)
    return pandas.DataFrame(
        {
            "workload": generator.choice(["reddit", "ogbn-products", "ogbn-mag", "ogbn-arxiv"], rows),
            "system": generator.choice(["lgnnic-doca-dma", "lgnnic-sockets", "bluefield-3-roce"], rows),
            "plan.precision.features": generator.choice(["fp32", "fp16", "int8"], rows),
            "plan.placement.sampling": generator.choice(["memory-node", "compute-node"], rows),
            "plan.transfer.chunk": generator.uniform(4096, 2.0**20, rows),
            "system.link.bandwidth": np.where(generator.random(rows) < 0.3, np.nan, bandwidth),
        }
    )


def test_a_hundred_thousand_jobs_take_seconds() -> None:
    """2 s on a quiet machine (tests/benchmarks); here four times that, since tests run beside each other."""
    pm.evaluate_frame(many(100))
    started = time.process_time()
    found = pm.evaluate_frame(many(100_000))
    assert time.process_time() - started < 8.0
    assert found["time_s"].notna().all()
