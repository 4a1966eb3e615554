"""Spaces and their grids: what is refused, how plans are numbered, which parameters exist when."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.search.grid import Grid
from perfmodel.search.space import Space

SCENARIO = pm.load_scenario("reddit", "lgnnic-doca-dma")
LOCAL = pm.load_scenario("reddit", "lgnnic-local")


def grid(parameters: dict[str, Any], scenario: pm.Scenario = SCENARIO) -> Grid:
    return Grid.of(scenario, Space.of({"parameters": parameters}))


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (["4 KiB", "1 MiB"], (4096.0, 1048576.0)),
        ({"low": "4 KiB", "high": "64 KiB", "factor": 2}, (4096.0, 8192.0, 16384.0, 32768.0, 65536.0)),
        ({"low": "1 KiB", "high": "4 KiB", "step": "1 KiB"}, (1024.0, 2048.0, 3072.0, 4096.0)),
        ({"low": 1000, "high": 100000, "count": 3, "scale": "log"}, (1000.0, 10000.0, 100000.0)),
        ({"low": 1, "high": 4, "count": 7, "whole": True}, (1.0, 2.0, 3.0, 4.0)),
        ({"low": 10, "high": 10, "count": 5}, (10.0,)),
        ("64 KiB", (65536.0,)),
    ],
)
def test_values_of_a_parameter(parameter: Any, values: tuple[float, ...]) -> None:
    axis = grid({"plan.transfer.chunk": parameter}).axes[0]
    assert axis.values == pytest.approx(values)
    assert axis.unit == "B"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"plan.transfer.chunks": [1]}, "nearest valid choice: chunk"),
        ({"plam.transfer.chunk": [1]}, "must start with workload., system. or plan."),
        ({"plan.transfer.chunk": {"low": "1 MiB", "high": "4 KiB", "factor": 2}}, "empty range"),
        ({"plan.transfer.chunk": {"low": "1 MiB", "high": "4 KiB"}}, "empty range"),
        ({"plan.transfer.chunk": []}, "at least 1 item"),
        ({"plan.transfer.chunk": {"values": [1], "low": 2, "high": 3}}, "either values or a range"),
        ({"plan.transfer.chunk": {"low": 2}}, "values, or low and high"),
        ({"plan.transfer.chunk": {"low": 2, "high": 3, "step": 1, "count": 2}}, "only one of step, factor and count"),
        ({"plan.transfer.chunk": {"low": 2, "high": 3, "factor": 1}}, "factor"),
        ({"plan.transfer.chunk": {"low": 2, "high": 3, "step": 0}}, "must be above 0"),
        ({"plan.workers": {"low": 0, "high": 8, "factor": 2}}, "must be above 0 where each value is a factor"),
        ({"plan.transfer.chunk": {"low": 1, "high": 1e9, "step": 1}}, "at most 1,000,000 values"),
        ({"plan.transfer.chunk": ["4 GB/s"]}, "must be in B"),
        ({"plan.transfer.window": [0.5]}, "must be at least 1"),
        ({"plan.precision.features": ["fp33"]}, "nearest valid choice: fp32"),
        ({"plan.precision.features": {"low": 1, "high": 2}}, "must be one of fp32"),
        ({"system.link": [{"name": "x"}]}, "system.link"),
        ({"system.link": ["docadma"]}, "nearest valid choice: doca-dma"),
        ({"plan.transfer.chunk": {"values": [1], "wen": {}}}, "nearest valid choice: when"),
        (
            {"plan.transfer.chunk": {"values": [1], "when": {"plan.fetch": "frontier"}}},
            "another parameter of the space",
        ),
        (
            {
                "plan.fetch": ["frontier"],
                "plan.transfer.chunk": {"values": [1], "when": {"plan.fetch": "neighborhood"}},
            },
            "must name values that plan.fetch may have",
        ),
        (
            {"plan.transfer.chunk": {"values": [1], "when": {"plan.fetch": "frontier"}}, "plan.fetch": ["frontier"]},
            "stands before it",
        ),
        (
            {
                "system.link.bandwidth": {"low": "1 GB/s", "high": "2 GB/s"},
                "plan.transfer.chunk": {"values": [1], "when": {"system.link.bandwidth": 1e9}},
            },
            "with a list of values",
        ),
    ],
)
def test_a_wrong_space_is_a_sentence(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError) as error:
        grid(parameters)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_space_with_nothing_the_scenario_has_is_refused() -> None:
    with pytest.raises(SpecError, match="must have a parameter that the scenario has"):
        grid({"plan.transfer.chunk": {"values": [4096], "needs": "system.link"}}, LOCAL)
    with pytest.raises(SpecError, match="must name at least one"):
        Space.of({"parameters": {}})


def test_names_of_devices_are_roles_and_repeats_are_dropped() -> None:
    axis = grid({"plan.placement.sampling": ["smartnic", "memory-node", "host"]}).axes[0]
    assert axis.values == ("memory-node", "compute-node")


CONDITIONAL = {
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.devices": [1, 2, 4],
    "plan.transfer.window": {"values": [1, 2], "when": {"plan.devices": [2, 4]}},
    "plan.transfer.chunk": {"values": [4096, 8192], "when": {"plan.fetch": "frontier"}},
}


def test_conditions_are_counted_and_numbered() -> None:
    found = grid(CONDITIONAL)
    # memory node: 1 + 2 x 2 = 5; compute node with neighborhoods: 5; with frontiers: twice that
    assert found.size == 5 + 5 + 10
    points = [found.point(index) for index in range(found.size)]
    assert len(set(points)) == found.size
    assert [found.index(point) for point in points] == list(range(found.size))
    for point in points:
        values = found.assignment(point)
        assert ("plan.fetch" in values) == (values["plan.placement.sampling"] == "compute-node")
        assert ("plan.transfer.window" in values) == (values["plan.devices"] > 1)
        assert ("plan.transfer.chunk" in values) == (values.get("plan.fetch") == "frontier")
    with pytest.raises(IndexError):
        found.point(found.size)


def test_blocks_follow_the_numbering() -> None:
    found = grid(CONDITIONAL)
    index = 0
    blocks = list(found.blocks())
    assert len(blocks) == found.structures
    for block in blocks:
        assert block.offset == index
        for positions in itertools.product(*[range(length) for length in block.shape]):
            point = found.point(index)
            assert found.outer_of(point) == block.outer
            inner = [position for position in point[len(found.outer) :] if position is not None]
            assert inner == list(positions)
            index += 1
    assert index == found.size


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_space_of_lists_is_numbered_without_gaps(data: st.DataObject) -> None:
    names = ["plan.placement.sampling", "plan.overlap", "plan.workers", "plan.devices", "plan.transfer.window"]
    choices = {
        "plan.placement.sampling": ["memory-node", "compute-node"],
        "plan.overlap": ["sum", "pipelined", "overlap"],
        "plan.workers": [0, 1, 2],
        "plan.devices": [1, 2, 3],
        "plan.transfer.window": [1, 2],
    }
    parameters: dict[str, Any] = {}
    for name in data.draw(st.permutations(names)):
        when = {}
        for other in (
            data.draw(st.lists(st.sampled_from(sorted(parameters)), max_size=2, unique=True)) if parameters else []
        ):
            when[other] = data.draw(st.lists(st.sampled_from(choices[other]), min_size=1, unique=True))
        parameters[name] = {"values": choices[name], "when": when}
    found = grid(parameters)
    points = [found.point(index) for index in range(found.size)]
    assert len(set(points)) == len(points)
    assert [found.index(point) for point in points] == list(range(found.size))
    assert sum(block.size for block in found.blocks()) == found.size


def test_large_spaces_are_counted_without_listing_them() -> None:
    many = {f"system.memory_node.sampling.{name}": {"low": 1e-9, "high": 1e-6, "count": 1000, "scale": "log"}
            for name in ("time_per_edge", "time_per_node", "time_per_miss", "time_per_choice")}  # fmt: skip
    found = grid(many)
    assert found.size == 10**12
    assert found.index(found.point(987_654_321_012)) == 987_654_321_012


def test_ranges_of_all_numbers_can_not_be_counted() -> None:
    found = grid({"system.link.bandwidth": {"low": "1 GB/s", "high": "100 GB/s", "scale": "log"}})
    assert not found.enumerable
    with pytest.raises(SpecError, match="must have values"):
        _ = found.size
    generator = np.random.default_rng(0)
    drawn = [found.assignment(found.random(generator))["system.link.bandwidth"] for _ in range(100)]
    assert 1e9 <= min(drawn) < 3e9 < 30e9 < max(drawn) <= 100e9


def test_a_number_that_changes_which_phases_run_is_structural() -> None:
    axes = grid({"plan.preprocessing.feature_copies": [0, 2], "plan.loader.prefetched": [1, 2]}).axes
    assert [(axis.key, axis.structural) for axis in axes] == [
        ("plan.preprocessing.feature_copies", True),
        ("plan.loader.prefetched", False),
    ]


def test_neighbors_differ_in_one_parameter() -> None:
    found = grid({"plan.overlap": ["sum", "pipelined", "overlap"], "plan.workers": [0, 1, 2, 4]})
    near = list(found.neighbors((0, 2)))
    assert sorted(near) == [(0, (1, 2)), (0, (2, 2)), (1, (0, 1)), (1, (0, 3))]


def test_a_space_file(tmp_path: Any) -> None:
    path = tmp_path / "space.toml"
    path.write_text(
        'name = "small"\nconstraints = ["time <= 1 s"]\n[parameters]\n"plan.transfer.window" = [1, 2]\n'
        '"plan.transfer.chunk" = { low = "4 KiB", high = "1 MiB", factor = 4 }\n'
    )
    space = Space.of(str(path))
    assert (space.name, space.constraints) == ("small", ("time <= 1 s",))
    assert Grid.of(SCENARIO, space).size == 2 * 5
    path.write_text("[parameters]\n[parameters\n")
    with pytest.raises(SpecError, match="must be valid TOML"):
        Space.of(str(path))
    with pytest.raises(SpecError, match="no such file"):
        Space.of(str(tmp_path / "spice.toml"))
