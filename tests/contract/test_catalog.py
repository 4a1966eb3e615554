"""What every catalog entry must keep: it loads, names itself, and says of each number where it comes from.

The counts are held against other published numbers (means, totals, sizes of files), never against themselves.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

import perfmodel
from perfmodel.graph.from_spec import degree_profile, sampled_batch
from perfmodel.spec import catalog
from perfmodel.spec._base import SOURCE_KINDS, NamedSpec
from perfmodel.spec.families import families, family_of
from perfmodel.spec.families.sampled_training import Workload
from perfmodel.spec.graph import Graph
from perfmodel.spec.hardware import Device, Link
from perfmodel.spec.precision import PRECISIONS

KINDS = [kind for kind in catalog.KINDS if kind != "profiles"]  # a profile's parameters carry their own origin
ENTRIES = [(kind, name) for kind in KINDS for name in catalog.names(kind)]
PROMISED = {
    "systems": ["lgnnic-doca-dma", "lgnnic-sockets", "lgnnic-local", "buddy-none", "buddy-x86", "buddy-dpu"],
    "workloads": [
        *("reddit", "ogbn-products", "ogbn-mag"),
        *("histogram", "quicksilver", "sparse-transpose", "sssp", "triangle-counting"),
        *("ogbn-arxiv", "ogbn-papers100M", "MAG240M", "IGB", "Friendster"),
    ],
    "plans": ["default", "fp16", "no-offload", "no-offload-frontier"],
}
GIB = 2.0**30


@functools.cache
def entry(kind: str, name: str) -> Any:
    return catalog.load(kind, name)


def graph(name: str) -> Graph:
    found: Graph = entry("graphs", name)
    return found


def workload(name: str) -> Workload:
    found: Workload = entry("workloads", name)
    return found


def device(name: str) -> Device:
    found: Device = entry("devices", name)
    return found


def link(name: str) -> Link:
    found: Link = entry("links", name)
    return found


def edges(of: Graph, name: str) -> float:
    return next(relation.edges for relation in of.relations if relation.name == name)


def feature_bytes(of: Graph) -> float:
    width, _ = PRECISIONS[of.feature_precision]
    return sum(node_type.nodes * node_type.feature_dimension for node_type in of.node_types.values()) * width


def numbers(value: object, key: str = "") -> Iterator[str]:
    """Yield the dotted keys of the numbers that the file gives; entries within it answer for themselves."""
    if isinstance(value, BaseModel):
        children: list[tuple[str, object]] = [(name, getattr(value, name)) for name in sorted(value.model_fields_set)]
    elif isinstance(value, Mapping):
        children = [(str(name), inner) for name, inner in value.items()]
    elif isinstance(value, tuple):
        children = [(str(number), inner) for number, inner in enumerate(value)]
    else:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield key
        return
    for name, inner in children:
        if not isinstance(inner, NamedSpec):
            yield from numbers(inner, f"{key}.{name}" if key else name)


def named(spec: NamedSpec) -> Iterator[NamedSpec]:
    yield spec
    for field in type(spec).model_fields:
        inner = getattr(spec, field)
        if isinstance(inner, NamedSpec):
            yield from named(inner)


def leads_somewhere(spec: BaseModel, key: str) -> bool:
    node: Any = spec
    for part in key.split("."):
        if isinstance(node, BaseModel) and part in type(node).model_fields:
            node = getattr(node, part)
        elif isinstance(node, Mapping) and part in node:
            node = node[part]
        else:
            return False
    return True


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
class TestEveryEntry:
    def test_loads_and_names_itself(self, kind: str, name: str) -> None:
        spec = entry(kind, name)
        assert spec.name == name
        assert 0 < len(spec.title) <= 80
        assert "\n" not in spec.title

    def test_every_number_has_a_source(self, kind: str, name: str) -> None:
        for spec in named(entry(kind, name)):
            for key in numbers(spec):
                origin, _, text = spec.source_of(key).partition(": ")
                assert origin in SOURCE_KINDS, f"{spec.name}: {key}"
                assert text.strip(), f"{spec.name}: {key}"
                assert text != "no source given", f"{spec.name}: {key}"

    def test_every_source_is_of_something(self, kind: str, name: str) -> None:
        for spec in named(entry(kind, name)):
            for key in spec.sources:
                assert key == "*" or leads_somewhere(spec, key), f"{spec.name}: {key}"

    def test_cites_public_origins_only(self, kind: str, name: str) -> None:
        text = (catalog.DATA / kind / f"{name}.toml").read_text(encoding="utf-8")
        assert not re.search(r"\.\./|(^|[\s\"'])/\w|file://|[A-Z]:\\", text)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in PROMISED.items() for name in names])
def test_promised_names_exist(kind: str, name: str) -> None:
    assert name in catalog.names(kind)


def of_family(kind: str, family: str) -> list[str]:
    return [name for name in catalog.names(kind) if family_of(catalog.shipped_table(kind, name), name).name == family]


#: Every workload with every system of its family.
TOGETHER = [
    (workload, system)
    for family in families()
    for workload in of_family("workloads", family)
    for system in of_family("systems", family)
]


@pytest.mark.parametrize(("workload_name", "system"), TOGETHER)
def test_every_workload_runs_on_every_system_of_its_family(workload_name: str, system: str) -> None:
    family = family_of(catalog.shipped_table("workloads", workload_name), workload_name).name
    for plan in of_family("plans", family):
        scenario = perfmodel.load_scenario(workload_name, system, plan)
        assert scenario.workload.name == workload_name
        assert f"workloads/{workload_name}" in scenario.inputs
        assert f"systems/{system}" in scenario.inputs


@pytest.mark.parametrize("name", catalog.names("graphs"))
def test_degree_profile_keeps_the_edges_of_every_relation(name: str) -> None:
    """Both ends of a relation count the same edges: slots are wired to the right types."""
    spec = graph(name)
    profile = degree_profile(spec)
    for given, relation in zip(spec.relations, profile.relations, strict=True):
        assert profile.edges(relation) == pytest.approx(given.edges, rel=1e-6)
        assert profile.node_types[relation.source].edges(relation.source_slot) == pytest.approx(given.edges, rel=1e-6)


@pytest.mark.parametrize("name", catalog.names("graphs"))
def test_degree_spread_can_be_met(name: str) -> None:
    """The mean, the spread and the largest degree do not contradict each other."""
    spec = graph(name)
    profile = degree_profile(spec)
    for node_type, given in spec.node_types.items():
        classes = profile.node_types[node_type]
        for slot, statistics in given.degrees.items():
            degree = classes.degree[slot]
            mean = float((classes.share * degree).sum())
            deviation = float(np.sqrt((classes.share * (degree - mean) ** 2).sum()))
            assert deviation / mean == pytest.approx(statistics.cv, rel=0.01), f"{node_type}.{slot}"


@pytest.mark.parametrize("name", of_family("workloads", "sampled-training"))
def test_seeds_exist_and_hops_fit(name: str) -> None:
    spec = workload(name)
    seeds = spec.sampling.seeds
    assert spec.sampling.batch <= seeds.nodes <= spec.graph.node_types[seeds.node_type].nodes
    assert spec.model.layers is None or len(spec.sampling.fanout) <= spec.model.layers
    assert spec.model.classes > 1


@pytest.mark.parametrize("name", of_family("workloads", "sampled-training"))
def test_accuracy_keys_are_a_fanout_and_a_precision(name: str) -> None:
    spec = workload(name)
    for key, value in spec.accuracy.items():
        fanout, precision = key.split()
        assert all(int(hop) >= -1 for hop in fanout.split(","))
        assert precision in PRECISIONS
        assert abs(value - spec.accuracy[f"{fanout} fp32"]) < 0.015  # LGNNIC: relatively small in every configuration


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("reddit", 491.99),
        ("reddit2", 99.65),
        ("ogbn-products", 50.517),
        ("ogbn-arxiv", 13.67),
        ("ogbn-papers100M", 14.548),
        ("flickr", 10.081),
        ("yelp", 19.467),
        ("amazon-products", 168.373),
        ("cora", 3.898),
        ("citeseer", 2.736),
        ("pubmed", 4.496),
        ("com-LiveJournal", 17.35),
        ("com-Orkut", 76.28),
    ],
)
def test_edges_over_nodes_is_the_published_mean_degree(name: str, mean: float) -> None:
    spec = graph(name)
    assert spec.relations[0].edges / spec.node_types["node"].nodes == pytest.approx(mean, rel=5e-4)


@pytest.mark.parametrize(
    ("name", "second_moment"), [("cora", 42.53), ("citeseer", 18.92), ("pubmed", 75.43), ("reddit", 881_763.0)]
)
def test_spread_agrees_with_the_second_moment(name: str, second_moment: float) -> None:
    spec = graph(name)
    node = spec.node_types["node"]
    mean = spec.relations[0].edges / node.nodes
    assert mean**2 * (1 + node.degrees["neighbors"].cv ** 2) == pytest.approx(second_moment, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "undirected", "triangles", "closed"),
    [
        ("Friendster", 1_806_067_135, 4_173_724_142, 0.005859),
        ("com-LiveJournal", 34_681_189, 177_820_130, 0.04559),
        ("com-Orkut", 117_185_083, 627_584_181, 0.01414),
    ],
)
def test_social_graphs_agree_with_their_triangle_counts(
    name: str, undirected: float, triangles: float, closed: float
) -> None:
    """Pairs of neighbors are three for each triangle and one for each open triad: their number is E[d (d - 1)] / 2."""
    spec = graph(name)
    node = spec.node_types["node"]
    assert spec.relations[0].edges == 2 * undirected
    pairs = triangles * (1 / closed - 1) + 3 * triangles
    mean = 2 * undirected / node.nodes
    variance = 2 * pairs / node.nodes + mean - mean**2
    assert node.degrees["neighbors"].cv == pytest.approx(np.sqrt(variance) / mean, rel=1e-3)


def test_ogbn_products_agrees_with_the_paper_and_its_split() -> None:
    spec = workload("ogbn-products")
    assert spec.graph.relations[0].edges == 2 * 61_859_140  # LGNNIC, Table 1, counts undirected edges
    assert spec.graph.node_types["node"].nodes - spec.sampling.seeds.nodes == 39_323 + 2_213_091  # validation and test
    assert len(sampled_batch(spec).tensors) == 3  # LGNNIC, section 5.2


def test_reddit_agrees_with_its_split() -> None:
    spec = workload("reddit")
    assert spec.graph.node_types["node"].nodes - spec.sampling.seeds.nodes == 23_831 + 55_703
    assert len(sampled_batch(spec).tensors) == 3


def test_ogbn_mag_agrees_with_the_paper() -> None:
    """LGNNIC's Table 1 counts all nodes and the four relations as stored; section 5.2 lists twelve packets."""
    spec = workload("ogbn-mag")
    one_way = {name: edges(spec.graph, name) for name in ("affiliated_with", "writes", "has_topic")}
    assert sum(node_type.nodes for node_type in spec.graph.node_types.values()) == 1_939_743
    cites = 21_111_007 - sum(one_way.values())
    assert 0.99 * 2 * cites < edges(spec.graph, "cites") < 2 * cites  # symmetrized, duplicates merged
    assert {name: edges(spec.graph, f"rev_{name}") for name in one_way} == one_way
    assert len(spec.graph.relations) == 7
    kinds = [tensor.kind for tensor in sampled_batch(spec).tensors]
    assert [kinds.count(kind) for kind in ("features", "labels", "edge_index")] == [4, 1, 7]


def test_papers100m_agrees_with_the_size_of_its_features() -> None:
    directed, symmetrized = graph("ogbn-papers100M"), graph("ogbn-papers100M-symmetrized")
    assert feature_bytes(directed) / 2**20 == pytest.approx(54_228, rel=1e-4)
    assert 0.99 * 2 < symmetrized.relations[0].edges / directed.relations[0].edges < 2
    assert symmetrized.node_types["node"].nodes == directed.node_types["node"].nodes


def test_mag240m_agrees_with_the_sizes_that_dgl_gives() -> None:
    """About 350 GB (GiB) of fp16 features; 55 GB are 16 B (two int64 ends) for every edge in both directions."""
    spec = graph("MAG240M")
    assert feature_bytes(spec) / GIB == pytest.approx(350, rel=0.01)
    assert 16 * sum(relation.edges for relation in spec.relations) == pytest.approx(55e9, rel=0.01)


def test_igb_agrees_with_its_totals() -> None:
    spec = workload("IGB")
    papers = spec.graph.node_types["paper"].nodes
    assert sum(node_type.nodes for node_type in spec.graph.node_types.values()) == 547_306_935
    assert sum(relation.edges for relation in spec.graph.relations) == 5_812_005_639
    assert edges(spec.graph, "cites") - papers == 3_727_095_830  # without the self loops
    assert graph("igb-tiny").relations[0].edges - graph("igb-tiny").node_types["node"].nodes == 447_416
    assert spec.sampling.seeds.nodes == int(0.6 * 227_130_858)


def test_memory_bandwidths_follow_from_channels() -> None:
    channel = 3200e6 * 8
    assert device("bluefield-2").memory_bandwidth == pytest.approx(channel)
    assert device("epyc-7513").memory_bandwidth == pytest.approx(8 * channel)
    assert device("bluefield-3").memory_bandwidth == pytest.approx(2 * 5600e6 * 8)


@pytest.mark.parametrize(
    ("name", "transfers"), [("pcie-gen3-x16", 8e9), ("pcie-gen4-x16", 16e9), ("pcie-gen5-x16", 32e9)]
)
def test_pcie_links_are_what_packets_leave_of_the_raw_rate(name: str, transfers: float) -> None:
    """Completions of 256 B carry 20 B of header each; acknowledgements and flow control take some more."""
    raw = transfers * 16 * (128 / 130) / 8
    assert 0.8 < link(name).bandwidth / raw < 256 / 276


def test_pcie_gen4_agrees_with_measured_reads() -> None:
    """DOCA DMA reads of 64 KiB reach 0.39 M/s on a BlueField-2, 25.56 GB/s."""
    assert link("pcie-gen4-x16").bandwidth == pytest.approx(0.39e6 * 65_536, rel=0.05)


def test_measured_links_stay_below_what_carries_them() -> None:
    generation_4 = link("pcie-gen4-x16").bandwidth
    for name in ("pcie-gen4-x16-pinned", "pcie-gen4-x16-pageable", "doca-dma"):
        assert link(name).bandwidth < generation_4
    for name in ("rdma-bf3", "roce-100g", "ethernet-100g"):
        assert 0.85 * 12.5e9 < link(name).bandwidth < 12.5e9
    assert link("lgnnic-sockets").bandwidth <= 12.5e9 / 2


def test_link_bandwidths_follow_from_the_published_measurements() -> None:
    assert link("doca-dma").bandwidth == pytest.approx(0.23e6 * 65_536, rel=1e-3)
    assert link("rdma-bf3").bandwidth == pytest.approx((2**20 - 2**18) / (94.96e-6 - 26.79e-6), rel=1e-3)
    assert link("roce-100g").bandwidth == pytest.approx((2**23 - 2**20) / (749.7e-6 - 95.74e-6), rel=1e-3)
    assert link("pcie-gen4-x16-pinned").bandwidth == pytest.approx(0.328e9 / 13.3e-3, rel=1e-3)
    assert link("pcie-gen4-x16-pageable").bandwidth == pytest.approx(300e6 / 50e-3)


def test_lgnnic_systems_differ_only_where_the_paper_says() -> None:
    dma, sockets, local = (entry("systems", f"lgnnic-{name}") for name in ("doca-dma", "sockets", "local"))
    assert (dma.memory_node.name, dma.compute_node.name, dma.gpu.name) == ("bluefield-2", "epyc-7513", "a100-80gb")
    assert (sockets.memory_node, sockets.compute_node, sockets.gpu) == (dma.memory_node, dma.compute_node, dma.gpu)
    assert local.link is None
    assert local.memory_node == local.compute_node == dma.compute_node
    assert (dma.link.aggregation, sockets.link.aggregation) == ("preallocated", "regrown")
    assert dma.link.header == sockets.link.header
    assert entry("plans", "default").transfer.chunk <= dma.link.max_chunk == sockets.link.max_chunk
