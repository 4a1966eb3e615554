"""The message routing family against event-by-event simulations: whole predictions, aggregation, direct cache access."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
import pathlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import perfmodel as pm

Value = Callable[..., float]
SIZE, CAPACITY, NODES = 64.0, 100, 4
REMOTE = 1 - 1 / NODES


def loaded(name: str) -> types.ModuleType:
    """Return a module that lies beside this file."""
    specification = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(f"{name}.py"))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


simulation = loaded("routing_simulation")


def scenario(node: Any, placement: str = "agent") -> pm.Scenario:
    """Return a simulated node as a scenario: buffers of 100 messages, four nodes with uniform targets."""
    size = SIZE * CAPACITY
    device = {"kind": "cpu", "memory": "64 GiB", "memory_bandwidth": "1 PB/s", "direct_cache": "1 TB", "cores": 64}
    routing = {
        "time_per_buffer": node.routing,
        "time_per_routed_message": 0.0,
        "time_per_delivered_message": node.delivering / CAPACITY / REMOTE,
    }
    host = {
        **device,
        "name": "host",
        "routing": {**routing, "time_per_slice": node.work, "time_per_emission": node.filling},
    }
    serial = (node.slowdown - 1) / max(node.threads - 1, 1)
    agent = {**device, "name": "agent", "routing": {**routing, "serial_share": serial}}
    link = {
        "name": "wire",
        "bandwidth": REMOTE * size / node.wire if node.wire else math.inf,
        "latency": node.wire_latency,
    }
    host_link = {
        "name": "bus",
        "bandwidth": size / node.crossing if node.crossing else math.inf,
        "latency": node.latency,
        "handover": {"time_per_buffer": node.handing_over},
    }
    system = {
        "name": "simulated", "family": "message-routing", "host": host, "agent": agent, "link": link, "host_link": host_link,
    }  # fmt: skip
    workload = {
        "name": "simulated", "family": "message-routing", "messages": node.buffers * CAPACITY, "message_size": SIZE,
        "memory_ratio": 0,
    }  # fmt: skip
    plan = {
        "name": "simulated", "family": "message-routing", "placement": {"routing": placement}, "nodes": NODES,
        "processes": node.processes, "threads": node.threads, "window": node.window, "buffers": NODES, "buffer_size": size,
        "outstanding": 1e9,
    }  # fmt: skip
    return pm.load_scenario(workload, system, plan)


def per_buffer(node: Any) -> float:
    """Return the predicted time that a long run takes for each buffer."""
    longer = dataclasses.replace(node, buffers=3 * node.buffers)
    return (pm.predict(scenario(longer)).time_s - pm.predict(scenario(node)).time_s) / (2 * node.buffers)


def deviations(nodes: list[Any]) -> np.ndarray:
    """Return |predicted / simulated - 1| of long runs."""
    return np.array([abs(per_buffer(node) / simulation.steady(node) - 1) for node in nodes])


def test_one_process_and_one_thread_are_exact() -> None:
    """Application, agent, crossing, wire or the ring: the slowest cycle is the pace, whatever the window."""
    nodes = [simulation.drawn(seed, 1, 1) for seed in range(40)]
    found = deviations(nodes)
    assert found.max() < 1e-6
    slowest = {pm.predict(scenario(node)).bottleneck for node in nodes}
    assert slowest >= {"memory_work", "routing", "ring_window"}


def test_several_processes_and_threads() -> None:
    """Without chance a closed loop settles to its slowest cycle, however many processes and threads there are."""
    found = deviations([simulation.drawn(seed) for seed in range(200, 260)])
    assert np.median(found) < 1e-6
    assert np.quantile(found, 0.9) < 1e-6
    assert found.max() < 0.005


def test_times_that_vary() -> None:
    """Work and routing that take half to three halves of their mean: buffers queue, the formula is a bound."""
    nodes = [dataclasses.replace(simulation.drawn(seed), jitter=0.5, buffers=480) for seed in range(425, 440)]
    slower = np.array([simulation.steady(node) / per_buffer(node) - 1 for node in nodes])
    assert slower.min() > -0.02
    assert np.median(slower) < 0.01
    assert slower.max() < 0.10


def test_threads_that_slow_each_other_down() -> None:
    node = dataclasses.replace(simulation.drawn(3, 4, 5), work=1e-9, routing=4e-6, window=16, latency=0.0, slowdown=1.2)
    assert per_buffer(node) == pytest.approx(simulation.steady(node), rel=0.01)
    assert per_buffer(node) == pytest.approx((4e-6 + node.delivering) * 1.2 * 4 / 5, rel=1e-9)


def test_routing_inline_adds_up() -> None:
    for seed in range(20):
        node = dataclasses.replace(simulation.drawn(seed), buffers=2000)
        predicted = pm.predict(scenario(node, "application")).time_s
        assert predicted == pytest.approx(simulation.simulate_inline(node), rel=0.01)


def test_more_buffers_in_flight_help_until_the_delay_is_covered() -> None:
    """Bandwidth x delay: the pace grows with the window up to the loop's length over its slowest part, and no further."""
    node = dataclasses.replace(
        simulation.drawn(7, 1, 1), work=0.0, filling=1e-6, handing_over=0.0, routing=0.5e-6, delivering=0.0, crossing=0.0,
        latency=3.25e-6, wire=0.0, buffers=420,
    )  # fmt: skip
    simulated, predicted = (
        [pace(dataclasses.replace(node, window=window)) for window in range(1, 9)]
        for pace in (simulation.steady, per_buffer)
    )
    assert predicted == pytest.approx(simulated, rel=1e-6)
    assert predicted[0] / predicted[-1] == pytest.approx(8.0)
    assert predicted[6] > predicted[7] == pytest.approx(1e-6)


@pytest.mark.parametrize("run", [1.0, 20.0, 200.0])
@pytest.mark.parametrize("open_buffers", [1, 2, 4, 7, 8, 12])
def test_buffers_that_are_sent_off_early(value: Value, open_buffers: int, run: float) -> None:
    messages, capacity, next_hops = 200_000, 256, 8
    predicted = value(
        "transfers", messages=messages, message_size=32.0, buffer_size=32.0 * capacity, open_buffers=open_buffers,
        run_length=run, cluster_nodes=next_hops, hops=1.0,
    )  # fmt: skip
    counted = [simulation.sent_off(messages, capacity, open_buffers, next_hops, run, seed) for seed in range(4)]
    assert predicted == pytest.approx(np.mean(counted), rel=0.06)


@pytest.mark.parametrize(("lines", "waiting"), [(2000, 10), (2000, 100), (2000, 1000), (500, 2000)])
def test_lines_that_leave_the_cache_before_they_are_read(value: Value, lines: int, waiting: int) -> None:
    line = 64.0
    loads = value(
        "agent_loads_direct", messages=1e6, message_size=line, cluster_nodes=8.0, hops=1.0, locality=0.0, processes=1.0,
        ring_buffers=8.0, buffer_size=waiting * line, direct_cache=lines * line, memory_work_time=1.0, emission_time=0.0,
        handing_over_time=0.0, offloaded_routing_time=0.5,
    )  # fmt: skip
    everything = 2.0 * 1e6 * line  # sorted once, delivered once
    arrivals = 400_000
    counted = simulation.escaped(lines, waiting, arrivals, 1)
    noise = 4 * math.sqrt(counted * (1 - counted) / arrivals)
    assert loads / everything == pytest.approx(counted, abs=noise + 0.002 * counted)


def test_the_simulation_by_hand() -> None:
    """Two buffers of one process, one in flight: 1 us of work, 1 to fill, 1 there, 2 to route, 1 back; twice."""
    node = simulation.Node(2, 1, 1, 1, 1.0, 1.0, 0.0, 2.0, 0.0, latency=1.0)
    assert simulation.simulate(node) == pytest.approx(1 + 5 + 5)
    assert simulation.simulate_inline(node) == pytest.approx(2 * 4)
