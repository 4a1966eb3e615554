"""What users write wrong: every mistake is one SpecError with where, rule, got and, where there is one, a nearest choice."""

from __future__ import annotations

import copy
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import perfmodel as pm
from perfmodel.errors import MissingCalibration, PerfmodelError, SpecError

SOURCES = {"*": "assumed: for this test"}
SLOT = {"cv": 1.5, "largest": 1000}
WORKLOAD: dict[str, Any] = {
    "name": "w",
    "graph": {
        "name": "g",
        "node_types": {"post": {"nodes": 10_000, "feature_dimension": 64, "degrees": {"link": SLOT}}},
        "relations": [
            {"source": "post", "name": "link", "target": "post", "edges": 200_000, "source_slot": "link", "target_slot": "link"}
        ],
        "sources": SOURCES,
    },
    "sampling": {"batch": 64, "fanout": [10, 5], "seeds": {"node_type": "post", "nodes": 1000}},
    "model": {"layers": 3, "classes": 5},
    "sources": SOURCES,
}  # fmt: skip
DEVICE: dict[str, Any] = {
    "name": "box",
    "kind": "cpu",
    "memory": "64 GB",
    "memory_bandwidth": "100 GB/s",
    "cores": 8,
    "sampling": {"time_per_edge": "0.1 us/edge", "time_per_node": "1 us/node"},
    "quantization": {"time_per_element": "0.5 ns", "time_per_element_back": "0.2 ns"},
    "sources": SOURCES,
}
SYSTEM: dict[str, Any] = {
    "name": "s",
    "memory_node": {**DEVICE, "name": "nic", "kind": "smartnic"},
    "compute_node": DEVICE,
    "gpu": {**DEVICE, "name": "card", "kind": "gpu", "peak_flops": "10 TFLOPS"},
    "link": {"name": "wire", "bandwidth": "10 GB/s", "sources": SOURCES},
    "gpu_link": {"name": "bus", "bandwidth": "12 GB/s", "sources": SOURCES},
}
PLAN: dict[str, Any] = {"name": "p", "transfer": {"chunk": "1 MiB", "window": 2}, "sources": SOURCES}
TABLES = {"workload": WORKLOAD, "system": SYSTEM, "plan": PLAN}


def load(**changes: Any) -> Any:
    """Load the small scenario with values put at dotted keys: ``workload__graph__name=...``."""
    tables = copy.deepcopy(TABLES)
    for key, value in changes.items():
        node: Any = tables
        *parts, last = key.split("__")
        for part in parts:
            node = node[int(part) if isinstance(node, list) else part]
        node[last] = value
    return pm.load_scenario(tables["workload"], tables["system"], tables["plan"])


def sentence(call: Callable[[], object]) -> SpecError:
    """Return the SpecError that the call raises, checked for its four parts."""
    with pytest.raises(SpecError) as caught:
        call()
    error = caught.value
    assert error.where
    assert error.rule
    assert str(error.got)
    assert str(error).isprintable()
    assert len(str(error)) < 600
    assert error.__cause__ is None
    return error


def test_the_small_scenario_is_good() -> None:
    assert pm.predict(load()).time_s > 0


@pytest.mark.parametrize(
    ("key", "value", "where", "rule", "near"),
    [
        ("plan__transfer__chunck", 5, "plan.transfer.chunck", "is not a known key", "chunk"),
        ("workload__modle", {}, "workload.modle", "is not a known key", "model"),
        ("workload__sampling__fanouts", "5", "workload.sampling.fanouts", "is not a known key", "fanout"),
        ("system__link__bandwith", "1 GB/s", "system.link.bandwith", "is not a known key", "bandwidth"),
        (
            "workload__graph__node_types__post__node",
            5,
            "workload.graph.node_types.post.node",
            "is not a known key",
            "nodes",
        ),
        ("plan__transfer__chunk", "1 GB/s", "plan.transfer.chunk", "must be in B", "1 MiB"),
        ("plan__transfer__chunk", "1 gb", "plan.transfer.chunk", "must be in B", "1 MiB"),
        ("plan__transfer__chunk", "big", "plan.transfer.chunk", "must be a number with a unit such as 1 MiB", None),
        ("plan__transfer__chunk", -1, "plan.transfer.chunk", "must be above 0 B", "1 MiB"),
        ("plan__transfer__chunk", 0, "plan.transfer.chunk", "must be above 0 B", "1 MiB"),
        ("plan__transfer__chunk", float("inf"), "plan.transfer.chunk", "at most", "888.2 PiB"),
        ("plan__transfer__chunk", float("nan"), "plan.transfer.chunk", "must be a number", None),
        ("plan__transfer__chunk", None, "plan.transfer.chunk", "must be a number or a text in B", None),
        ("plan__transfer__chunk", True, "plan.transfer.chunk", "must be a number or a text in B", None),
        ("plan__transfer__window", 0.5, "plan.transfer.window", "must be at least 1", "1"),
        ("plan__workers", -3, "plan.workers", "must be at least 0", "0"),
        ("plan__devices", 0, "plan.devices", "must be at least 1", "1"),
        ("plan__precision", {"features": "fp61"}, "plan.precision.features", "must be one of fp32", "fp16"),
        ("plan__precision", {"features": 16}, "plan.precision.features", "must be one of fp32", None),
        (
            "plan__placement",
            {"sampling": "smart-nic"},
            "plan.placement.sampling",
            "must be one of memory-node",
            "compute-node | memory-node",
        ),
        ("plan__overlap", "pipeline", "plan.overlap", "must be one of", "pipelined"),
        ("system__memory_node__memory", "16 GB/s", "system.memory_node.memory", "must be in B", "1 MiB"),
        ("system__memory_node__memory", "inf GB", "system.memory_node.memory", "at most", None),
        ("system__memory_node__cores", 0, "system.memory_node.cores", "must be at least 1", "1"),
        ("system__memory_node__kind", "nic", "system.memory_node.kind", "must be one of", "smartnic"),
        (
            "system__memory_node__sampling__serial_share",
            1.5,
            "system.memory_node.sampling.serial_share",
            "at least 0 and at most 1",
            "1",
        ),
        (
            "system__memory_node__sampling__time_per_edge",
            "inf s/edge",
            "system.memory_node.sampling.time_per_edge",
            "at most",
            None,
        ),
        (
            "system__memory_node__sampling__time_per_edge",
            "1 us/node",
            "system.memory_node.sampling.time_per_edge",
            "must be in s/edge",
            "1 s/edge",
        ),
        ("system__link__bandwidth", 0, "system.link.bandwidth", "must be above 0 B/s", "25 GB/s"),
        ("system__link__bandwidth", "100 Gbit", "system.link.bandwidth", "must be in B/s", "25 GB/s"),
        ("system__link__latency", "-1 us", "system.link.latency", "must be at least 0 s", "0 s"),
        ("system__link", {"name": "wire"}, "system.link.bandwidth", "must be given", None),
        ("system__gpu", None, "system.gpu", "dictionary", None),
        ("workload__name", 7, "workload.name", "string", None),
        ("workload__name", None, "workload.name", "string", None),
        ("workload__sampling__batch", 0, "workload.sampling.batch", "must be at least 1 node", "1 node"),
        ("workload__sampling__batch", "many", "workload.sampling.batch", "must be a number", None),
        ("workload__sampling__semantics", "DGL ", "workload.sampling.semantics", "must be one of pyg, dgl", "dgl"),
        ("workload__sampling__seeds__node_type", "posts", "workload", "must be a node type", "post"),
        ("workload__model__layers", 0, "workload.model.layers", "greater than or equal to 1", None),
        ("workload__model__hidden", -1, "workload.model.hidden", "must be at least 1", "1"),
        ("workload__graph__relations", "link", "workload.graph.relations", "tuple", None),
        ("workload__graph__relations__0__source", "pots", "workload.graph", "must be a node type", "post"),
        ("workload__graph__relations__0__source_slot", "lnk", "workload.graph", "must be a slot of post", "link"),
        (
            "workload__graph__relations__0__edges",
            1e9,
            "workload.graph",
            "mean degree of at most the largest",
            "1e+07 edges",
        ),
        ("workload__graph__node_types", [], "workload.graph.node_types", "dictionary", None),
        (
            "workload__graph__node_types__post__nodes",
            0.2,
            "workload.graph.node_types.post.nodes",
            "must be at least 1",
            None,
        ),
        ("workload__graph__node_types__post__degrees__link__cv", -1, "degrees.link.cv", "must be at least 0", "0"),
        ("workload__graph__sources", [], "workload.graph.sources", "dictionary", None),
    ],
)
def test_a_wrong_value_is_named_where_it_stands(
    key: str, value: object, where: str, rule: str, near: str | None
) -> None:
    error = sentence(lambda: load(**{key: value}))
    assert where in error.where
    assert rule in error.rule
    if near is not None:
        assert error.nearest == near


@pytest.mark.parametrize(
    ("fanout", "rule", "near"),
    [
        ([10, 0], "must be at least 1, or -1 to keep all neighbors", "1"),
        ([10, -2], "must be at least 1, or -1 to keep all neighbors", "-1"),
        ("10,-7", "must be at least 1, or -1 to keep all neighbors", "-1"),
        (0, "must be at least 1", "1"),
        ([10, 2.5], "must be a whole number of neighbors", "10"),
        ([10, True], "must be a whole number of neighbors", "10"),
        ([10, "5"], "must be a whole number of neighbors", "10"),
        ([10, None], "must be a whole number of neighbors", "10"),
        ("10,2.5", "must be whole numbers such as 15,10,5", "15,10,5"),
        ("ten", "must be whole numbers such as 15,10,5", "15,10,5"),
        ([2_000_000_000], "must be at most 1e9 neighbors", "-1"),
        ([], "at least 1 item", None),
        ("", "at least 1 item", None),
        ("[]", "at least 1 item", None),
        ([5, 5, 5, 5], "must not have more hops than the model has layers (3)", "5,5,5"),
        (None, "tuple", None),
        ({"hop": 5}, "tuple", None),
        (2.5, "tuple", None),
    ],
)
def test_fanouts_that_no_sampler_takes(fanout: object, rule: str, near: str | None) -> None:
    error = sentence(lambda: load(workload__sampling__fanout=fanout))
    assert "workload" in error.where
    assert rule in error.rule
    assert error.nearest == near


@pytest.mark.parametrize(
    ("fanout", "expected"), [("15, 10", (15, 10)), ("[-1,-1]", (-1, -1)), ("5 5", (5, 5)), (-1, (-1,)), ((3,), (3,))]
)
def test_fanouts_that_are_taken(fanout: object, expected: tuple[int, ...]) -> None:
    assert load(workload__sampling__fanout=fanout).workload.sampling.fanout == expected


@pytest.mark.parametrize("part", ["workload", "system", "plan"])
@pytest.mark.parametrize(
    "value", [[], [[]], [1, 2], 0, 1.5, True, b"reddit", {}, {"use": None}, {"use": {}}, {"use": "nope"}, "", "nope"]
)
def test_what_is_no_table(part: str, value: object) -> None:
    tables = {**TABLES, part: value}
    sentence(lambda: pm.load_scenario(tables["workload"], tables["system"], tables["plan"]))


def test_parts_of_an_entry_that_is_used_may_be_named_used_or_changed() -> None:
    """``use`` takes an entry as it is but for what stands beside it: another device, a changed one, one of its fields."""
    system = {
        "use": "lgnnic-doca-dma",
        "compute_node": {"use": "epyc-7513", "memory": "64 GiB"},
        "gpu": "v100-16gb",
        "link": {"bandwidth": "5 GB/s"},
    }
    found = pm.load_scenario("reddit", system).system
    whole = pm.load_scenario("reddit", "lgnnic-doca-dma").system
    assert (found.gpu.name, found.gpu.memory) == ("v100-16gb", 16 * 2**30)
    assert found.compute_node == whole.compute_node.model_copy(update={"memory": 64.0 * 2**30})
    assert found.link == whole.link.model_copy(update={"bandwidth": 5e9})
    assert found.memory_node == whole.memory_node
    error = sentence(lambda: pm.load_scenario("reddit", {**system, "gpu": "v100-16bg"}))
    assert (error.where, error.nearest) == ("system: gpu", "v100-16gb")


def test_an_unknown_name_gets_the_nearest_of_the_catalog() -> None:
    assert sentence(lambda: pm.load_scenario("redit", "lgnnic-doca-dma")).nearest == "reddit"
    assert sentence(lambda: pm.load_scenario("reddit", "lgnnic-doca")).nearest == "lgnnic-doca-dma"
    assert sentence(lambda: pm.load_scenario("reddit", "lgnnic-doca-dma", "defualt")).nearest == "default"
    assert pm.load_scenario("REDDIT", "LGNNIC-doca-dma").workload.name == "reddit"


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("broken.toml", b"name = \n", "must be valid TOML"),
        ("twice.toml", b"a = 1\na = 2\n", "must be valid TOML"),
        ("open.toml", b"[graph", "must be valid TOML"),
        ("binary.toml", bytes(range(256)), "must be TOML text"),
        ("zero.toml", b"name = 'a\0b'", "must be TOML text"),
        ("latin.toml", "name = 'é'".encode("latin-1"), "must be TOML text"),
        ("deep.toml", b"a = " + b"[" * 100_000, "must be valid TOML"),
        ("digits.toml", b"a = " + b"1" * 10_000, "must be valid TOML"),
        ("array.toml", b"name = ['a', 'b']", "should be a valid string"),
        ("empty.toml", b"", "must be given"),
        ("other.toml", b"[package]\nname = 'x'", ""),
    ],
)  # fmt: skip
def test_broken_files(tmp_path: pathlib.Path, name: str, content: bytes, rule: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    error = sentence(lambda: pm.load_scenario(str(path), SYSTEM, PLAN))
    assert rule in error.rule


def test_missing_files_and_folders(tmp_path: pathlib.Path) -> None:
    (tmp_path / "reddit-mine.toml").write_text("name = 'x'")
    missing = sentence(lambda: pm.load_scenario(str(tmp_path / "redit-mine.toml"), SYSTEM))
    assert (missing.rule, missing.got, missing.nearest) == (
        "must be a file that exists",
        "no such file",
        "reddit-mine.toml",
    )
    assert sentence(lambda: pm.load_scenario(str(tmp_path), SYSTEM)).got == "a directory"
    assert sentence(lambda: pm.load_scenario(str(tmp_path / "no" / "such" / "x.toml"), SYSTEM)).got == "no such file"
    for name in ("x" * 100_000, "a\0b.toml", "x" * 5000 + ".toml", "/" + "y" * 300, "\0"):
        sentence(lambda name=name: pm.load_scenario(name, SYSTEM))


def test_a_huge_file_is_not_read_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(200 * 2**30)  # sparse: takes no space
    assert "64 MiB" in sentence(lambda: pm.load_scenario(str(path), SYSTEM)).rule


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device files")
def test_a_device_without_end_is_refused() -> None:
    assert "64 MiB" in sentence(lambda: pm.load_scenario("/dev/zero", SYSTEM)).rule


def test_an_unreadable_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.toml"
    path.write_text("name = 'x'")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "open", denied)
    assert sentence(lambda: pm.load_scenario(str(path), SYSTEM)).got == "Permission denied"


@pytest.mark.parametrize(
    ("key", "value", "near"),
    [
        ("plan.transfer.chunck", 5, "chunk"),
        ("paln.transfer.chunk", 5, "plan"),
        ("plan", 5, "plan"),
        ("", 5, None),
        ("plan.", 5, None),
        ("plan..chunk", 5, None),
        ("plan.transfer", 5, None),
        ("plan.transfer.chunk.x", 5, None),
        (3, 5, None),
        (None, 5, None),
        ("system.link", "etherent", None),
        ("workload.graph", "redit", "reddit"),
        ("plan.transfer.chunk", "5 s", "1 MiB"),
        ("x" * 10_000, 1, None),
    ],
)
def test_changes(key: Any, value: object, near: str | None) -> None:
    scenario = load()
    for call in (lambda: scenario.replace({key: value}), lambda: pm.evaluate(scenario, {key: [value, value]})):
        error = sentence(call)
        if near is not None:
            assert error.nearest == near
    sentence(lambda: pm.load_scenario(WORKLOAD, SYSTEM, PLAN, changes={key: value}))


@pytest.mark.parametrize("value", [[1], "plan.workers=3", 3, ["plan.workers", 3]])
def test_changes_that_are_no_mapping(value: Any) -> None:
    sentence(lambda: pm.load_scenario(WORKLOAD, SYSTEM, PLAN, changes=value))
    sentence(lambda: pm.evaluate(load(), value))


@pytest.mark.parametrize(
    "column",
    [
        [1, np.nan],
        [1e6, -1],
        [0.0],
        ["1 MiB", "1 s"],
        ["1 MiB", ""],
        [None],
        [1 + 2j],
        [True, False],
        [[1], [1, 2]],
        [[1, 2]],
        [{}],
        np.inf,
    ],
)
def test_columns(column: Any) -> None:
    error = sentence(lambda: pm.evaluate(load(), {"plan.transfer.chunk": column}))
    assert error.where == "plan.transfer.chunk"


def test_columns_of_unlike_length_and_none_at_all() -> None:
    scenario = load()
    sentence(lambda: pm.evaluate(scenario, {"plan.transfer.chunk": [1, 2], "plan.workers": [1, 2, 3]}))
    sentence(lambda: pm.evaluate(scenario, {})["time"])
    assert pm.evaluate(scenario, {"plan.transfer.chunk": []})["time_s"].shape == (0,)
    assert pm.evaluate(scenario, {"plan.precision.features": []})["feasible"].shape == (0,)


def test_a_number_that_no_one_knows_is_asked_for() -> None:
    scenario = load(system__memory_node__sampling={"time_per_edge": "0.1 us/edge"})
    with pytest.raises(MissingCalibration, match=r"system\.memory_node\.sampling\.time_per_node"):
        pm.predict(scenario)


def _odd() -> list[Any]:
    loop: dict[str, Any] = {}
    loop["use"] = loop["again"] = loop
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"a": deep}
    return [
        None,
        [],
        {},
        [[]],
        [1, 2],
        "",
        0,
        -1,
        0.5,
        float("inf"),
        float("nan"),
        True,
        "x" * 100_000,
        "\0",
        "日本",
        "-1 GB",
        "1e999 B",
        b"abc",
        object(),
        set(),
        (1,),
        {"use": None},
        {1: 2},
        loop,
        deep,
        10**400,
        10**6000,
        1 + 2j,
        "nan",
        [None],
        [{}],
        "../..",
    ]


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield from _places(value, (*path, key))


@pytest.mark.parametrize("part", ["workload", "system", "plan"])
def test_odd_values_anywhere_are_taken_or_refused(part: str) -> None:
    """Every place of the tables takes every odd value; what loads must also predict."""
    sentences: list[str] = []
    for path in _places(TABLES[part]):
        for value in _odd():
            tables = copy.deepcopy(TABLES)
            node: Any = tables
            for step in (part, *path)[:-1]:
                node = node[step]
            node[(part, *path)[-1]] = value
            try:
                pm.predict(pm.load_scenario(tables["workload"], tables["system"], tables["plan"]))
            except PerfmodelError as error:
                sentences.append(str(error))
    assert len(sentences) > 100
    assert all(len(sentence) < 600 and sentence.isprintable() for sentence in sentences)


def test_a_file_that_starts_from_an_entry(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('use = "lgnnic-doca-dma"\nname = "mine"\nlink = { use = "doca-dma", max_chunk = "8 MiB" }\n')
    scenario = pm.load_scenario("reddit", path)
    assert scenario.system.name == "mine"
    assert scenario.system.link.max_chunk == 8 * 2**20
    plain = pm.load_scenario("reddit", "lgnnic-doca-dma")
    assert scenario.system.memory_node == plain.system.memory_node
    assert scenario.inputs.keys() > plain.inputs.keys() - {"workloads/reddit"}
    path.write_text('use = "lgnnic-doca-dna"\n')
    assert sentence(lambda: pm.load_scenario("reddit", path)).nearest == "lgnnic-doca-dma"
