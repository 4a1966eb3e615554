"""The chain's simulation against makespans that are worked out by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.simulation.designs import recurrent_chains
from calibration.simulation.recurrent_chain import Chain, makespan
from perfmodel.errors import SpecError

#: Graphs of 10 and 20 s, cells of 1 and 2 s, and nothing else takes time.
FREE = Chain(
    snapshots=6, devices=3, layers=1, gnn_time=10.0, backward_gnn_time=20.0, cell_time=1.0, backward_cell_time=2.0,
    messages=1, message_bytes=0.0, software_time=0.0, link_latency=0.0, peer_message_time=0.0, doorbell_time=0.0,
)  # fmt: skip


def found(**changes: Any) -> Any:
    return makespan(dataclasses.replace(FREE, **changes))


def test_one_device_adds_everything_up() -> None:
    alone = found(devices=1, layers=4)
    assert alone.forward == pytest.approx(6 * 10 + 24 * 1)
    assert alone.backward == pytest.approx(6 * 20 + 24 * 2)
    assert (alone.busy, alone.bubbles, alone.exchanges) == (pytest.approx((1.0,)), pytest.approx(0.0), 0)


def test_one_layer_is_a_chain_however_many_devices() -> None:
    for devices in (2, 3, 6):
        chain = found(devices=devices)
        assert chain.forward == pytest.approx(6 / devices * 10 + 6)
        assert chain.backward == pytest.approx(6 / devices * 20 + 12)


def test_layers_run_as_a_wave() -> None:
    """With a device for every snapshot: as many cells as there are snapshots and layers, less the one at the corner."""
    wave = found(devices=6, layers=4)
    assert wave.forward == pytest.approx(10 + (6 + 4 - 1))
    assert wave.backward == pytest.approx(20 + 2 * (6 + 4 - 1))
    serial = found(devices=6, layers=4, order="serial")
    assert serial.forward == pytest.approx(10 + 24)


def test_exchange_adds_to_every_step_of_a_chain() -> None:
    host = found(devices=6, exchange="host", messages=4, software_time=0.25)
    assert host.forward == pytest.approx(10 + 6 + 5 * 4 * 0.25)
    assert host.exchanges == 2 * 5
    assert host.host_busy == pytest.approx(10 * 4 * 0.25 / host.total)
    linked = found(devices=6, exchange="host", link_latency=0.5)
    assert linked.forward == pytest.approx(10 + 6 + 5 * 2 * 0.5)
    peer = found(devices=6, exchange="peer", messages=4, peer_message_time=0.125, link_latency=0.5, doorbell_time=0.25)
    assert peer.forward == pytest.approx(10 + 6 + 5 * (4 * 0.125 + 0.5 + 0.25))
    bytes_ = found(devices=6, exchange="peer", messages=4, message_bytes=8.0, link_bandwidth=64.0)
    assert bytes_.forward == pytest.approx(10 + 6 + 5 * 4 * 8 / 64)


def test_blocks_exchange_at_their_borders_only() -> None:
    blocks = found(distribution="blocks", exchange="host", software_time=0.5)
    assert blocks.exchanges == 2 * 2
    assert blocks.forward == pytest.approx(2 * 10 + 6 + 2 * 0.5)
    turns = found(distribution="round-robin", exchange="host", software_time=0.5)
    assert turns.exchanges == 2 * 5


def test_the_host_serves_one_message_at_a_time() -> None:
    """Many layers send at once: the host's software is the bottleneck, whatever the devices do."""
    crowded = found(devices=6, layers=8, exchange="host", messages=2, software_time=5.0, cell_time=0.001)
    assert crowded.forward >= 10 + 5 * 8 * 2 * 5.0
    assert crowded.forward == pytest.approx(10 + 5 * 8 * 2 * 5.0, rel=0.02)


def test_cells_may_start_before_all_graphs_are_done() -> None:
    """Three devices with two graphs each: the first cell delays the first device's next graph, from 11 to 21.

    The second device has begun its next graph at 10, so its cell runs from 20; the others follow one by one until 25.
    """
    assert found(devices=3).forward == pytest.approx(20 + 6)
    assert found(devices=3, gnn_first=False).forward == pytest.approx(25)


def test_a_chain_longer_than_its_devices_waits_for_them() -> None:
    """Four snapshots on two devices, two layers, by hand: each device works without a pause once it has begun."""
    wave = found(snapshots=4, devices=2, layers=2, gnn_time=0.0)
    # device 0: (0,0) (0,1) (2,0) (2,1) from 0 to 4; device 1: (1,0) (1,1) (3,0) (3,1) from 1 to 5
    assert wave.forward == pytest.approx(5.0)


@given(
    snapshots=st.integers(1, 9),
    devices=st.integers(1, 6),
    layers=st.integers(1, 4),
    distribution=st.sampled_from(["round-robin", "blocks"]),
    exchange=st.sampled_from(["host", "peer"]),
    first=st.booleans(),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_any_chain_lies_between_its_bounds(
    snapshots: int, devices: int, layers: int, distribution: Any, exchange: Any, first: bool
) -> None:
    devices = min(devices, snapshots)
    chain = Chain(
        snapshots, devices, layers, distribution, gnn_time=1e-3, cell_time=3e-4, exchange=exchange, messages=3,
        gnn_first=first, link_latency=0.0, doorbell_time=0.0, peer_message_time=0.0, message_bytes=0.0,
    )  # fmt: skip
    timeline = makespan(chain)
    work = snapshots * (1e-3 + 2e-3) + snapshots * layers * (1e-4 * 0 + 3e-4 + 2e-4)
    path = (snapshots + layers - 1) * (3e-4 + 2e-4)
    exchanging = timeline.exchanges * 3 * (10e-6 if exchange == "host" else 0.0)
    assert max(work / devices, path) * (1 - 1e-9) <= timeline.total <= (work + exchanging) * (1 + 1e-9)
    assert sum(timeline.busy) * timeline.total == pytest.approx(work)
    assert timeline.bubbles == pytest.approx(1 - sum(timeline.busy) / devices, abs=1e-9)
    assert timeline == makespan(chain)


def test_the_design_repeats() -> None:
    first = recurrent_chains(4)
    recurrent_chains.cache_clear()
    assert recurrent_chains(4) == first


def test_more_devices_than_snapshots_are_refused() -> None:
    with pytest.raises(SpecError, match=r"Chain.devices: must be at most as many as snapshots, got 9; .* 6"):
        found(devices=9)
