"""The phases of dynamic training against numbers worked out by hand: those of the docstrings, and limiting cases."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import perfmodel as pm
from perfmodel.model.bound import bind

Value = Callable[..., float]
INF = math.inf
US, PJ_PER_BIT = 1e-6, 8e-12

#: Graph and rows: 602 elements of 2 B, 1,445 neighbors of 4 B.
REDDIT = {"feature_dimension": 602.0, "row_width": 2.0, "id_bytes": 4.0}
DENSE = {"snapshot_nodes": 1e6, "snapshot_edges": 1.445e9}
AMAZON = {"feature_dimension": 200.0, "row_width": 2.0, "id_bytes": 4.0}
#: States of 128 targets, each 16 B and a message.
STATES = {
    "batch_targets": 128.0, "messages_per_target": 1.0, "hidden_width": 6.0, "row_width": 2.0, "id_bytes": 4.0
}  # fmt: skip
ONE_STATE = {**STATES, "batch_targets": 1.0, "link_bandwidth": 16e6}
ARRAY = {"array_rows": 64.0, "array_columns": 64.0, "array_frequency": 800e6}
LAYER = {**ARRAY, "hop_nodes": 1664.0, "feature_dimension": 602.0, "hidden_width": 6.0}
SUMS = {
    "hop_nodes": 1664.0, "hop_fanout": 3.0, "is_first_layer": 1.0, "feature_dimension": 602.0, "hidden_width": 6.0,
    "vector_width": 64.0, "array_frequency": 800e6, "degree_bias": 1.0, **DENSE,
}  # fmt: skip
PACKAGE = {"channels": 16.0, "packages": 4.0, "dies": 2.0, "planes": 2.0, "planes_read_alone": 1.0}
SINGLE = dict.fromkeys(PACKAGE, 1.0)
READS = {
    **PACKAGE, "array_read_time": 12 * US, "command_time": 0.0, "holds_next_page": 0.0, "bus_time": 5.12 * US,
    "firmware_cores": 1.0, "firmware_time": 0.0,
}  # fmt: skip
HOP = {
    **READS,
    "flash_reads": 128.0,
    "queue_depth": 256.0,
    "flash_pace": 0.4 * US,
    "flash_latency": 17.12 * US,
    "device_turns": 1.0,
}
WRITES = {
    **PACKAGE, **REDDIT, **DENSE, "changed_share": 0.01, "batch_targets": 128.0, "page": 4096.0, "channel_bandwidth": 800e6,
    "array_program_time": 100 * US, "queue_depth": 256.0, "devices": 4.0, "by_chunk": 0.0, "command_time": 0.0,
    "firmware_cores": 1.0, "firmware_time": 0.0,
}  # fmt: skip
#: 4 snapshots on 4 devices, cells of 1 and 2 us, handovers of 100 us.
CHAIN = {
    **ONE_STATE, "frame_length": 4.0, "devices": 4.0, "cell_layers": 1.0, "is_resident": 0.0, "forward_cell_time": 1 * US,
    "backward_cell_time": 2 * US, "exchange_time": 100 * US,
}  # fmt: skip
BOUNCED = {**CHAIN, "pass_time": 1 * US, "passes": 1.0}
PEER = {**CHAIN, "peer_message_time": 0.0, "doorbell_time": 1 * US}
TURNS = {"frame_length": 4.0, "frames_in_flight": 16.0, "devices": 16.0, "by_frame": 0.0, "by_chunk": 0.0}
LOCAL = {
    "frame_length": 4.0, "cell_layers": 1.0, "forward_cell_time": 0.5 * US, "backward_cell_time": 0.5 * US,
    "frames_in_flight": 16.0, "devices": 4.0, "by_frame": 1.0,
}  # fmt: skip
BLOCKS = {
    "device_turns": 1.0, "hop_nodes": 5120.0, "flash_reads": 5120.0, "pass_time": 10 * US, "block_reads_at_once": 4.0,
    "flash_time": 1e-3, "page": 4096.0, "frame_length": 4.0, "pipeline_stages": 1.0, "link_bandwidth": 25e9,
    "uplink_bandwidth": 100e9, "devices": 4.0,
}  # fmt: skip
COPY = {
    "device_turns": 1.0, "hop_nodes": 5120.0, **REDDIT, "link_bandwidth": 25e9, "uplink_bandwidth": 100e9, "devices": 4.0,
    "uplink_latency": 0.15 * US,
}  # fmt: skip
FETCH = {
    "device_turns": 1.0, "pooled_rows": 3430.0, **AMAZON, "is_double_buffered": 1.0, "pool_request_time": 0.0, "pool_requests": 256.0, "graph_work_time": 600 * US,
    "link_bandwidth": 25e9, "uplink_bandwidth": 100e9, "devices": 4.0, "uplink_latency": 0.15 * US,
}  # fmt: skip
#: Windows of 4 snapshots with 100 rows each.
SCAN = {"snapshot_nodes": 100.0, "frame_length": 4.0, "shared_share": 0.0}
#: 1,000 rows, all as popular, as many draws in a visit.
POPULAR = {"snapshot_nodes": 1000.0, "skew": 0.0}
DRAWN = {**POPULAR, "frame_length": 4.0, "shared_share": 0.0, "requests_per_row": 1.0}
#: Visits that touch half of them.
VISITS = {**POPULAR, "shared_share": 0.0, "requests_per_row": 0.6931471806}
POOL = {
    "pool_size": INF, "pool_share": 0.5, "snapshot_nodes": 37.3e6, "shared_share": 1.0, "frame_length": 4.0, **REDDIT
}  # fmt: skip
ROOM = {
    "device_memory": 4e9, "page": 4096.0, "devices": 4.0, "frame_length": 4.0, "shared_share": 0.0, **REDDIT, **DENSE
}  # fmt: skip
WORK = {
    "device_turns": 1.0, "graph_traffic": 24.5e6, "memory_bandwidth": 25.6e9, "product_time": 0.25e-3, "sum_time": 0.25e-3,
    "hop_nodes": 5120.0, "graph_time_per_node": 70e-9,
}  # fmt: skip
CHUNKS = {
    "frame_length": 4.0, "cut_share": 0.25, "hop_nodes": 5120.0, "devices": 4.0, **AMAZON
}  # fmt: skip
ENERGIES = {"link_energy": 8.5 * PJ_PER_BIT, "host_memory_energy": 48 * PJ_PER_BIT}

CASES = {
    "accelerator copy": ("accelerator_copy", COPY, 247.6984 * US),
    "accelerator copy, uplink shared by 8": ("accelerator_copy", {**COPY, "devices": 8.0}, 495.0968 * US),
    "backward cells": ("backward_cells", {**ARRAY, "batch_targets": 128.0, "hidden_width": 6.0}, 0.67 * US),
    "forward cells": ("forward_cells", {**ARRAY, "batch_targets": 128.0, "hidden_width": 6.0}, 0.32 * US),
    "block reads, software": ("block_reads", BLOCKS, 12.8e-3),
    "block reads, three stages": ("block_reads", {**BLOCKS, "pipeline_stages": 3.0}, 19.2e-3),
    "block reads, flash": ("block_reads", {**BLOCKS, "flash_time": 20e-3}, 20e-3),
    "block reads, link": ("block_reads", {**BLOCKS, "link_bandwidth": 1e9}, 20.97152e-3),
    "block reads, uplink": ("block_reads", {**BLOCKS, "uplink_bandwidth": 2e9}, 41.94304e-3),
    "chain bounced": ("chain_bounced", BOUNCED, 612 * US),
    "chain bounced, one device that sends to itself": ("chain_bounced", {**BOUNCED, "devices": 1.0}, 612 * US),
    "chain bounced, one device that keeps": ("chain_bounced", {**BOUNCED, "devices": 1.0, "is_resident": 1.0}, 12 * US),
    "chain bounced, the host serves 40 exchanges one by one": (
        "chain_bounced",
        {
            **BOUNCED,
            "frame_length": 6.0,
            "devices": 6.0,
            "cell_layers": 8.0,
            "messages_per_target": 2.0,
            "pass_time": 2.5,
            "exchange_time": 10.0,
            "forward_cell_time": 0.001,
            "backward_cell_time": 0.0,
        },
        800.002,
    ),
    "chain peer": ("chain_peer", PEER, 612 * US),
    "chain peer, layers follow one another over the engine": (
        "chain_peer",
        {
            **PEER,
            "frame_length": 2.0,
            "devices": 2.0,
            "cell_layers": 3.0,
            "peer_message_time": 4.0,
            "link_bandwidth": INF,
            "exchange_time": 5.0,
            "forward_cell_time": 1.0,
            "backward_cell_time": 1.0,
            "doorbell_time": 0.0,
        },
        30.0,
    ),
    "chain peer, two layers on two devices by hand": (
        "chain_peer",
        {
            **PEER,
            "devices": 2.0,
            "cell_layers": 2.0,
            "exchange_time": 0.0,
            "forward_cell_time": 1.0,
            "link_bandwidth": INF,
            "backward_cell_time": 0.0,
            "doorbell_time": 0.0,
        },
        5.0,
    ),
    "chain local": ("chain_local", LOCAL, 1 * US),
    "chain local, five frames on four devices": ("chain_local", {**LOCAL, "frames_in_flight": 5.0}, 1.6 * US),
    "chain local, chunks": ("chain_local", {**LOCAL, "by_frame": 0.0}, 4 * US),
    "control plane": (
        "control_plane",
        {"frame_length": 4.0, "devices": 4.0, "is_resident": 1.0, "doorbell_time": 1 * US},
        6 * US,
    ),
    "control plane, one device": (
        "control_plane",
        {"frame_length": 4.0, "devices": 1.0, "is_resident": 1.0, "doorbell_time": 1 * US},
        0.0,
    ),
    "device turns": ("device_turns", TURNS, 0.25),
    "device turns, one frame in flight": ("device_turns", {**TURNS, "frames_in_flight": 1.0}, 1.0),
    "device turns, 64 snapshots on 3": ("device_turns", {**TURNS, "devices": 3.0}, 1.375),
    "device turns, frames": ("device_turns", {**TURNS, "by_frame": 1.0}, 0.25),
    "device turns, 16 frames on 5": ("device_turns", {**TURNS, "by_frame": 1.0, "devices": 5.0}, 1.0),
    "device turns, chunks": ("device_turns", {**TURNS, "by_chunk": 1.0, "devices": 5.0}, 0.8),
    "draws remembered": ("draws_remembered", {**POPULAR, "cache_capacity": 500.0, "remembered_draws": 0.0}, 693.14718),
    "draws remembered, the step stays": (
        "draws_remembered",
        {**POPULAR, "cache_capacity": 500.0, "remembered_draws": 693.1471806},
        693.14718,
    ),
    "visits remembered": (
        "visits_remembered",
        {**VISITS, "cache_capacity": 1500.0, "remembered_visits": 0.0},
        3.0,
    ),
    "visits remembered, all rows shared": (
        "visits_remembered",
        {**VISITS, "shared_share": 1.0, "cache_capacity": 750.0, "remembered_visits": 2.0},
        2.0,
    ),
    "draws admitted, the step stays": (
        "draws_admitted",
        {**DRAWN, "cache_capacity": 1170.338968, "admitted_draws": 1500.0},
        1500.0,
    ),
    "draws admitted, to begin with": (
        "draws_admitted",
        {**DRAWN, "cache_capacity": 1e9, "admitted_draws": 0.0},
        3000.0,
    ),
    "drawn, LRU within a visit": (
        "drawn_lru",
        {**DRAWN, "remembered_draws": 500.0, "remembered_visits": 0.5},
        0.30326533,
    ),
    "drawn, LRU of everything": (
        "drawn_lru",
        {**DRAWN, "remembered_draws": 1e4, "remembered_visits": 1000.0},
        0.75457891,
    ),
    "drawn, a pool of everything": (
        "drawn_pinned",
        {**DRAWN, "cache_capacity": 1e6, "admitted_draws": 3000.0, "remembered_draws": 1e4},
        0.75457891,
    ),
    "drawn, a pool of half of what all share": (
        "drawn_pinned",
        {**DRAWN, "shared_share": 1.0, "cache_capacity": 500.0, "admitted_draws": 0.0, "remembered_draws": 693.1471806},
        0.5,
    ),
    "energy of block reads": (
        "energy_block_reads",
        {"frame_length": 1.0, "flash_reads": 5120.0, "page": 4096.0, "hop_nodes": 5120.0, **AMAZON, **ENERGIES},
        29.67552e-3,
    ),
    "energy of device memory": (
        "energy_device_memory",
        {
            "frame_length": 1.0,
            "graph_traffic": 6_164_480.0,
            "hop_nodes": 5120.0,
            "feature_dimension": 602.0,
            "row_width": 2.0,
            "device_memory_energy": 48 * PJ_PER_BIT,
        },
        4.73432064e-3,
    ),
    "energy of flash that waits": (
        "energy_flash_idle",
        {
            "devices": 1.0,
            "channels": 16.0,
            "packages": 4.0,
            "dies": 2.0,
            "idle_power": 16.5e-3,
            "sampler_power": 5.23e-3,
            "total_time": 10e-3,
            "flash_time": 1e-3,
        },
        3.30944e-3,
    ),
    "energy of pooled rows": (
        "energy_pool",
        {"frame_length": 1.0, "pooled_rows": 3430.0, **AMAZON, **ENERGIES},
        0.7205744e-3,
    ),
    "energy of reads": (
        "energy_reads",
        {"frame_length": 1.0, "flash_reads": 5120.0, "reading_power": 105.6e-3, "array_read_time": 12 * US},
        6.488064e-3,
    ),
    "energy of devices": ("energy_static", {"devices": 4.0, "device_power": 1.0, "total_time": 10e-3}, 40e-3),
    "energy of bounced states": ("energy_states_bounced", {**STATES, "frame_length": 4.0, **ENERGIES}, 14.90944 * US),
    "energy of peers' states": (
        "energy_states_peer",
        {**STATES, "frame_length": 4.0, "link_energy": 8.5 * PJ_PER_BIT},
        1.671168 * US,
    ),
    "exchange bounced": (
        "exchange_bounced",
        {**STATES, "link_bandwidth": 25.6e9, "link_latency": 0.15 * US, "pass_time": 10 * US, "passes": 3.0},
        866.96791667 * US,
    ),
    "exchange bounced, a slow link sets the pace": (
        "exchange_bounced",
        {
            **STATES,
            "batch_targets": 3.0,
            "link_bandwidth": 1e6,
            "link_latency": 0.0,
            "pass_time": 10 * US,
            "passes": 100.0,
        },
        84 * US,
    ),
    "exchange peer": (
        "exchange_peer",
        {**STATES, "link_bandwidth": 25.6e9, "link_latency": 0.15 * US, "peer_message_time": 1.8 * US},
        230.78 * US,
    ),
    "flash bus, a page": (
        "flash_bus",
        {
            "command_time": 0.0,
            "sends_rows": 0.0,
            "page": 4096.0,
            "feature_dimension": 200.0,
            "row_width": 2.0,
            "channel_bandwidth": 800e6,
        },
        5.12 * US,
    ),
    "flash bus, a row": (
        "flash_bus",
        {
            "command_time": 0.1 * US,
            "sends_rows": 1.0,
            "page": 4096.0,
            "feature_dimension": 200.0,
            "row_width": 2.0,
            "channel_bandwidth": 800e6,
        },
        0.6 * US,
    ),
    "flash latency": (
        "flash_latency",
        {"firmware_time": 1 * US, "array_read_time": 12 * US, "bus_time": 5.12 * US},
        18.12 * US,
    ),
    "flash throughput, buses": ("flash_throughput", READS, 3.125e6),
    "flash throughput, dies": (
        "flash_throughput",
        {**READS, "channels": 2.0, "packages": 1.0, "dies": 1.0, "planes_read_alone": 0.0, "array_read_time": 80 * US},
        2 / 85.12e-6,
    ),
    "flash throughput, dies with a second register": (
        "flash_throughput",
        {
            **READS,
            "channels": 2.0,
            "packages": 1.0,
            "dies": 1.0,
            "planes_read_alone": 0.0,
            "array_read_time": 80 * US,
            "holds_next_page": 1.0,
        },
        25e3,
    ),
    "flash throughput, firmware": ("flash_throughput", {**READS, "firmware_time": 1 * US}, 1e6),
    "flash sharpness, as many reads as planes": (
        "flash_sharpness",
        {
            **READS,
            "channels": 1e9,
            "packages": 1.0,
            "dies": 1.0,
            "planes": 1.0,
            "bus_time": 0.0,
            "flash_latency": 12 * US,
            "flash_throughput": 1e9 / 12e-6,
        },
        1.2960867,
    ),
    "flash sharpness, a single plane": (
        "flash_sharpness",
        {**READS, **SINGLE, "flash_latency": 17.12 * US, "flash_throughput": 1 / 17.12e-6},
        math.log(2) / -math.log(0.99),
    ),
    "flash pace": (
        "flash_pace",
        {"flash_latency": 17.12 * US, "flash_throughput": 3.125e6, "flash_sharpness": 2.0, "queue_depth": 64.0},
        math.hypot(17.12, 20.48) / 64 * US,
    ),
    "flash hop, the fullest of 16 channels": ("flash_hop", HOP, 80.898586 * US),
    "flash hop, on a device in four": ("flash_hop", {**HOP, "device_turns": 0.25}, 20.2246465 * US),
    "flash hop, a single read": ("flash_hop", {**HOP, "flash_reads": 1.0}, 17.12 * US),
    "flash hop, half of a read": ("flash_hop", {**HOP, "flash_reads": 0.5}, 8.56 * US),
    "flash hop, one plane": ("flash_hop", {**HOP, **SINGLE, "flash_reads": 10.0}, 171.2 * US),
    "flash stream, one plane": (
        "flash_stream",
        {**HOP, **SINGLE, "flash_reads": 10.0, "ramp_time": 5 * US},
        176.2 * US,
    ),
    "flash stream, more than are in flight": (
        "flash_stream",
        {**HOP, **SINGLE, "flash_reads": 300.0, "queue_depth": 100.0, "flash_pace": 20 * US, "ramp_time": 0.0},
        (200 * 20 + 99 * 17.12 + 17.12) * US,
    ),
    "flash stream, all of them on one plane": (
        "flash_stream",
        {**HOP, **SINGLE, "flash_reads": 300.0, "queue_depth": 100.0, "flash_pace": 1 * US, "ramp_time": 0.0},
        300 * 17.12 * US,
    ),
    "flash reads, last hop": (
        "flash_reads",
        {"page_reads": 1152.0, "local_miss_share": 0.5, "pool_miss_share": 0.36, "hop_fanout": 0.0, "pools_lists": 0.0},
        207.36,
    ),
    "flash reads, lists": (
        "flash_reads",
        {"page_reads": 1152.0, "local_miss_share": 0.5, "pool_miss_share": 0.36, "hop_fanout": 3.0, "pools_lists": 0.0},
        576.0,
    ),
    "flash reads, lists in the pool": (
        "flash_reads",
        {"page_reads": 1152.0, "local_miss_share": 0.5, "pool_miss_share": 0.36, "hop_fanout": 3.0, "pools_lists": 1.0},
        207.36,
    ),
    "flash writes": ("flash_writes", WRITES, 1.0512 * US),
    "flash writes, chunks": ("flash_writes", {**WRITES, "by_chunk": 1.0}, 0.2628 * US),
    "flash writes, one at a time": ("flash_writes", {**WRITES, "queue_depth": 1.0}, 2.56 * 105.12 * US),
    "graph traffic, all kept": (
        "graph_traffic",
        {"hop_nodes": 5120.0, "summed_nodes": 1664.0, "feature_dimension": 602.0, "row_width": 2.0, "scratchpad": 6e6},
        6_164_480.0,
    ),
    "graph traffic, half kept": (
        "graph_traffic",
        {"hop_nodes": 5120.0, "summed_nodes": 1664.0, "feature_dimension": 602.0, "row_width": 2.0, "scratchpad": 2e6},
        9_174_848.0,
    ),
    "graph work, memory": ("graph_work", WORK, 1315.43125 * US),
    "graph work, array": ("graph_work", {**WORK, "product_time": 2e-3, "device_turns": 0.25}, (2250 + 358.4) / 4 * US),
    "hop nodes": (
        "hop_nodes",
        {"batch_targets": 128.0, "hop_width": 27.0, "hop_depth": 3.0, **DENSE, "degree_bias": 1.0},
        3456.0,
    ),
    "hop nodes, few neighbors": (
        "hop_nodes",
        {
            "batch_targets": 128.0,
            "hop_width": 27.0,
            "hop_depth": 3.0,
            "snapshot_nodes": 10.0,
            "snapshot_edges": 5.0,
            "degree_bias": 4.0,
        },
        1024.0,
    ),
    "hop ramp": (
        "hop_ramp",
        {"flash_reads": 128.0, "hop_fanout": 3.0, "flash_latency": 17.12 * US, "queue_depth": 256.0},
        8.56 * US,
    ),
    "hop ramp, last hop": (
        "hop_ramp",
        {"flash_reads": 128.0, "hop_fanout": 0.0, "flash_latency": 17.12 * US, "queue_depth": 256.0},
        0.0,
    ),
    "layer products": ("layer_products", {**LAYER, "is_first_layer": 1.0, "is_target_hop": 1.0}, 85.85 * US),
    "layer products, another hop": (
        "layer_products",
        {**LAYER, "is_first_layer": 1.0, "is_target_hop": 0.0},
        78.65 * US,
    ),
    "layer products, second layer": (
        "layer_products",
        {**LAYER, "is_first_layer": 0.0, "is_target_hop": 1.0},
        9.03 * US,
    ),
    "layer sums": ("layer_sums", SUMS, 58.695 * US),
    "layer sums, second layer": ("layer_sums", {**SUMS, "is_first_layer": 0.0}, 1.17 * US),
    "layer sums, one neighbor": ("layer_sums", {**SUMS, "snapshot_edges": 1e6}, 19.565 * US),
    "local misses": ("local_misses", {"hit_share": 0.25}, 0.75),
    "pool misses": ("pool_misses", {"hit_share": 0.64}, 0.36),
    "local room": ("local_room", ROOM, 1_464_843.75),
    "local room, rows that all share": ("local_room", {**ROOM, "shared_share": 1.0}, 488_281.25),
    "pool room": ("pool_room", POOL, 18.65e6),
    "pool room, no more may be pinned": ("pool_room", {**POOL, "pool_size": 1.208e9}, 1e6),
    "pool room, rows that differ": ("pool_room", {**POOL, "shared_share": 0.0}, 74.6e6),
    "memory of batches": (
        "memory_batches",
        {"devices": 4.0, "hop_nodes": 5120.0, "page_reads": 5120.0, "page": 4096.0, **AMAZON},
        92_160_000.0,
    ),
    "memory pinned": ("memory_pinned", POOL, 22.5292e9),
    "memory pinned, no more": ("memory_pinned", {**POOL, "pool_size": 1e9}, 1e9),
    "memory of the working set": (
        "memory_working_set",
        {"hop_nodes": 5120.0, **REDDIT, "is_double_buffered": 1.0, "queue_depth": 256.0, "page": 4096.0},
        13_418_496.0,
    ),
    "page reads": (
        "page_reads",
        {"hop_nodes": 384.0, "hop_fanout": 3.0, **REDDIT, **DENSE, "page": 4096.0, "degree_bias": 1.0},
        719.900277,
    ),
    "page reads, last hop": (
        "page_reads",
        {"hop_nodes": 384.0, "hop_fanout": 0.0, **REDDIT, **DENSE, "page": 4096.0, "degree_bias": 1.0},
        384.0,
    ),
    "pool fetch, hidden": ("pool_fetch", FETCH, 0.0),
    "pool fetch, in part": ("pool_fetch", {**FETCH, "graph_work_time": 50 * US}, 5.7288 * US),
    "pool fetch, waited for": ("pool_fetch", {**FETCH, "is_double_buffered": 0.0}, 55.7288 * US),
    "pool fetch, uplink shared by 8": (
        "pool_fetch",
        {**FETCH, "is_double_buffered": 0.0, "devices": 8.0},
        111.1576 * US,
    ),
    "pool fetch, requests take longest": (
        "pool_fetch",
        {**FETCH, "is_double_buffered": 0.0, "pool_request_time": 1 * US},
        3430.31616 * US,
    ),
    "pool fetch, one request at a time": (
        "pool_fetch",
        {**FETCH, "is_double_buffered": 0.0, "pool_requests": 1.0},
        3430 * 0.31616 * US,
    ),
    "pool rows": (
        "pool_rows",
        {"hop_nodes": 3456.0, "local_miss_share": 1.0, "pool_miss_share": 0.36, "hop_fanout": 0.0, "pools_lists": 0.0},
        2211.84,
    ),
    "pool rows, lists come from flash": (
        "pool_rows",
        {"hop_nodes": 3456.0, "local_miss_share": 1.0, "pool_miss_share": 0.36, "hop_fanout": 3.0, "pools_lists": 0.0},
        0.0,
    ),
    "recurrence bounced": (
        "recurrence_bounced",
        {
            **STATES,
            "chain_time": 5.2e-3,
            "link_bandwidth": 25.6e9,
            "link_latency": 0.15 * US,
            "pass_time": 10 * US,
            "passes": 3.0,
        },
        6.06696791667e-3,
    ),
    "rows bounced": (
        "rows_bounced",
        {**CHUNKS, "pass_time": 10 * US, "passes": 3.0, "uplink_bandwidth": 100e9},
        25.6310272e-3,
    ),
    "rows peer": (
        "rows_peer",
        {**CHUNKS, "peer_message_time": 1.8 * US, "link_bandwidth": 25e9, "link_latency": 0.15 * US},
        1744.1136 * US,
    ),
    "scaling knee, nothing serial": ("scaling_knee", {"serial_share_of_one": 0.0, "least_gain": 0.05}, 20.0),
    "scaling knee, half serial": (
        "scaling_knee",
        {"serial_share_of_one": 0.5, "least_gain": 0.05},
        1 / (0.05 + math.sqrt(0.0525)),
    ),
    "scaling knee, all serial": ("scaling_knee", {"serial_share_of_one": 1.0, "least_gain": 0.05}, 0.0),
    "scan, LRU one too small": ("scan_lru", {**SCAN, "cache_capacity": 299.0}, 0.0),
    "scan, LRU": ("scan_lru", {**SCAN, "cache_capacity": 300.0}, 0.75),
    "scan, LRU, half shared": ("scan_lru", {**SCAN, "shared_share": 0.5, "cache_capacity": 199.0}, 0.5),
    "scan, LRU, half shared and all come back": (
        "scan_lru",
        {**SCAN, "shared_share": 0.5, "cache_capacity": 200.0},
        0.875,
    ),
    "scan, pinned": ("scan_pinned", {**SCAN, "cache_capacity": 200.0}, 0.5),
    "scan, pinned, all that come back": ("scan_pinned", {**SCAN, "cache_capacity": 1000.0}, 0.75),
    "scan, pinned, half shared": ("scan_pinned", {**SCAN, "shared_share": 0.5, "cache_capacity": 100.0}, 0.625),
    "scan, pinned, some of what is shared": (
        "scan_pinned",
        {**SCAN, "shared_share": 0.5, "cache_capacity": 25.0},
        0.25,
    ),
    "snapshot overhead": ("snapshot_overhead", {"device_turns": 0.25, "time_per_snapshot": 0.5e-3}, 125 * US),
    "summed nodes": ("summed_nodes", {"hop_nodes": 384.0, "hop_fanout": 3.0}, 384.0),
    "summed nodes, last hop": ("summed_nodes", {"hop_nodes": 384.0, "hop_fanout": 0.0}, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(value: Value, case: str) -> None:
    name, given, expected = CASES[case]
    assert value(name, **given) == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_every_phase_of_the_storage_devices_has_a_hand_number() -> None:
    run: set[str] = set()
    for system in ("esdg", "blad", "dgc", "m-base", "m-p2p", "m-dgnn"):
        base = pm.load_scenario("dgnn-reddit", f"mdgnn-{system}")
        for scenario in (base, base.replace({"plan.exchange": "peer-to-peer", "workload.temporal.access": "drawn"})):
            bound = bind(scenario)
            steps = (*bound.steps, *bound.memory_steps, *bound.energy_steps)
            run |= {call.phase.name for step in steps for call in step.calls}
    assert run | {"scaling_knee"} == {name for name, _, _ in CASES.values()}
