"""The pipeline end to end: two processes, every mechanism and placement, held against the sampler and the model's steps."""

from __future__ import annotations

import dataclasses
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import perfmodel
from calibration.pipeline.batches import seeds_of
from calibration.pipeline.clock import BatchTimes
from calibration.pipeline.compute_node import neighbor_lists
from calibration.pipeline.configuration import Configuration, SyntheticGraph, csc_of
from calibration.pipeline.precision import encoded_bytes
from calibration.pipeline.run import WARM_UP, Pipeline
from perfmodel.graph.sampler import Drawn, sample
from perfmodel.model.families import family

GRAPH = SyntheticGraph(3000, 9.0, 1.0, seed=5)
BASE = Configuration(GRAPH, dimension=24, hidden=8, classes=5, batch=40, fanout=(6, 4), chunk=5000)
ID = 8  # bytes of a node id, an end of an edge, a class


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    """Return one pair of processes for all tests: configurations follow one another as in a validation."""
    with Pipeline() as running:
        yield running


def asked(**changes: Any) -> Configuration:
    return dataclasses.replace(BASE, **changes)


def configurations() -> list[Configuration]:
    """Return every mechanism with every placement, and around each some of all else."""
    others: list[dict[str, Any]] = [
        {},
        {"precision": "fp16", "window": 3, "aggregation": "regrown"},
        {"precision": "int4", "dimension": 7, "chunk": 333, "window": 2},
        {"precision": "fp8", "fanout": (5,), "chunk": 1 << 20},
        {"precision": "bf16", "fanout": (3, 2, 2), "batch": 1},
        {"dimension": 1, "fanout": (2,), "batch": 1, "chunk": 1},
        {"precision": "int8", "fanout": (-1, 2), "window": 50},
    ]
    found = [
        asked(mechanism=mechanism, placement=placement, **other)
        for mechanism, placement, other in itertools.product(
            ("tcp", "shared-memory"), ("memory-node", "compute-node"), others
        )
    ]
    return [*found, *(asked(mechanism=name, workers=count) for name in ("tcp", "shared-memory") for count in (1, 2, 3))]


def label(configuration: Configuration) -> str:
    changed = [
        str(getattr(configuration, field.name))
        for field in dataclasses.fields(configuration)
        if getattr(configuration, field.name) != getattr(BASE, field.name)
    ]
    return " ".join(changed) or "base"


def drawn_of(configuration: Configuration, step: int) -> tuple[Drawn, Drawn]:
    """Return what is sent and what is trained on, from the sampler alone."""
    csc = csc_of(configuration.graph)
    seeds = seeds_of(step, csc.nodes, configuration.batch)
    if configuration.placement == "memory-node":
        drawn = sample(csc, seeds, configuration.fanout, rng=np.random.default_rng(step))
        return drawn, drawn
    sent = sample(csc, seeds, [-1] * len(configuration.fanout), rng=np.random.default_rng(step))
    lists = neighbor_lists(sent.source, sent.target, sent.nodes.size)
    trained = sample(lists, np.arange(seeds.size), configuration.fanout, rng=np.random.default_rng(step))
    return sent, trained


@pytest.mark.parametrize("configuration", configurations(), ids=label)
def test_every_batch_is_sent_whole_and_trained_on(pipeline: Pipeline, configuration: Configuration) -> None:
    """Digests are compared on the way; counts and bytes are the sampler's, phases the model's."""
    found = pipeline.run(configuration, batches=3, first=20)
    assert len(found) == 3
    expected = {name for name, time in predicted_times(configuration).items() if time > 0}
    for step, batch in enumerate(found, start=20 + WARM_UP):
        sent, trained = drawn_of(configuration, step)
        assert (batch.nodes, batch.edges) == (trained.nodes.size, trained.source.size)
        tensors = [
            encoded_bytes(sent.nodes.size, configuration.dimension, configuration.precision),
            2 * ID * sent.source.size,
            ID * configuration.batch,
        ]
        assert batch.sent_bytes == sum(tensors)
        assert set(batch.phases) == expected
        assert all(time > 0 for time in batch.phases.values())
        theirs = sum(time for name, time in batch.phases.items() if name in on_the_compute_node(configuration))
        assert theirs < batch.total < 5
        # an acknowledgement that finds its sender asleep ends the transfer while the other side's pulse runs
        assert sum(batch.phases.values()) - theirs <= batch.total + batch.pulses["total"]


def predicted_times(configuration: Configuration) -> dict[str, float]:
    """Return the model's time of every step of a run, in the order of the data."""
    scenario = configuration.scenario()
    estimate = perfmodel.predict(scenario)
    assert [phase.name for phase in estimate.phases] == [step.name for step in family(scenario).steps()]
    return {phase.name: phase.time_s for phase in estimate.phases}


def on_the_compute_node(configuration: Configuration) -> set[str]:
    sampling = {"sampling"} if configuration.placement == "compute-node" else set()
    return sampling | {"dequantization", "indexing", "training"}


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
@pytest.mark.parametrize("placement", ["memory-node", "compute-node"])
@pytest.mark.parametrize("workers", [0, 2])
def test_phases_add_up_to_the_total(pipeline: Pipeline, mechanism: Any, placement: Any, workers: int) -> None:
    """Of a single batch they may overlap: the last acknowledgement finds its sender asleep, and training has begun."""
    if workers and placement == "compute-node":
        pytest.skip("no one samples for the memory node there")
    found = pipeline.run(asked(mechanism=mechanism, placement=placement, workers=workers, precision="fp16"), 31)
    shares = [sum(batch.phases.values()) / batch.total for batch in found]
    assert 0.5 < statistics.median(shares) < 1.01


def test_another_graph_is_another_run(pipeline: Pipeline) -> None:
    """The memory node loads the graph that is asked for, also after another and back."""
    other = asked(graph=SyntheticGraph(500, 4.0, 0.5, seed=6))
    first, between, last = (pipeline.run(one, 2) for one in (BASE, other, BASE))
    counts = [[(batch.nodes, batch.edges) for batch in batches] for batches in (first, between, last)]
    assert counts[0] == counts[2] != counts[1]


def test_other_steps_have_other_seeds(pipeline: Pipeline) -> None:
    first, other, again = (pipeline.run(BASE, 4, first=step) for step in (0, 1000, 0))
    nodes = [[batch.nodes for batch in batches] for batches in (first, other, again)]
    assert nodes[0] == nodes[2] != nodes[1]


def test_workers_draw_what_the_memory_node_draws(pipeline: Pipeline) -> None:
    alone, beside = (pipeline.run(asked(workers=workers), 5) for workers in (0, 2))
    assert [(batch.nodes, batch.sent_bytes) for batch in alone] == [(batch.nodes, batch.sent_bytes) for batch in beside]


def test_workers_sampling_counts_for_every_batch_alike(pipeline: Pipeline) -> None:
    """Workers draw several mini-batches at once: what those take must not all be counted for the first of them."""
    found = pipeline.run(asked(workers=3, batch=400, fanout=(10, 10)), 30)
    rest = [batch.total - sum(batch.phases.values()) for batch in found]
    sampling = statistics.median(batch.phases["sampling"] for batch in found)
    assert statistics.median(np.abs(rest)) < 0.5 * sampling


@pytest.mark.parametrize("mechanism", ["tcp", "shared-memory"])
def test_smaller_chunks_take_longer(pipeline: Pipeline, mechanism: str) -> None:
    """A hundred times the chunks; the fastest of some mini-batches, since what else runs only adds."""
    large, small = (pipeline.run(asked(mechanism=mechanism, dimension=100, chunk=chunk), 8) for chunk in (1 << 20, 500))
    assert fastest(small, "transfer") > 3 * fastest(large, "transfer")


def test_narrower_features_are_fewer_bytes(pipeline: Pipeline) -> None:
    wide, narrow = (pipeline.run(asked(precision=precision), 1)[0] for precision in ("fp32", "fp16"))
    saved = wide.sent_bytes - narrow.sent_bytes
    assert saved == wide.nodes * BASE.dimension * 2


def fastest(batches: Sequence[BatchTimes], phase: str) -> float:
    return min(batch.phases[phase] for batch in batches)


def test_whole_neighborhoods_are_more_than_a_batch(pipeline: Pipeline) -> None:
    offloaded, shipped = (pipeline.run(asked(placement=where), 2) for where in ("memory-node", "compute-node"))
    for one, other in zip(offloaded, shipped, strict=True):
        assert other.sent_bytes > one.sent_bytes
        assert other.nodes <= one.nodes * 2  # what is trained on is a mini-batch either way


def test_nodes_without_neighbors(pipeline: Pipeline) -> None:
    """Almost all seeds are alone: few edges or none are sent, and trained on."""
    lonely = SyntheticGraph(2000, 0.01, 0.1, seed=7)
    for placement in ("memory-node", "compute-node"):
        for workers in (0, 1) if placement == "memory-node" else (0,):
            found = pipeline.run(asked(graph=lonely, placement=placement, workers=workers, batch=10), 6)
            assert min(batch.edges for batch in found) == 0
            assert all(batch.nodes >= 10 for batch in found)


ONE_CORE = """
import os
from calibration.pipeline.configuration import Configuration, SyntheticGraph
from calibration.pipeline.run import Pipeline

def cores(pid):
    return sorted(os.sched_getaffinity(pid))

if __name__ == "__main__":
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with Pipeline() as pipeline:
        for mechanism in ("tcp", "shared-memory"):
            for workers in (0, 2):
                asked = Configuration(SyntheticGraph(2000, 8.0, 0.8), batch=32, mechanism=mechanism, workers=workers)
                print(len(pipeline.run(asked, 5)))
        assert all(cores(pid) == cores(0) for pid in pipeline.processes.values())
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a system that pins processes")
def test_one_core_is_enough(tmp_path: pathlib.Path) -> None:
    """Nobody polls for what another process can only do once it gets the core."""
    script = tmp_path / "one_core.py"
    script.write_text(ONE_CORE, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["5"] * 4, "")
