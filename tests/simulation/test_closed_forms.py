"""The phases of dynamic training against event-by-event simulations that know none of them, over random machines and loads.

A normal run takes a part of each design, the slow one all of it, other seeds included.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.simulation import closed_forms
from calibration.simulation.designs import (
    cache_windows,
    flash_batches,
    flash_reads,
    flash_writes,
    recurrent_chains,
    switch_traffic,
)
from calibration.simulation.flash import Flash, batch_time

SEEDS = [pytest.param((0,), 1, id="part"), pytest.param((0, 1, 2), 4, id="whole", marks=pytest.mark.slow)]


def off(predicted: Sequence[float], simulated: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(np.abs(np.array(predicted) / np.array(simulated) - 1.0))


def within(errors: NDArray[np.float64], share: float, median: float, largest: float) -> None:
    """Hold errors to 5 % for a share of the cases, and to their median and largest."""
    text = f"median {np.median(errors):.4f}, largest {errors.max():.3f}, within 5 %: {(errors < 0.05).mean():.3f}"
    assert np.median(errors) <= median, text
    assert (errors < 0.05).mean() >= share, text
    assert errors.max() <= largest, text


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
def test_closed_loops_of_reads(seeds: Sequence[int], times: int) -> None:
    cases = [case for seed in seeds for case in flash_reads(15 * times, seed)]
    predicted = [closed_forms.reads_per_second(*case.setting) for case in cases]
    within(off(predicted, [case.outcome.throughput for case in cases]), share=0.95, median=0.01, largest=0.06)


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
def test_striped_writes(seeds: Sequence[int], times: int) -> None:
    """Nothing is random: what is off are few writes in flight, or as many as planes, that meet on a bus now and then."""
    cases = [case for seed in seeds for case in flash_writes(10 * times, seed) if case.setting[1].write_share == 1.0]
    predicted = [closed_forms.writes_per_second(*case.setting) for case in cases]
    within(off(predicted, [case.outcome.throughput for case in cases]), share=0.85, median=0.001, largest=0.12)


@functools.cache
def mean_batches(count: int, seeds: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """Return what the model and, on average over some draws of the pages' places, the simulation make of mini-batches."""
    predicted, simulated = [], []
    for seed in seeds:
        for case in flash_batches(count, seed):
            flash, hops, depth, strict = case.setting
            draws = max(1, min(8, 3000 // sum(hops)))
            others = [batch_time(flash, hops, depth, strict, seed=100 + draw) for draw in range(draws - 1)]
            simulated.append(float(np.mean([case.outcome, *others])))
            predicted.append(closed_forms.batch_seconds(flash, hops, depth, strict))
    return predicted, simulated


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
def test_mini_batches(seeds: tuple[int, ...], times: int) -> None:
    """A few hundred reads at random places take from one draw to the next up to a tenth more or less."""
    within(off(*mean_batches(10 * times, seeds)), share=0.8, median=0.025, largest=0.22)


@pytest.mark.parametrize(
    ("depth", "hops"), [(64, (128, 384, 1152)), (256, (128, 384, 1152, 3456)), (1024, (128, 384, 1152))]
)
def test_mini_batches_of_the_papers_device(depth: int, hops: tuple[int, ...]) -> None:
    flash = Flash(firmware_cores=4)
    simulated = np.mean([batch_time(flash, hops, depth, False, seed=seed) for seed in range(3)])
    assert closed_forms.batch_seconds(flash, hops, depth, False) == pytest.approx(simulated, rel=0.05)


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
def test_recurrent_chains(seeds: Sequence[int], times: int) -> None:
    """Frames in two phases, snapshots in turn, layers as a wave: what the paper describes and the model says."""
    cases = [
        case
        for seed in seeds
        for case in recurrent_chains(15 * times, seed)
        if case.setting.gnn_first
        and case.setting.order == "wavefront"
        and (case.setting.distribution == "round-robin" or case.setting.snapshots == case.setting.devices)
    ]
    predicted = [closed_forms.chain_seconds(case.setting) for case in cases]
    within(off(predicted, [case.outcome.total for case in cases]), share=0.97, median=1e-6, largest=0.09)


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
def test_traffic_through_the_switch(seeds: Sequence[int], times: int) -> None:
    """Rows to a neighbor, and rows from the host with at least four requests under way."""
    cases = [
        case
        for seed in seeds
        for case in switch_traffic(15 * times, seed)
        if case.setting[0].topology == "switch"
        and (
            case.setting[1].pattern == "chain"
            or (case.setting[1].pattern == "host-reads" and case.setting[1].outstanding > 1)
        )
    ]
    predicted = [closed_forms.traffic_seconds(*case.setting) for case in cases]
    within(off(predicted, [case.outcome.time for case in cases]), share=0.95, median=0.001, largest=0.07)


@pytest.mark.parametrize(("seeds", "times"), SEEDS)
@pytest.mark.parametrize(
    ("policy", "scanned", "share", "largest"),
    [("lru", True, 1.0, 0.002), ("pinned", True, 1.0, 0.002), ("lru", False, 1.0, 0.03), ("pinned", False, 0.75, 0.11)],
)
def test_hit_rates(seeds: Sequence[int], times: int, policy: str, scanned: bool, share: float, largest: float) -> None:
    """Points of hit rate: scans are exact, draws through an LRU within 3, through a pool so for four cases in five.

    What a pool misses by is in rows that snapshots share: the formula pins all of them, the pool lets go of some.
    """
    cases = [
        case
        for seed in seeds
        for case in cache_windows(30 * times if times == 1 else 60, seed)
        if case.setting[1] == policy and (case.setting[0].draws is None) == scanned
    ]
    points = np.abs([closed_forms.hit_rate(*case.setting) - case.outcome.hit_rate for case in cases])
    assert (points <= 0.03).mean() >= share, points
    assert points.max() <= largest, points
