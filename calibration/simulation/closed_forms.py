"""The model's phases at the settings of the simulations' random designs: what the compiled formulas say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibration.simulation.cache import SlidingWindow
from calibration.simulation.flash import Flash, Load
from calibration.simulation.recurrent_chain import Chain
from calibration.simulation.switch import Switch, Traffic, wire_bytes
from perfmodel.model.compile import compiled
from perfmodel.model.families.dynamic_training import _CACHES, _FOUND


def after(values: dict[str, Any], *chain: str) -> dict[str, Any]:
    """Run phases, each with the results of those before it; returns all values."""
    found = dict(values)
    for name in chain:
        phase = compiled()[name]
        arguments = [found[argument] for argument in phase.arguments]
        found[phase.result] = float(np.ravel(phase.function(*arguments))[0])
    return found


def flash_values(flash: Flash, transfer: float, depth: float) -> dict[str, Any]:
    """Return a flash device in the words of the model, its closed loop worked out."""
    values: dict[str, Any] = {
        "channels": flash.channels, "packages": flash.packages, "dies": flash.dies, "planes": flash.planes,
        "planes_read_alone": float(flash.independent_planes), "array_read_time": flash.array_read,
        "array_program_time": flash.array_program, "command_time": flash.command_time, "page": flash.page,
        "holds_next_page": float(flash.cache_register), "firmware_cores": flash.firmware_cores,
        "firmware_time": flash.firmware_time, "channel_bandwidth": flash.channel_bandwidth, "queue_depth": depth,
        "sends_rows": 1.0, "feature_dimension": transfer, "row_width": 1.0, "device_turns": 1.0,
    }  # fmt: skip
    found = after(values, "flash_bus", "flash_throughput", "flash_latency")
    found["flash_latency"] += (
        flash.stack_time
    )  # of a host in front of it: a latency that any number of reads overlap in
    return after(found, "flash_sharpness", "flash_pace")


def reads_per_second(flash: Flash, load: Load) -> float:
    """Return the throughput of a closed loop of reads."""
    transfer = flash.page if load.transfer is None else load.transfer
    return 1.0 / float(flash_values(flash, transfer, float(load.depth))["flash_pace"])


def writes_per_second(flash: Flash, load: Load) -> float:
    """Return the throughput of striped writes."""
    values = flash_values(flash, flash.page, float(load.depth)) | {
        "changed_share": 1.0, "batch_targets": 1.0, "snapshot_nodes": 1.0, "snapshot_edges": 0.0, "feature_dimension": 1.0,
        "id_bytes": 1.0, "devices": 1.0, "by_chunk": 0.0, "queue_depth": float(load.depth),
    }  # fmt: skip
    return 1.0 / float(after(values, "flash_writes")["write_time"])


def batch_seconds(flash: Flash, hops: Sequence[int], depth: int, strict: bool) -> float:
    """Return how long the reads of a mini-batch take."""
    values = flash_values(flash, flash.page, float(depth))
    if strict:
        return float(sum(after({**values, "flash_reads": float(reads)}, "flash_hop")["flash_time"] for reads in hops))
    ramps = [
        after({**values, "flash_reads": float(reads), "hop_fanout": float(number < len(hops) - 1)}, "hop_ramp")[
            "ramp_time"
        ]
        for number, reads in enumerate(hops)
    ]
    stream = {**values, "flash_reads": float(sum(hops)), "ramp_time": sum(ramps)}
    return float(after(stream, "flash_stream")["flash_time"])


def hit_rate(trace: SlidingWindow, policy: str, capacity: float) -> float:
    """Return the share of accesses that hit."""
    values = {
        "cache_capacity": float(capacity), "snapshot_nodes": float(trace.items), "frame_length": float(trace.window),
        "shared_share": trace.shared, "skew": trace.skew, "requests_per_row": (trace.draws or trace.items) / trace.items,
    }  # fmt: skip
    access = "scan" if trace.draws is None else "drawn"
    return float(after(values | dict.fromkeys(_FOUND, 0.0), *_CACHES[f"{policy} {access}"])["hit_share"])


def chain_seconds(chain: Chain) -> float:
    """Return the makespan of a frame in two phases, snapshots in turn on the devices, layers as a wave."""
    bounced = chain.exchange == "host"
    latency = chain.link_latency if bounced else (chain.link_latency + chain.doorbell_time) / 2  # crossed two times
    turns = float(np.ceil(chain.snapshots / chain.devices))
    values = {
        "frame_length": float(chain.snapshots), "devices": float(chain.devices), "cell_layers": float(chain.layers),
        "is_resident": 1.0, "forward_cell_time": chain.cell_time, "backward_cell_time": chain.backward_cell_time,
        "batch_targets": float(chain.messages), "messages_per_target": 1.0, "hidden_width": chain.message_bytes,
        "row_width": 1.0, "id_bytes": 0.0, "link_bandwidth": chain.link_bandwidth, "link_latency": latency,
        "pass_time": chain.software_time / 2, "passes": 1.0, "peer_message_time": chain.peer_message_time,
        "doorbell_time": chain.doorbell_time,
    }  # fmt: skip
    names = ("exchange_bounced", "chain_bounced") if bounced else ("exchange_peer", "chain_peer")
    graphs = turns * (chain.gnn_time + chain.backward_gnn_time)
    return graphs + float(after(values, *names)["chain_time"])


def traffic_seconds(switch: Switch, traffic: Traffic) -> float:
    """Return how long rows take from the host to all devices, or from each device to the next, through a switch."""
    packed = traffic.size / wire_bytes(switch, traffic.size)
    values = {
        "row_width": 1.0, "id_bytes": 0.0, "feature_dimension": traffic.size, "devices": float(switch.devices),
        "link_bandwidth": switch.link_bandwidth * packed, "uplink_bandwidth": switch.host_bandwidth * packed,
        "uplink_latency": switch.hop_latency, "link_latency": switch.hop_latency, "device_turns": 1.0,
        "is_double_buffered": 0.0, "graph_work_time": 0.0, "pool_request_time": switch.message_time,
        "pool_requests": float(traffic.outstanding), "pooled_rows": float(traffic.messages), "frame_length": 1.0,
        "peer_message_time": switch.message_time, "cut_share": 1.0,
        "hop_nodes": traffic.messages * switch.devices / (1.0 - 1.0 / switch.devices),
    }  # fmt: skip
    if traffic.pattern == "host-reads":
        return float(after(values, "pool_fetch")["pool_time"])
    return float(after(values, "rows_peer")["rows_time"])
