"""The flash device's simulation against cases that are worked out by hand, and against laws that hold for any queue."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.simulation.designs import flash_batches, flash_reads, flash_writes
from calibration.simulation.flash import Flash, Load, batch_time, closed_loop
from perfmodel.errors import SpecError

ONE = Flash(
    channels=1, packages=1, dies=1, planes=1, array_read=10e-6, array_program=50e-6, channel_bandwidth=1e9, page=5000.0
)
BUS = 5e-6


def test_one_die_does_one_read_after_the_other_however_deep_the_queue() -> None:
    for depth in (1, 3, 16):
        found = closed_loop(ONE, Load(depth), 200)
        assert found.throughput == pytest.approx(1 / 15e-6)
        assert found.latency == pytest.approx(depth * 15e-6)
        assert (found.array_busy, found.bus_busy) == pytest.approx((2 / 3, 1 / 3), rel=0.02)


def test_a_cache_register_lets_the_next_array_read_begin() -> None:
    """The slower of array and bus is all that counts."""
    doubled = dataclasses.replace(ONE, cache_register=True)
    assert closed_loop(doubled, Load(1), 200).throughput == pytest.approx(1 / 15e-6)
    assert closed_loop(doubled, Load(4), 400).throughput == pytest.approx(1 / 10e-6)
    slow_bus = dataclasses.replace(doubled, channel_bandwidth=0.25e9)
    assert closed_loop(slow_bus, Load(4), 400).throughput == pytest.approx(1 / 20e-6)


def test_alone_a_command_takes_the_sum_of_its_steps() -> None:
    flash = Flash(command_time=1e-6, firmware_time=2e-6, stack_time=10e-6)
    expected = 2e-6 + 1e-6 + flash.array_read + flash.page / flash.channel_bandwidth + 10e-6
    assert closed_loop(flash, Load(1), 100).latency == pytest.approx(expected)
    written = 2e-6 + 1e-6 + flash.page / flash.channel_bandwidth + flash.array_program + 10e-6
    assert closed_loop(flash, Load(1, write_share=1.0), 100).latency == pytest.approx(written)


def test_deep_queues_saturate_what_is_scarcest() -> None:
    many = Flash(channels=4, packages=8, dies=4, planes=1, array_read=2e-6)
    bus = closed_loop(many, Load(1500), 20_000)
    assert bus.throughput == pytest.approx(4 * many.channel_bandwidth / many.page, rel=0.02)
    assert bus.bus_busy == pytest.approx(1.0, abs=0.02)
    part = closed_loop(many, Load(1500, transfer=512.0), 20_000)
    assert part.throughput > 4 * bus.throughput
    firmware = dataclasses.replace(many, firmware_cores=3, firmware_time=5e-6)
    assert closed_loop(firmware, Load(500), 8000).throughput == pytest.approx(3 / 5e-6, rel=0.01)
    array = Flash(channels=8, packages=1, dies=1, planes=1, array_read=500e-6)
    deep = closed_loop(array, Load(1000), 12_000)
    assert deep.throughput == pytest.approx(8 / (500e-6 + array.page / array.channel_bandwidth), rel=0.03)


def test_two_units_of_one_channel_at_depth_two_by_hand() -> None:
    """Array 10, bus 0: with two commands over two units a unit is idle while both wait for the other.

    Both fall on one unit half of the time; the embedded chain then has both units busy in 2 of 3 of the rounds.
    """
    flash = Flash(channels=1, packages=2, dies=1, planes=1, array_read=10e-6, channel_bandwidth=1e15)
    found = closed_loop(flash, Load(2), 40_000, seed=3)
    # synchronous rounds of 10 us: from "split" the pair lands split or together with chance 1/2; from "together" one
    # finishes and lands anew: split with chance 1/2. So half of the rounds serve two, half serve one.
    assert found.throughput == pytest.approx(1.5 / 10e-6, rel=0.02)


def test_planes_read_by_themselves_or_not_at_all() -> None:
    apart = Flash(channels=1, packages=1, dies=1, planes=4, channel_bandwidth=1e12)
    together = dataclasses.replace(apart, independent_planes=False)
    assert (apart.units, together.units) == (4, 1)
    assert closed_loop(apart, Load(64), 4000).throughput == pytest.approx(
        4 * closed_loop(together, Load(64), 2000).throughput, rel=0.05
    )


def test_striped_writes_keep_every_unit_busy() -> None:
    flash = Flash(channels=4, packages=2, dies=1, planes=1, array_program=200e-6, channel_bandwidth=1e9, page=4000.0)
    found = closed_loop(flash, Load(8, write_share=1.0), 2000)
    assert found.throughput == pytest.approx(8 / 204e-6, rel=0.01)


def test_hops_wait_for_one_another_or_not() -> None:
    assert batch_time(ONE, (1, 2), depth=8) == pytest.approx(3 * 15e-6)
    wide = Flash(channels=64, packages=8, dies=8, planes=8)
    alone = wide.array_read + wide.page / wide.channel_bandwidth
    assert batch_time(wide, (1, 1, 1), depth=4) == pytest.approx(3 * alone)
    assert batch_time(wide, (4, 8), depth=1) == pytest.approx(12 * alone)
    for strict in (True, False):
        assert batch_time(wide, (8, 16, 32), 16, strict) == batch_time(wide, (8, 16, 32), 16, strict)
    assert batch_time(Flash(), (64, 192, 576), 256, strict=False) < batch_time(Flash(), (64, 192, 576), 256)


@pytest.mark.parametrize("hops", [(), (2, 3), (0,)])
def test_hops_that_are_no_tree_are_refused(hops: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="each a multiple of the one before"):
        batch_time(ONE, hops, 1)


@given(
    depth=st.integers(1, 40),
    channels=st.integers(1, 4),
    dies=st.integers(1, 4),
    firmware=st.sampled_from([0.0, 3e-6]),
    register=st.booleans(),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_any_device_obeys_little_and_its_bounds(
    depth: int, channels: int, dies: int, firmware: float, register: bool
) -> None:
    flash = Flash(
        channels, 1, dies, 1, firmware_cores=2, firmware_time=firmware, cache_register=register, array_program=20e-6
    )
    found = closed_loop(flash, Load(depth), 1500)
    assert found.throughput * found.latency == pytest.approx(depth, rel=0.05)
    crossing = flash.page / flash.channel_bandwidth
    slowest = min(
        channels / crossing,
        flash.units / (flash.array_read + (0 if register else crossing)),
        2 / firmware if firmware else math.inf,
        depth / (firmware + flash.array_read + crossing),
    )
    assert found.throughput <= slowest * 1.02
    # no queue is longer than if all commands were served one after the other
    assert found.latency <= depth * (firmware + flash.array_read + crossing) * 1.001


def test_seeds_and_designs_repeat_to_the_last_bit() -> None:
    flash, load = Flash(channels=2), Load(20)
    assert closed_loop(flash, load, 500, seed=5) == closed_loop(flash, load, 500, seed=5)
    assert closed_loop(flash, load, 500, seed=5) != closed_loop(flash, load, 500, seed=6)
    for design in (flash_reads, flash_writes, flash_batches):
        first = design(3)
        design.cache_clear()
        assert design(3) == first


def test_chance_moves_a_loop_by_less_than_what_is_asked_of_formulas() -> None:
    for case in flash_reads(6, seed=9):
        flash, load = case.setting
        again = closed_loop(flash, load, 4000, seed=77)
        assert again.throughput == pytest.approx(case.outcome.throughput, rel=0.02)


def test_settings_out_of_range_are_a_sentence() -> None:
    with pytest.raises(SpecError, match=r"Flash\.channels: must be at least 1, got 0"):
        Flash(channels=0)
    with pytest.raises(SpecError, match=r"Flash\.page: must be above 0"):
        Flash(page=0.0)
    with pytest.raises(SpecError, match=r"Load\.write_share"):
        Load(1, write_share=1.5)
