"""Constants of message routing on the machine at hand: which kernels they are fitted to, and what they mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from calibration.constant_groups import DEVICE, Group, Values, phase
from calibration.disturbance import full_speed, undisturbed
from calibration.fit import Constant
from calibration.kernels._base import Sample
from calibration.kernels._routing import OTHER, configuration
from calibration.measurements import Record, relative_spread

HANDOVER: Final = "links/this-machine-handover"
_LEAST: Final = 3  # blocks that were undisturbed on both cores; where there are fewer, the faster half counts

_NANO, _MICRO = (1e-13, 1e-5), (1e-9, 1e-2)


def _timed(
    records: Sequence[Record], field: Callable[[Sample], float] = lambda sample: sample["time"]
) -> Sequence[Record]:
    """Return records of some time of their blocks, of those alone in which neither core was disturbed."""
    fast = full_speed([pulse for record in records for pulse in _pulses(record)])
    found = []
    for record in records:
        times, rounds = np.array([field(sample) for sample in record.samples]), np.array(record.rounds)
        if pulses := _pulses(record):
            calm = undisturbed(times.tolist(), pulses, fast, _LEAST)
            times, rounds = times[calm], rounds[calm]
        each = [float(np.median(times[rounds == number])) for number in np.unique(rounds)]
        spread = relative_spread(each if len(each) > 1 else times.tolist())
        found.append(dataclasses.replace(record, time=float(np.median(times)), spread=spread))
    return found


def _pulses(record: Record) -> list[float]:
    """Return the pulses on the other core; none where a kernel does without."""
    return [sample["other_pulse"] for sample in record.samples if "other_pulse" in sample]


def _device(field: str, start: float, bounds: tuple[float, float], unit: str, meaning: str) -> Constant:
    return Constant(DEVICE, (f"routing.{field}",), start, bounds, unit, meaning)


def _handover(fields: tuple[str, ...], start: float, bounds: tuple[float, float], unit: str, meaning: str) -> Constant:
    return Constant(HANDOVER, fields, start, bounds, unit, meaning)


def _one_buffer(record: Record) -> dict[str, float]:
    """Return the values of a run of one buffer, delivered to partners in the agent's memory."""
    asked = configuration(record.point)
    return {
        "messages": float(asked.messages), "message_size": float(asked.message), "hops": 1.0, "locality": 0.0,
        "buffer_size": float(asked.messages * asked.message), "cluster_nodes": float(asked.partners), "processes": 1.0,
    }  # fmt: skip


def worked(record: Record, values: Values) -> float:
    """Return the time of a slice of memory work."""
    traffic = float(record.point["traffic"])
    run = {"messages": 1.0, "message_size": traffic, "buffer_size": traffic, "memory_ratio": 1.0, "processes": 1.0}
    return phase("memory_work", {**values, **run}, host_memory_bandwidth=1e30)


def emitted(record: Record, values: Values) -> float:
    """Return the time of emitting one buffer, which this core or the other one has read."""
    known = {**values, **_one_buffer(record)}
    time = phase("emission", known)
    if record.point.get("read_by") != OTHER:
        return time
    return time + phase("handing_over", known, handover_time_per_buffer=0.0) + 2.0 * known["host_link_latency"]


_DELIVERY: Final = ("time_per_transfer", "delivery_time_per_message", "delivery_time_per_byte")
_SORTING: Final = tuple(f"routing_time_per_{each}" for each in ("buffer", "partner", "message", "byte"))


def routed(record: Record, values: Values, left_out: Sequence[str] = ()) -> float:
    """Return the time of routing one buffer, or of one part of it, on the core that wrote it or on another."""
    known = {**values, **_one_buffer(record), **dict.fromkeys(left_out, 0.0)}
    work = phase("routing_work", known, transfers=float(record.counts.get("deliveries", 1.0)))
    if record.point.get("written_by") != OTHER:
        return work
    one = {"routing_threads": 1.0, "cores": 1.0, "routing_serial_share": 0.0, "routing_contention": 0.0}
    return phase("routing_offloaded", {**known, **one}, routing_work=work, handover_acknowledgement=0.0)


def sorted_only(record: Record, values: Values) -> float:
    """Return the time of routing without deliveries."""
    return routed(record, values, _DELIVERY)


def delivered_only(record: Record, values: Values) -> float:
    """Return the time of a buffer's deliveries."""
    return routed(record, values, _SORTING)


def displaced(record: Record, values: Values) -> float:
    """Return the time of emitting and routing one buffer after memory work."""
    run = _one_buffer(record)
    work = emitted(record, values) + routed(record, values)
    ratio = float(record.point["traffic"]) / run["buffer_size"]
    return phase("routing_inline", {**values, **run}, routing_work=work, memory_ratio=ratio)


def handed_over(record: Record, values: Values) -> float:
    """Return the time of handing one empty buffer over, at the slower end of the ring."""
    return phase("handing_over", {**values, **_one_buffer(record)}, written_byte_time=0.0)


def _sortings(records: Sequence[Record]) -> Sequence[Record]:
    return _timed(records, lambda sample: sample["time"] - sample["delivering"])


def _deliveries(records: Sequence[Record]) -> Sequence[Record]:
    own = [record for record in records if record.point["written_by"] != OTHER]
    return _timed(own, lambda sample: sample["delivering"])


def _group(
    name: str, kernel: str, predict: Callable[[Record, Values], float], constants: dict[str, Constant],
    chosen: Callable[[Sequence[Record]], Sequence[Record]] = lambda records: records,
) -> Group:  # fmt: skip
    return Group(name, (kernel,), constants, predict, chosen)


_WORK: Final = {
    "work_bandwidth": _device("work_bandwidth", 4e10, (1e8, 1e13), "B/s", "streaming update beyond the caches"),
    "time_per_slice": _device("time_per_slice", 1e-6, _MICRO, "s", "starting on a slice of memory work"),
}
_EMISSION: Final = {
    "emission_time_per_buffer": _device("time_per_emission", 2e-6, _MICRO, "s", "starting to write a buffer"),
    "emission_time_per_message": _device(
        "time_per_emitted_message", 1e-9, _NANO, "s/message", "writing and numbering one message"
    ),
    "emission_time_per_byte": _device("time_per_emitted_byte", 3e-11, _NANO, "s/B", "copying one byte of a message"),
    "written_byte_time": _handover(
        ("handover.time_per_written_byte",), 1e-10, _NANO, "s/B", "taking a byte's line back from the core that read it"
    ),
    "host_link_latency": _handover(
        ("latency",), 5e-7, _MICRO, "s", "until a core that polled is at work on what it was handed"
    ),
}
_SORT: Final = {
    "routing_time_per_buffer": _device("time_per_buffer", 5e-6, _MICRO, "s", "taking up one buffer to sort"),
    "routing_time_per_partner": _device("time_per_partner", 6e-7, _MICRO, "s", "one partner's share of a buffer"),
    "routing_time_per_message": _device(
        "time_per_routed_message", 5e-9, _NANO, "s/message", "finding one message's partner and place"
    ),
    "routing_time_per_byte": _device("time_per_routed_byte", 5e-11, _NANO, "s/B", "copying one byte to its place"),
    "read_byte_time": _handover(
        ("handover.time_per_read_byte",), 4e-11, _NANO, "s/B", "fetching one byte from the core that wrote it"
    ),
}
_DELIVER: Final = {
    "time_per_transfer": _device("time_per_transfer", 5e-6, _MICRO, "s", "delivering a full aggregation buffer"),
    "delivery_time_per_message": _device(
        "time_per_delivered_message", 3e-9, _NANO, "s/message", "entering one message into its histogram"
    ),
    "delivery_time_per_byte": _device("time_per_delivered_byte", 2e-11, _NANO, "s/B", "taking in one byte"),
}
_DISPLACED: Final = {
    "routing_restart_time": _device(
        "restart_time", 5e-6, _MICRO, "s", "bringing tables and code back for a buffer, once displaced"
    ),
    "routing_displaced_byte_time": _device(
        "time_per_displaced_byte", 5e-11, _NANO, "s/B", "bringing buffers back for one byte, once displaced"
    ),
    "displacement": _device(
        "displacement", 1e6, (1e4, 1e9), "B", "memory traffic after which most of them are displaced"
    ),
}
_SIGNALS: Final = {
    "handover_time_per_buffer": _handover(
        ("handover.time_per_buffer", "handover.time_per_acknowledgement"),
        5e-7,
        _MICRO,
        "s",
        "giving one signal and taking one, at either end",
    ),
}

ROUTING_GROUPS: Final = (
    _group("memory_work", "memory_work", worked, _WORK),
    _group("emission", "message_emission", emitted, _EMISSION, _timed),
    _group("routing", "message_routing", sorted_only, _SORT, _sortings),
    _group("routing", "message_routing", delivered_only, _DELIVER, _deliveries),
    _group("routing", "message_displacement", displaced, _DISPLACED),
    _group("handing_over", "buffer_handover", handed_over, _SIGNALS, _timed),
)
