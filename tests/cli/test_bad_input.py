"""Bad input: exit status 2, one sentence on stderr that names the place, the rule, and the nearest valid choice."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest

REDDIT = ("predict", "reddit", "--system", "lgnnic-doca-dma")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["predcit"], "predict"),
        ([""], "COMMAND"),
        (["predict"], "WORKLOAD"),
        (["predict", "reddit"], "--system"),
        (["predict", "reddit", "--system"], "--system"),
        ([*REDDIT, "--jsn"], "--jsn"),
        ([*REDDIT, "more"], "more"),
        (["predict", "redit", "--system", "lgnnic-doca-dma"], "nearest valid choice: reddit"),
        (["predict", "", "--system", "lgnnic-doca-dma"], "workload: must be one of"),
        (["predict", "reddit", "--system", "lgnnic-doca"], "nearest valid choice: lgnnic-doca-dma"),
        (["predict", "reddit", "--system", ""], "system: must be one of"),
        ([*REDDIT, "--plan", "no-offlaod"], "nearest valid choice: no-offload"),
        ([*REDDIT, "--plan", ""], "plan: must be one of"),
        ([*REDDIT, "--profile", "lgnic"], "nearest valid choice: lgnnic"),
        ([*REDDIT, "--against", "no-ofload"], "nearest valid choice: no-offload"),
        ([*REDDIT, "--against", ""], "--against: must be one of"),
        (["predict", "reddit", "--system", "reddit"], "system"),
        (["list", "system"], "nearest valid choice: systems"),
        (["list", ""], "list: must be one of"),
        (["schema", "plan"], "nearest valid choice: plans"),
        (["validate"], "SUITE"),
        (["graph"], "FILE"),
        (["explain", "redit", "--system", "lgnnic-doca-dma"], "nearest valid choice: reddit"),
    ],
)
def test_arguments(command: Any, arguments: list[str], words: str) -> None:
    assert words in command(*arguments).sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("plan.transfer.chunk", "KEY=VALUE"),
        ("", "KEY=VALUE"),
        ("=", "KEY=VALUE"),
        ("=5", "KEY=VALUE"),
        ("plan.transfer.chunk=", "KEY=VALUE"),
        ("plan.transfer.chunk= ", "KEY=VALUE"),
        ("plan=5", "must start with"),
        ("plans.workers=5", "nearest valid choice: plan"),
        ("plan.=5", "is not a known key"),
        ("plan..chunk=5", "is not a known key"),
        ("plan.transfer.chnk=5", "nearest valid choice: chunk"),
        ("plan.transfer.chunk.size=5", "plan.transfer.chunk"),
        ("system.link.bandwith=1 GB/s", "nearest valid choice: bandwidth"),
        ("workload.smapling.batch=5", "nearest valid choice: sampling"),
        ("plan.transfer.chunk=1 GB/s", "must be in B"),
        ("plan.transfer.chunk=1 s", "must be in B"),
        ("plan.transfer.chunk=1 MIB", "nearest valid choice: 1 MiB"),
        ("plan.transfer.chunk=1 parsec", "must be in B"),
        ("plan.transfer.chunk=-1", "above 0 B"),
        ("plan.transfer.chunk=0", "above 0 B"),
        ("plan.transfer.chunk=nan", "must be a number"),
        ("plan.transfer.chunk=inf", "at most"),
        ("plan.transfer.chunk=1e400", "below"),
        ("plan.transfer.chunk=1e-320", "finite time"),
        ("plan.transfer.chunk=[1,2]", "must be a number"),
        ("plan.transfer.chunk=1,2", "chunk"),
        ("plan.transfer.chunk=💥", "must be a number"),
        ("plan.transfer.chunk=a\nb", "must be a number"),
        ("plan.transfer.chunk=" + "9" * 5000, "chunk"),
        ("plan.transfer.window=0", "at least 1"),
        ("plan.workers=-1", "at least 0"),
        ("plan.workers=eight", "must be a number"),
        ("plan.workers=1.5", "must be a whole number, got '1.5'; nearest valid choice: 2"),
        ("plan.devices=2.4", "must be a whole number, got '2.4'; nearest valid choice: 2"),
        ("plan.transfer.window=0.5", "at least 1"),
        ("plan.transfer.window=7.5", "must be a whole number"),
        ("plan.devices=0", "at least 1"),
        ("plan.devices=2 GB", "plan.devices"),
        ("plan.precision.features=fp64", "fp32, fp16, bf16, fp8, int8, int4"),
        ("plan.precision.features=FP16", "nearest valid choice: fp16"),
        ("plan.placement.sampling=gpu", "memory-node, compute-node"),
        ("plan.overlap=both", "sum, pipelined, overlap"),
        ("workload.sampling.fanout=25;10", "fanout"),
        ("workload.sampling.fanout=25,10,5,5", "nearest valid choice"),
        ("workload.sampling.fanout=0", "at least 1, or -1"),
        ("workload.sampling.fanout=-2", "at least 1, or -1"),
        ("workload.sampling.fanout=1.5", "whole numbers"),
        ("workload.sampling.fanout=10000000000000", "at most 1e9"),
        ("workload.sampling.fanout=" + ",".join(["2"] * 33), "at most 32 hops, got 33 hops"),
        ("workload.sampling.seeds.nodes=1e9", "at most the 232,965 nodes of type node"),
        ("workload.sampling.batch=0", "at least 1 node"),
        ("workload.sampling.batch=nan", "must be a number"),
        ("workload.sampling.semantics=quiver", "pyg, dgl"),
        ("workload.graph.node_types.node.nodes=1e30", "at most 1e+15 node"),
        ("workload.graph.node_types.node.nodes=1", "edges"),
        ("system.link.bandwidth=0", "above 0 B/s"),
        ("system.link.bandwidth=5 Gbps/s", "bandwidth"),
        ("system.link.bandwidth=1e-320", "finite time"),
        ("system.memory_node.memory=-1 GiB", "above 0 B"),
        ("system.memory_node.memory=16 GiB/s", "must be in B"),
        ("system.memory_node=bluefield-4", "nearest valid choice"),
        ("system.link=carrier-pigeon", "must be one of"),
        ("system.profile=mine", "--profile FILE"),
    ],
)
def test_changes(command: Any, change: str, words: str) -> None:
    sentence = command(*REDDIT, "--set", change, "--json").sentence
    assert words in sentence
    assert "--set" in sentence or "scenario" in sentence


def test_a_key_of_a_link_that_is_not_there(command: Any) -> None:
    sentence = command(
        "predict", "reddit", "--system", "lgnnic-local", "--set", "system.link.bandwidth=1 GB/s"
    ).sentence
    assert "needs a link, got a system without one" in sentence


def test_a_rate_that_no_one_knows(command: Any) -> None:
    sentence = command(
        "predict", "reddit", "--system", "lgnnic-doca-dma", "--set", "system.memory_node=bluefield-3"
    ).sentence
    assert "sampling" in sentence
    assert "--profile FILE" in sentence


CONTENTS = {
    "empty": b"",
    "binary": b"\x00\x01\xff\xfe",
    "nul": b'name = "a\x00b"',
    "broken": b"name = [",
    "deep": b"a=" + b"[" * 5000 + b"]" * 5000,
    "text": b"hello",
    "number": b"name = 3",
    "part": b'name = "x"',
    "unknown": b'name = "x"\nno_such_key = 1',
    "huge_integer": b"name = " + b"9" * 5000,
}


@pytest.mark.parametrize("role", ["workload", "system", "plan", "profile", "against"])
@pytest.mark.parametrize("content", CONTENTS)
def test_broken_files(command: Any, tmp_path: pathlib.Path, content: str, role: str) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(CONTENTS[content])
    arguments = {
        "workload": ["predict", str(path), "--system", "lgnnic-doca-dma"],
        "system": ["predict", "reddit", "--system", str(path)],
    }.get(role, [*REDDIT, f"--{role}", str(path)])
    if content == "part" and role in ("plan", "profile", "against"):
        assert command(*arguments).status == 0  # a name is all that these need
    else:
        assert command(*arguments).sentence


@pytest.mark.parametrize("role", ["workload", "system", "plan", "profile", "against"])
def test_files_that_are_not_there(command: Any, tmp_path: pathlib.Path, role: str) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    for path in (tmp_path / "gone.toml", folder, tmp_path / "a\0b.toml", tmp_path / ("x" * 5000 + ".toml")):
        arguments = {
            "workload": ["predict", str(path), "--system", "lgnnic-doca-dma"],
            "system": ["predict", "reddit", "--system", str(path)],
        }.get(role, [*REDDIT, f"--{role}", str(path)])
        assert "must be a file" in command(*arguments).sentence


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may read everything can't be refused")
def test_a_file_that_may_not_be_read(command: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"', encoding="utf-8")
    path.chmod(0)
    assert "must be readable" in command(*REDDIT, "--plan", str(path)).sentence
