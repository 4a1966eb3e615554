"""The switch's simulation against times that are worked out by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from calibration.simulation.designs import switch_traffic
from calibration.simulation.switch import Switch, Traffic, completion, wire_bytes
from perfmodel.errors import SpecError

PLAIN = Switch(devices=4, link_bandwidth=1e9, host_bandwidth=2e9, hop_latency=1e-6, header=0.0)


def time(traffic: Traffic, **changes: Any) -> float:
    return completion(dataclasses.replace(PLAIN, **changes), traffic).time


def test_one_message_takes_setup_crossing_and_its_bytes_once() -> None:
    """Cut-through: the second link sends while the first one does."""
    one = Traffic("chain", 1e6)
    assert time(one, devices=2) == pytest.approx(1e-3 + 1e-6, rel=1e-4)
    assert time(one, devices=2, message_time=5e-6) == pytest.approx(1e-3 + 6e-6, rel=1e-4)
    assert time(Traffic("chain", 1e6, messages=3), devices=2, message_time=5e-6) == pytest.approx(
        3 * (1e-3 + 5e-6) + 1e-6, rel=1e-4
    )


def test_neighbors_do_not_meet_in_a_switch_but_do_on_one_uplink() -> None:
    chain = Traffic("chain", 1e6, messages=2)
    assert time(chain, devices=16) == pytest.approx(time(chain, devices=2))
    shared = time(chain, devices=16, topology="shared-uplink")
    assert shared == pytest.approx(15 * 2e6 / 2e9, rel=0.03)


def test_all_to_one_is_bound_by_the_one() -> None:
    gathered = completion(PLAIN, Traffic("all-to-one", 1e6, messages=4))
    assert gathered.time == pytest.approx(3 * 4e6 / 1e9, rel=0.01)
    assert gathered.throughput == pytest.approx(1e9, rel=0.01)


def test_reading_from_the_host_is_bound_by_its_link_or_by_requests_in_flight() -> None:
    reads = Traffic("host-reads", 1e5, messages=20, outstanding=8)
    assert completion(PLAIN, reads).throughput == pytest.approx(2e9, rel=0.02)  # four links of 1, the host's of 2
    assert completion(dataclasses.replace(PLAIN, devices=1), reads).throughput == pytest.approx(1e9, rel=0.02)
    alone = Traffic("host-reads", 1e3, messages=10, outstanding=1)
    assert time(alone, devices=1) == pytest.approx(10 * (2 * 1e-6 + 1e-6), rel=0.01)  # there, back, the bytes
    assert time(alone, devices=1, topology="shared-uplink") == pytest.approx(10 * (2 * 1e-6 + 1e-6), rel=0.01)


def test_headers_take_their_share() -> None:
    headed = dataclasses.replace(PLAIN, devices=2, header=24.0)
    assert wire_bytes(headed, 2560.0) == 2800.0
    found = completion(headed, Traffic("chain", 2.56e6))
    assert found.throughput == pytest.approx(1e9 * 256 / 280, rel=0.01)


def test_a_small_buffer_holds_senders_up() -> None:
    """One burst at a time: each holds the only room while it crosses (1 us) and leaves (1.024 us)."""
    traffic = Traffic("all-to-one", 64e3, messages=3)
    bursts = 9 * 64e3 / 1024
    assert time(traffic, port_buffer=1024.0) == pytest.approx(bursts * 2.024e-6, rel=0.02)
    assert time(traffic, port_buffer=65536.0) == pytest.approx(time(traffic), rel=0.01)
    with pytest.raises(SpecError, match="port_buffer"):
        dataclasses.replace(PLAIN, port_buffer=10.0)


def test_one_device_has_no_neighbor_to_send_to() -> None:
    assert completion(dataclasses.replace(PLAIN, devices=1), Traffic("chain", 1e6)).time == 0.0


def test_nothing_is_faster_than_its_scarcest_link() -> None:
    for case in switch_traffic(12, seed=4):
        switch, traffic = case.setting
        senders = {"host-reads": switch.devices}.get(traffic.pattern, switch.devices - 1)
        most = senders * switch.link_bandwidth
        if traffic.pattern == "all-to-one":
            most = switch.link_bandwidth
        if traffic.pattern == "host-reads" or switch.topology == "shared-uplink":
            most = min(most, switch.host_bandwidth)
        assert 0 < case.outcome.throughput <= most * (1 + 1e-9)
        assert case.outcome == completion(switch, traffic)


def test_odd_sizes_come_to_an_end() -> None:
    """Sums of fractions must not wait for room that rounding took away."""
    for size in (63.7, 256.0, 257.3, 4e6 / 3):
        assert time(Traffic("host-reads", size, messages=5, outstanding=3), port_buffer=3000.1) > 0
