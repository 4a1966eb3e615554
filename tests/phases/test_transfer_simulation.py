"""The closed forms of the transfer phases against an event-by-event simulation of the protocol.

The design spans four orders of magnitude between the costs of sender, wire, receiver and acknowledgement, chunks from
1 kB to 3 MB, 1 to 200 chunks a tensor, four of five with a smaller last chunk.
"""

from __future__ import annotations

import dataclasses
import math
import random
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import perfmodel as pm

Value = Callable[..., float]


def predicted(value: Value, link: Any, tensors: Sequence[float]) -> float:
    """Return what the compiled phases say of the simulated protocol."""
    return sum(_tensor(value, link, tensor) for tensor in tensors)


def _tensor(value: Value, link: Any, tensor: float) -> float:
    buffer = {
        "tensor_bytes": tensor, "receiver_copy_bandwidth": link.receiver_copy, "receiver_heap_limit": link.heap_limit
    }  # fmt: skip
    growth = {"heap_bandwidth": link.heap_bandwidth, "fresh_bandwidth": link.fresh_bandwidth, "chunk": link.chunk}
    if link.regrown:
        aggregation = value("aggregation_regrown", **buffer, **growth)
    else:
        aggregation = value("aggregation_preallocated", **buffer, fault_time=link.fault_time)
    sending = {
        "tensor_bytes": tensor,
        "chunk": link.chunk,
        "window": link.window,
        "devices": link.nodes,
        "link_bandwidth": link.bandwidth,
        "link_latency": link.latency,
        "header_bytes": link.header,
        "chunk_time": link.time_per_chunk,
        "acknowledgement_time": link.acknowledgement,
        "packet_time": link.packet,
        "conversion_time": link.conversion,
        "sender_copy_bandwidth": link.sender_copy,
        "aggregation_time": aggregation,
    }
    return (
        value("transfer_regrown", **{**sending, **growth, **buffer}) if link.regrown else value("transfer", **sending)
    )


def drawn(protocol: types.ModuleType, seed: int, count: int, regrown: bool, nodes: int = 1) -> list[tuple[Any, float]]:
    """Draw links and tensors; costs of one chunk are drawn around each other, so that any of them may dominate."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        chunk = float(int(10 ** rng.uniform(3, 6.5)))
        many = math.exp(rng.uniform(0, math.log(200)))
        tensor = float(int(chunk * many)) if rng.random() < 0.8 else chunk * math.ceil(many)
        base = chunk / 1e9 * 10 ** rng.uniform(-0.5, 0.5)

        def cost(likely: float, base: float = base) -> float:
            return base * 10 ** rng.uniform(-1.5, 1) if rng.random() < likely else 0.0

        def rate(likely: float, chunk: float = chunk, cost: Callable[[float], float] = cost) -> float:
            time = cost(likely)
            return chunk / time if time else math.inf

        heap = 1e9 * 10 ** rng.uniform(-0.5, 1.3)
        link = protocol.Protocol(
            chunk=chunk,
            window=rng.choice([1, 2, 3, 4, 8, 16]),
            bandwidth=rate(1.0),
            latency=cost(0.7),
            header=rng.choice([0.0, 32.0, chunk / 20]),
            time_per_chunk=cost(0.5) / 3,
            acknowledgement=cost(0.7) * 2,
            packet=cost(0.5),
            conversion=cost(0.5) / chunk,
            sender_copy=rate(0.7),
            receiver_copy=rate(0.7),
            regrown=regrown,
            heap_limit=float(int(rng.choice([0.0, 0.3, 0.6, 2.0]) * tensor)),
            heap_bandwidth=heap,
            fresh_bandwidth=heap / rng.choice([1, 3, 10]),
            fault_time=cost(0.3) / chunk,
            nodes=nodes,
        )
        found.append((link, tensor))
    return found


def deviations(value: Value, protocol: types.ModuleType, cases: list[tuple[Any, float]]) -> np.ndarray:
    """Return |predicted / simulated - 1|."""
    return np.array([abs(predicted(value, link, [size]) / protocol.simulate(link, [size]) - 1) for link, size in cases])


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_preallocated_receiver_is_exact(value: Value, protocol: types.ModuleType, nodes: int) -> None:
    """Any window, a smaller last chunk, headers, several memory nodes: the closed form is the protocol."""
    assert deviations(value, protocol, drawn(protocol, 1, 300, regrown=False, nodes=nodes)).max() < 1e-9


def test_regrown_receiver_is_exact_with_stop_and_wait(value: Value, protocol: types.ModuleType) -> None:
    cases = [(dataclasses.replace(link, window=1), size) for link, size in drawn(protocol, 2, 300, regrown=True)]
    assert deviations(value, protocol, cases).max() < 1e-9


def test_regrown_receiver_with_a_window(value: Value, protocol: types.ModuleType) -> None:
    """The receiver slows down along the tensor; the closed form takes the pace of the slowest, chunk by chunk."""
    cases = [case for case in drawn(protocol, 3, 900, regrown=True) if case[0].window > 1]
    found = deviations(value, protocol, cases)
    assert len(cases) > 600
    assert np.median(found) < 1e-6
    assert np.quantile(found, 0.9) < 0.01
    assert np.quantile(found, 0.99) < 0.05
    assert found.max() < 0.08


def test_regrown_receiver_with_several_memory_nodes(value: Value, protocol: types.ModuleType) -> None:
    """Nodes that take turns arrive in bursts, which the formula evens out: short tensors may come out slower."""
    found = np.concatenate(
        [deviations(value, protocol, drawn(protocol, 4, 200, regrown=True, nodes=nodes)) for nodes in (2, 5)]
    )
    assert np.median(found) < 0.01
    assert np.quantile(found, 0.9) < 0.06


def test_the_estimate_warns_of_several_nodes_and_a_regrown_buffer() -> None:
    warned = {
        devices: any(
            "regrown buffer" in warning for warning in pm.predict(sockets.replace({"plan.devices": devices})).warnings
        )
        for sockets in [pm.load_scenario("reddit", "lgnnic-sockets")]
        for devices in (1, 2)
    }
    assert warned == {1: False, 2: True}


def test_a_whole_prediction_is_what_the_simulation_gives(protocol: types.ModuleType) -> None:
    """Tensor by tensor, with the catalog's link: sizes are the estimate's, the time the simulation's."""
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma", changes={"plan.transfer.window": 3})
    estimate = pm.predict(scenario)
    link, plan = scenario.system.link, scenario.plan
    assert link is not None
    simulated = sum(
        protocol.simulate(
            protocol.Protocol(
                chunk=plan.transfer.chunk,
                window=int(plan.transfer.window),
                bandwidth=link.bandwidth,
                latency=link.latency,
                header=link.header,
                time_per_chunk=link.time_per_chunk,
                acknowledgement=link.time_per_acknowledgement,
                packet=link.time_per_packet,
                conversion=getattr(link.conversion, kind),
                sender_copy=scenario.system.memory_node.copy_bandwidth,
                receiver_copy=scenario.system.compute_node.copy_bandwidth,
                heap_limit=scenario.system.compute_node.heap_limit,
                fault_time=link.fault_time,
            ),
            [estimate.bytes[kind]],
        )
        for kind in ("features", "edge_index", "labels")
    )
    transfer = next(phase.time_s for phase in estimate.phases if phase.name == "transfer")
    assert transfer == pytest.approx(simulated, rel=1e-9)


def test_tensors_follow_each_other(value: Value, protocol: types.ModuleType) -> None:
    for regrown in (False, True):
        for link, size in drawn(protocol, 5, 40, regrown=regrown):
            link = dataclasses.replace(link, window=1 if regrown else link.window)
            tensors = [size, 0.0, float(int(size / 3)), link.chunk, 1.0]
            assert predicted(value, link, tensors) == pytest.approx(protocol.simulate(link, tensors), rel=1e-9)


def test_the_simulation_by_hand(protocol: types.ModuleType) -> None:
    """Three chunks of 1 s at each of sender, wire and receiver, acknowledged after 1 s."""
    link = protocol.Protocol(
        chunk=1.0, window=1, bandwidth=1.0, acknowledgement=1.0, sender_copy=1.0, receiver_copy=1.0
    )
    assert protocol.simulate(link, [3.0]) == 12.0
    assert protocol.simulate(dataclasses.replace(link, window=2), [3.0]) == 4 + 4  # 0-4, 1-5, 4-8
    assert protocol.simulate(dataclasses.replace(link, window=3), [3.0]) == 6.0
    assert protocol.simulate(dataclasses.replace(link, window=3), [2.5]) == 5.5  # received at 3, 4 and 4.5


def test_regrowing_by_hand(protocol: types.ModuleType) -> None:
    """Chunks 2 and 3 take along 1 and 2 bytes; the second regrowth leaves the heap and is four times slower."""
    link = protocol.Protocol(
        chunk=1.0, window=1, bandwidth=1.0, regrown=True, heap_limit=2.0, heap_bandwidth=1.0, fresh_bandwidth=0.25
    )
    assert protocol.simulate(link, [3.0]) == 3 + 1 + 8
