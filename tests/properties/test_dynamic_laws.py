"""Laws of dynamic training that hold whatever the numbers: devices, exchanges, caches, batches."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.model.bound import Outcome, bind
from perfmodel.model.knee import LEAST_GAIN, knee, serial_share
from perfmodel.spec.scenario import Scenario

WORKLOADS = ("amazon", "flickr", "movielens", "ogbn", "ppi", "reddit", "youtube")
NEAR_DATA = ("m-base", "m-p2p", "m-dgnn")
AROUND_THE_HOST = ("esdg", "blad", "dgc")
SYSTEMS = (*NEAR_DATA, *AROUND_THE_HOST)
LOCKED = settings(deadline=None, derandomize=True, max_examples=25)

workloads, systems = st.sampled_from(WORKLOADS), st.sampled_from(SYSTEMS)
plans = st.fixed_dictionaries(
    {
        "plan.devices": st.integers(1, 16).map(float),
        "plan.frame_length": st.sampled_from([4.0, 8.0, 16.0, 32.0]),
        "plan.batch": st.sampled_from([32.0, 128.0, 512.0]),
        "plan.frames": st.sampled_from([1.0, 4.0, 16.0]),
    }
)


@functools.cache
def catalog(system: str, workload: str) -> Scenario:
    return pm.load_scenario(f"dgnn-{workload}", f"mdgnn-{system}")


def run(
    system: str, workload: str, changed: Mapping[str, Any] | None = None, named: Mapping[str, Any] | None = None
) -> Outcome:
    """Run a catalog scenario with other numbers, and with other names where they are told."""
    base = catalog(system, workload)
    return bind(base.replace(dict(named)) if named else base).run(changed or {})


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_predicts_every_workload(system: str, workload: str) -> None:
    devices, layers = np.array([1.0, 2, 4, 8, 16, 64]), np.array([4.0, 8, 16, 32])
    for partition in ("snapshot", "frame", "chunk"):
        shapes = {"plan.devices": devices[:, None], "plan.frame_length": layers[None, :]}
        found = run(system, workload, shapes, {"plan.partition": partition})
        assert np.broadcast_to(found.time, (6, 4)).shape == (6, 4)
        assert np.all(np.isfinite(found.time))
        assert np.all(np.asarray(found.time) > 0)
        assert found.energy is not None
        assert np.all(np.asarray(found.energy) > 0)


@pytest.mark.parametrize("system", ["m-dgnn", "blad"])
@pytest.mark.parametrize(
    ("key", "values"),
    [("plan.batch", [64.0, 256.0]), ("plan.frame_length", [4.0, 16.0]), ("workload.temporal.snapshots", [8.0, 500.0])],
)
def test_an_epoch_of_many_plans_is_that_of_each(system: str, key: str, values: list[float]) -> None:
    """What an epoch holds changes with its frames, also where plans are evaluated all at once."""
    table = pm.evaluate(catalog(system, "reddit"), {key: values})
    for row, value in enumerate(values):
        alone = pm.predict(catalog(system, "reddit").replace({key: value}))
        assert table["epoch_time_s"][row] == pytest.approx(alone.epoch_time_s, rel=1e-12)
        assert table["time_s"][row] == pytest.approx(alone.time_s, rel=1e-12)


@given(systems, workloads, plans)
@LOCKED
def test_a_frame_adds_up(system: str, workload: str, plan: dict[str, Any]) -> None:
    estimate = pm.predict(catalog(system, workload).replace({**plan, "plan.overlap": "sum"}))
    assert estimate.time_s == pytest.approx(sum(phase.time_s for phase in estimate.phases))
    assert sum(estimate.energy.values()) == pytest.approx(estimate.energy_j)
    assert estimate.interval_s[0] <= estimate.time_s <= estimate.interval_s[1]


@given(st.sampled_from(NEAR_DATA), workloads, plans)
@LOCKED
def test_a_multiple_of_devices_is_never_slower(system: str, workload: str, plan: dict[str, Any]) -> None:
    """Twice as many share work at least as evenly; an uplink that all share, which takes no part here, is another matter."""
    wide = {**plan, "system.uplink.bandwidth": 1e15}
    few = run(system, workload, {**wide, "plan.devices": plan["plan.devices"]}).time
    many = run(system, workload, {**wide, "plan.devices": 2 * plan["plan.devices"]}).time
    assert many <= few * (1 + 1e-9)


@given(systems, workloads, plans)
@LOCKED
def test_scaling_stays_below_amdahl(system: str, workload: str, plan: dict[str, Any]) -> None:
    one, many = (run(system, workload, {**plan, "plan.devices": count}).time for count in (1.0, 16.0))
    assert one <= 16 * many * (1 + 1e-9)


@given(workloads, plans)
@LOCKED
def test_each_mechanism_helps(workload: str, plan: dict[str, Any]) -> None:
    """Peers instead of the host spare recurrence alone; the pool spares flash alone."""
    base, peer, pool = (run(system, workload, plan).phases for system in NEAR_DATA)
    assert peer["recurrence"] + peer["control"] <= base["recurrence"]
    assert pool["flash"] <= peer["flash"] * (1 + 1e-12)
    for name in ("flash", "graph", "other"):
        assert peer[name] == pytest.approx(base[name])
    for name in ("graph", "recurrence", "control", "other"):
        assert pool[name] == pytest.approx(peer[name])


@pytest.mark.parametrize("workload", ["reddit", "amazon"])
@pytest.mark.parametrize("length", [4.0, 8.0, 32.0])
def test_a_new_snapshot_is_read_from_flash_however_large_the_pool(workload: str, length: float) -> None:
    """Where no row outlives its snapshot, a window finds all but its newest snapshot: 1/s of the pages is compulsory."""
    pages = {"workload.temporal.shared": 0.0, "plan.frame_length": length, "system.host.pool.share": 1.0}
    huge = {"system.host.memory": 1e18}
    energy = run("m-dgnn", workload, {**pages, **huge}).energy_parts["reads"]
    without = run("m-p2p", workload, {**pages, **huge}).energy_parts["reads"]
    assert energy / without == pytest.approx(1 / length)


def test_rows_that_never_change_leave_lists_to_read() -> None:
    """With all rows pooled, and rows alone, every node whose neighbors are drawn is read: 13 of 40 (3 hops of 3)."""
    named = {"plan.pool.keeps": "rows"}
    whole = {"workload.temporal.shared": 1.0, "system.host.pool.share": 1.0}
    pooled = run("m-dgnn", "amazon", whole, named).energy_parts["reads"]
    assert pooled / run("m-p2p", "amazon", whole).energy_parts["reads"] == pytest.approx(13 / 40)
    assert run("m-dgnn", "amazon", whole).energy_parts["reads"] == pytest.approx(0.0, abs=1e-12)


@given(workloads, st.floats(0.05, 0.95), st.sampled_from([4.0, 16.0]))
@LOCKED
def test_a_larger_pool_reads_less(workload: str, share: float, length: float) -> None:
    shares = np.array([share / 2, share, min(1.0, share * 1.05)])
    changed = {"system.host.pool.share": shares, "plan.frame_length": length, "workload.temporal.shared": 0.5}
    found = run("m-dgnn", workload, changed)
    assert np.all(np.diff(found.phases["flash"]) <= 1e-15)
    assert np.all(np.diff(found.memory["host"]) > 0)


@given(systems, workloads, plans)
@LOCKED
def test_larger_batches_cost_no_more_for_each_target(system: str, workload: str, plan: dict[str, Any]) -> None:
    small, large = (run(system, workload, {**plan, "plan.batch": batch}).time / batch for batch in (128.0, 256.0))
    assert large <= small * 1.01


@given(st.sampled_from(NEAR_DATA), workloads, plans, st.sampled_from([1.5, 4.0]))
@LOCKED
def test_faster_parts_are_never_slower(system: str, workload: str, plan: dict[str, Any], factor: float) -> None:
    base = bind(catalog(system, workload))
    slow = base.run(plan).time
    for key in ("storage.flash.channel_bandwidth", "storage.memory_bandwidth", "link.bandwidth", "uplink.bandwidth"):
        assert base.run({**plan, f"system.{key}": base.values[f"system.{key}"] * factor}).time <= slow * (1 + 1e-9)
    for key in ("storage.flash.array_read", "host.stack.time_per_pass", "storage.peer.time_per_message"):
        faster = base.run({**plan, f"system.{key}": base.values[f"system.{key}"] / factor}).time
        assert faster <= slow * (1 + 1e-2), key  # a shorter read is a sharper knee elsewhere, by less than that


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("system", ["m-base", "m-p2p", "m-dgnn"])
def test_the_knee_is_where_devices_stop_to_pay(system: str, workload: str) -> None:
    """Counts that share out evenly lie on the law; so does the gain from one of them to the next."""
    bound = bind(catalog(system, workload))
    share, where = serial_share(bound), knee(bound)
    counts = np.array([2.0, 4, 8, 16, 32, 64])
    times = np.broadcast_to(bound.run({"plan.devices": counts}).time, 6)
    law = times[0] / (share + (1 - share) / 2) * (share + (1 - share) / counts)
    np.testing.assert_allclose(times, law, rtol=0.06)  # an uplink that 64 devices share makes the last of them wait
    for low, high in itertools.pairwise(counts):
        gain = (share + (1 - share) / low) / (share + (1 - share) / high) - 1
        each = (1 + gain) ** (1 / (high - low)) - 1
        if low >= where:
            assert each < LEAST_GAIN
        if high <= where:
            assert each > LEAST_GAIN


def test_more_devices_have_no_knee_where_nothing_is_shared_out() -> None:
    frames = bind(catalog("m-base", "reddit").replace({"plan.partition": "frame", "plan.frames": 1}))
    assert serial_share(frames) == pytest.approx(1.0)
    assert knee(frames) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"plan.devices": 2.5}, "plan.devices"),
        ({"plan.devices": 0}, "plan.devices"),
        ({"plan.partition": "node"}, "plan.partition"),
        ({"workload.fanout": "-1,3"}, "at least 1 neighbor"),
        ({"system.host.pool.share": 1.5}, "pool.share"),
        ({"system.storage.flash.channels": 0}, "channels"),
        ({"plan.pool.keeps": "everything"}, "pool.keeps"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(change: Mapping[str, Any], rule: str) -> None:
    with pytest.raises(SpecError, match=rule):
        catalog("m-dgnn", "reddit").replace(dict(change))


def test_a_graph_larger_than_flash_is_infeasible() -> None:
    found = pm.predict(catalog("m-dgnn", "reddit").replace({"system.storage.flash.blocks": 1}))
    assert [violation.rule for violation in found.violations] == ["flash"]
    pinned = pm.predict(catalog("m-dgnn", "amazon").replace({"system.host.memory": "8 GB"}))
    assert [violation.rule for violation in pinned.violations] == ["memory.host"]
