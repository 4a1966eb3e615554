"""M-DGNN's published numbers: which contradict each other, the fit that is shipped, and what nothing was fitted to."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.published import mdgnn
from calibration.published.mdgnn_consistency import NEAR_DATA, ceilings, conflicts, distance, is_tied, set_apart
from calibration.published.mdgnn_constants import CONSTANTS, FOLLOWERS
from calibration.published.mdgnn_quantities import Quantities
from calibration.published.mdgnn_table import DATASETS, Configuration, Published
from perfmodel.spec.catalog import DATA

APART = {"p2p-speedup-avg", "p2p-speedup-am-l8"}


@pytest.fixture(scope="module")
def rows() -> list[Published]:
    return mdgnn.read_table()


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Return what ``validate mdgnn`` says."""
    return mdgnn.validate()


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    return tomllib.loads((DATA / "profiles" / "mdgnn.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def constants(shipped: dict[str, Any]) -> np.ndarray:
    return np.array([parameter["value"] for parameter in shipped["parameters"] if parameter["fitted"]])


@pytest.fixture(scope="module")
def fitting(rows: list[Published]) -> mdgnn.Fitting:
    return mdgnn.Fitting(rows)


def asked(system: str, baseline: str, layers: int, csds: int = 4, quantity: str = "end-to-end speedup") -> Published:
    """Return a row of all datasets."""
    configurations = tuple(Configuration(dataset, layers, csds) for dataset in DATASETS)
    return Published("all", quantity, system, baseline, csds, configurations, 1.0, 0.0, "x", "peak", ())


def test_every_row_that_nothing_contradicts_is_met(found: dict[str, Any]) -> None:
    counted = [row for row in found["rows"] if not row["properties"]]
    assert len(counted) == found["summary"]["n"] == 16
    assert found["summary"]["median_ape"] <= 0.03
    assert found["summary"]["max_ape"] <= 0.10
    assert max(row["ape"] for row in counted if "energy" in row["quantity"]) <= 0.02
    assert found["summary"]["coverage_90"] >= 0.9
    assert found["within_bounds"]
    assert found["fitted_parameters"] == len(CONSTANTS) == 6


def test_the_control_plane_stays_below_its_bound(found: dict[str, Any]) -> None:
    (row,) = (row for row in found["rows"] if "upper bound" in row["properties"])
    assert 0.2 * row["measured"] < row["predicted"] <= row["measured"]


def test_contradictions_are_found(found: dict[str, Any]) -> None:
    """Among them the one that shares and speedups of P2P show by Amdahl's identity alone."""
    sets = [set(conflict["rows"]) for conflict in found["conflicts"]]
    assert {"rnn-share-mbase-avg", "rnn-share-mp2p-avg", "p2p-speedup-avg"} in sets
    assert all(each & APART for each in sets)
    assert {row["id"] for row in found["rows"] if "contradicted" in row["properties"]} == APART
    assert found["summary_contradicted"]["n"] == 2
    assert (1 - 0.3162) / (1 - 0.6407) > 1.3 * 1.44


def test_no_conflict_has_a_row_to_spare(rows: list[Published], found: dict[str, Any]) -> None:
    by_id = {row.id: row for row in rows}
    for conflict in found["conflicts"]:
        own = [by_id[name] for name in conflict["rows"]]
        assert distance(own, ceilings(rows)) > 0.02
        for row in own:
            assert distance([other for other in own if other is not row], ceilings(rows)) == 0.0


def made(rows: Sequence[Published], model: Quantities) -> list[Published]:
    """Return rows with the numbers of a model in place of the published ones, to four digits."""
    values = [float(f"{model.row(row)[0]:.4g}") for row in rows]
    return [row._replace(value=value, resolution=1e-4) for row, value in zip(rows, values, strict=True)]


def test_numbers_of_one_machine_do_not_contradict_each_other(rows: list[Published]) -> None:
    assert conflicts(made(rows, Quantities(rows))) == []


@pytest.mark.parametrize(("name", "factor"), [("p2p-speedup-avg", 0.8), ("blad-over-mbase-am-l4", 1.2)])
def test_one_number_that_does_not_fit_is_in_every_conflict(rows: list[Published], name: str, factor: float) -> None:
    spoiled = [
        row._replace(value=row.value * factor) if row.id == name else row for row in made(rows, Quantities(rows))
    ]
    clashes = conflicts(spoiled)
    assert clashes
    assert set_apart(clashes, lambda row: float(row == name)) == (name,)


def test_more_than_amdahl_allows_is_a_conflict_by_itself(rows: list[Published]) -> None:
    row = next(row for row in rows if row.id == "scale-mdgnn-rd-l4-16")
    assert [conflict.rows for conflict in conflicts([row._replace(value=17.0)])] == [(row.id,)]
    assert conflicts([row._replace(value=15.9)]) == []


def test_nothing_ties_systems_around_the_host_over_device_counts(rows: list[Published]) -> None:
    row = next(row for row in rows if row.id == "scale-mdgnn-rd-l4-16")
    other = row._replace(id="blad", system="blad", baseline="blad", value=30.0)
    assert not is_tied(other)
    assert conflicts([other]) == []
    assert all(is_tied(row) for row in rows if not row.is_bound)
    assert set(NEAR_DATA) == {"m-base", "m-p2p", "m-dgnn"}


def test_the_shipped_profile_is_a_fresh_fit(fitting: mdgnn.Fitting, constants: np.ndarray) -> None:
    fresh = fitting.fitted(APART)
    assert fresh.values == pytest.approx(constants, rel=1e-3)
    assert np.all(np.isfinite(fresh.covariance))


@pytest.mark.slow
def test_the_command_writes_the_shipped_profile(tmp_path: Path, shipped: dict[str, Any]) -> None:
    out = tmp_path / "profile.toml"
    command = [sys.executable, "-m", "calibration.published", "mdgnn", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fresh = tomllib.loads(out.read_text(encoding="utf-8"))
    assert fresh["data"] == shipped["data"], "the profile was fitted to another table"
    assert fresh["residual"]["rest"] == pytest.approx(shipped["residual"]["rest"], rel=1e-2)
    for new, old in zip(fresh["parameters"], shipped["parameters"], strict=True):
        assert (new["entry"], new["fields"]) == (old["entry"], old["fields"])
        assert new["value"] == pytest.approx(old["value"], rel=1e-3)


def test_constants_lie_well_within_what_is_possible(shipped: dict[str, Any]) -> None:
    for parameter in shipped["parameters"]:
        (low, high), (least, most) = parameter["interval"], parameter["bounds"]
        assert 1.3 * least < low < parameter["value"] < high < most / 1.3
        assert high / low < 2.5
    assert sum(parameter["fitted"] for parameter in shipped["parameters"]) == len(CONSTANTS)
    assert len(shipped["parameters"]) == len(CONSTANTS) + len(FOLLOWERS)


def test_the_fit_finds_constants_that_are_known(rows: list[Published]) -> None:
    truth = np.array([2.5, 6.0, 2.5e-6, 9e-8, 0.5, 0.9])
    model = Quantities(rows, mdgnn.profile_table(truth.tolist())).at(mdgnn.with_followers(truth))
    own = [row for row in rows if not row.is_bound]
    made_up = [row._replace(value=float(model.row(row)[0])) for row in own]
    assert mdgnn.Fitting(made_up).fitted().values == pytest.approx(truth, rel=2e-3)


#: Rows that a constant moves by more than a hundredth per tenth of itself, among others.
FIXES = {
    "stack.passes": "rnn-share-mbase-avg",
    "stack.reads": "blad-over-mbase-am-l4",
    "peer.time_per_message": "scale-mdgnn-rd-l32-16",
    "graph.time_per_node": "flash-share-mp2p-avg",
    "pool.share": "flash-share-mdgnn-avg",
    "power": "energy-mp2p-vs-mbase",
}


@pytest.mark.parametrize(("field", "name"), FIXES.items())
def test_what_fixes_which_constant(
    fitting: mdgnn.Fitting, constants: np.ndarray, rows: list[Published], field: str, name: str
) -> None:
    index = next(number for number, constant in enumerate(CONSTANTS) if constant.fields == (field,))
    row = next(row for row in rows if row.id == name)
    less, more = (constants * np.where(np.arange(constants.size) == index, factor, 1.0) for factor in (0.95, 1.05))
    assert abs(fitting.off(row, more) - fitting.off(row, less)) > 0.01


def test_two_terms_make_the_scaling_rows(rows: list[Published]) -> None:
    """T = a layers/devices + b (layers - 1): one b/a meets both of Reddit's rows; the model takes the same form."""

    def ratio(row: Published) -> float:
        layers = row.configurations[0].layers
        serial = (16 / row.value - 1) / 15
        return serial / (1 - serial) * layers / (layers - 1)

    by_id = {row.id: row for row in rows}
    assert ratio(by_id["scale-mdgnn-rd-l4-16"]) == pytest.approx(ratio(by_id["scale-mdgnn-rd-l32-16"]), rel=0.01)
    reddit, amazon = (ratio(by_id[f"scale-mdgnn-{name}-l32-16"]) for name in ("rd", "am"))
    assert amazon > 1.15 * reddit
    model = Quantities(rows)
    predicted = [
        ratio(row._replace(value=float(model.row(row)[0])))
        for row in rows
        if row.system == "m-dgnn" and "scale" in row.id
    ]
    assert predicted[0] == pytest.approx(predicted[1], rel=0.01)
    assert predicted[2] > 1.1 * predicted[0]


def test_peaks_are_peaks_over_all_datasets() -> None:
    """The text has 6.2x over BLAD and 2.85x over M-Base as the largest of seven datasets."""
    over_blad, over_base = asked("m-dgnn", "blad", 4), asked("m-dgnn", "m-base", 4)._replace(id="base")
    model = Quantities([over_blad, over_base])
    assert model.row(over_blad)[0] == pytest.approx(6.2, rel=0.05)
    assert model.row(over_base)[0] == pytest.approx(2.85, rel=0.05)


def test_systems_around_the_host_trail_on_every_dataset() -> None:
    rows = [
        asked(system, "m-base", layers)._replace(id=f"{system} {layers}", quantity="normalized throughput")
        for system in ("esdg", "blad", "dgc")
        for layers in (4, 16, 32)
    ]
    model = Quantities(rows)
    assert max(float(model.row(row)[0]) for row in rows) < 0.85


def test_margins_shrink_with_depth() -> None:
    rows = [
        asked("m-dgnn", other, layers)._replace(id=f"{other} {layers}")
        for other in ("blad", "m-base")
        for layers in (4, 16, 32)
    ]
    model = Quantities(rows)
    gains = [float(model.row(row)[0]) for row in rows]
    assert gains[:3] == sorted(gains[:3], reverse=True)
    assert gains[3:] == sorted(gains[3:], reverse=True)
