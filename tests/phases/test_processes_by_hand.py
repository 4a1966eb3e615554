"""The phases of snapshots on processes against numbers worked out by hand, and against a simulated chain."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from calibration.simulation.recurrent_chain import Chain, makespan

Value = Callable[..., float]
US, NS, MS = 1e-6, 1e-9, 1e-3
#: 200 targets of 32 elements in one message, by LSTM cells.
STATE = {
    "batch_targets": 200.0, "messages_per_target": 4 / 200, "state_parts": 2.0, "hidden_width": 32.0, "row_width": 4.0,
}  # fmt: skip
WAYS = {
    "wake_time": 40 * US, "way_message_time": 5 * US, "way_byte_time": 0.0,
    "near_wake_time": 10 * US, "near_message_time": 5 * US, "near_byte_time": 0.0,
}  # fmt: skip
#: 100 x 32 twice and 32, and 4 x 32 x 65 of a layer: 14,752 weights of 4 B in 2 pieces.
WEIGHTS = {
    "feature_dimension": 100.0, "hidden_width": 32.0, "cell_layers": 1.0, "cell_gates": 4.0, "row_width": 4.0,
    "piece": 32768.0,
}  # fmt: skip
APART = {"file_pages": 100.0, "frame_length": 6.0, "devices": 2.0}
VISIT = {
    "file_pages": 440.0, "file_page": 4096.0, "held_page_time": 1 * US, "held_byte_time": 0.1 * NS,
    "kept_page_time": 3 * US, "kept_byte_time": 0.2 * NS, "page_visit_time": 0.0, "far_cache": 4e7, "frame_length": 8.0,
    "missed_byte_time": 1.0,
}  # fmt: skip
PAST = {
    **dict.fromkeys(VISIT, 0.0), "unkept_page_time": 0.0, "unkept_byte_time": 0.0, "file_page": 1.0, "file_pages": 100.0,
    "frame_length": 5.0, "devices": 1.0, "process_pages": 200.0,
}  # fmt: skip
GRAPH = {
    "batch_targets": 500.0, "hop_width": 1.0, "hop_fanout": 20.0, "is_first_layer": 1.0, "feature_dimension": 100.0,
    "hidden_width": 32.0, "graph_call_time": 0.0, "graph_operation_time": 0.0, "graph_element_time": 0.0,
    "neighbor_element_time": 0.0, "missed_row_time": 0.0, "missed_element_time": 0.0, "snapshot_nodes": 5000.0,
    "row_width": 4.0, "near_cache": 1e6,
}  # fmt: skip
GRAPHS = {
    "frame_length": 8.0, "devices": 3.0, "process_cores": 2.0, "visit_time": 2 * MS, "layer_time": 1 * MS, "wake_time": 0.0,
    "way_message_time": 0.0, "send_wake_time": 0.0, "send_message_time": 0.0, "page_restart_time": 0.0,
}  # fmt: skip
CHAIN = {
    "cell_time": 0.2 * MS, "exchange_time": 0.1 * MS, "handling_time": 0.0, "frame_length": 8.0, "devices": 3.0,
    "cell_layers": 1.0, "process_cores": 2.0, "is_resident": 1.0, "is_relayed": 0.0, "relayed_message_time": 1.0,
    "relayed_byte_time": 0.0, **STATE,
}  # fmt: skip
HANDLED = {
    **STATE, "devices": 2.0, "is_resident": 1.0, "send_wake_time": 20 * US, "send_message_time": 5 * US, "send_byte_time": 0.0,
}  # fmt: skip

CASES = {
    "pages of the file": (
        "file_pages",
        {"snapshot_nodes": 4500.0, "feature_dimension": 100.0, "row_width": 4.0, "file_page": 4096.0}, 440.0
    ),
    "room of a process": ("process_room", {"page_cache": 2.0**20 + 4095, "file_page": 4096.0}, 256.0),
    "LRU of 250 pages": ("scan_lru_apart", {**APART, "process_pages": 250.0}, 2 / 6),
    "LRU of 300 pages": ("scan_lru_apart", {**APART, "process_pages": 300.0}, 5 / 6),
    "LRU of 199 pages": ("scan_lru_apart", {**APART, "process_pages": 199.0}, 0.0),
    "pool of 250 pages": ("scan_pinned_apart", {**APART, "process_pages": 250.0}, 0.75),
    "pool without end": ("scan_pinned_apart", {**APART, "process_pages": 1e9}, 5 / 6),
    "pages half held": (
        "visits_kept", {**VISIT, "hit_share": 0.5},
        220 * (1 + 0.4096) * US + 220 * (3 + 0.8192) * US
    ),
    "pages held": ("visits_pinned", {**PAST, "hit_share": 0.5, "held_page_time": 1.0}, 50.0),
    "pages read and kept": ("visits_pinned", {**PAST, "hit_share": 0.5, "kept_page_time": 1.0}, 12.5),
    "pages read past the pool": ("visits_pinned", {**PAST, "hit_share": 0.5, "unkept_page_time": 1.0}, 37.5),
    "pages of a pool with room": (
        "visits_pinned", {**PAST, "hit_share": 0.8, "process_pages": 600.0, "kept_page_time": 1.0}, 20.0
    ),
    "rows beyond the cache": ("graph_on_core", {**GRAPH, "missed_row_time": 50 * NS}, 0.25 * MS),
    "elements beyond the cache": ("graph_on_core", {**GRAPH, "missed_element_time": 0.1 * NS}, 0.05 * MS),
    "rows within the cache": ("graph_on_core", {**GRAPH, "missed_row_time": 1.0, "near_cache": 2e6}, 0.0),
    "pages beyond the caches": (
        "visits_kept",
        {**VISIT, **dict.fromkeys(("held_page_time", "held_byte_time"), 0.0), "hit_share": 1.0, "far_cache": 8 * 440 * 4096.0},
        220 * 4096.0
    ),
    "a visit": (
        "visits_kept", {**dict.fromkeys(VISIT, 0.0), "file_pages": 1.0, "file_page": 1.0, "frame_length": 1.0,
        "hit_share": 0.5, "page_visit_time": 7 * US}, 7 * US
    ),
    "elements of neighbors": ("graph_on_core", {**GRAPH, "neighbor_element_time": 0.1 * NS}, 0.1 * MS),
    "products of a graph layer": ("graph_on_core", {**GRAPH, "graph_operation_time": 1.0}, 2 * 2 * 500 * 100 * 32),
    "a second graph layer": (
        "graph_on_core", {**GRAPH, "is_first_layer": 0.0, "graph_element_time": 1.0}, 500 * (32 + 32)
    ),
    "cells": (
        "cells_on_core",
        {
            "batch_targets": 200.0, "hidden_width": 32.0, "cell_gates": 4.0, "cell_products": 2.0, "cell_call_time": 40 * US,
            "cell_operation_time": 20e-12, "cell_element_time": 12 * NS, "cell_restart_time": 30 * US, "is_resident": 1.0,
            "devices": 2.0,
        },
        70 * US + 3_276_800 * 20e-12 + 6400 * 12 * NS,
    ),
    "to another core": ("state_to_process", {**STATE, **WAYS, "devices": 2.0, "process_cores": 2.0}, 60 * US),
    "to the same core": ("state_to_process", {**STATE, **WAYS, "devices": 2.0, "process_cores": 1.0}, 30 * US),
    "one of three on its core": ("state_to_process", {**STATE, **WAYS, "devices": 3.0, "process_cores": 2.0}, 50 * US),
    "bytes of a state": (
        "state_to_process",
        {**STATE, **dict.fromkeys(WAYS, 0.0), "way_byte_time": 1.0, "devices": 2.0, "process_cores": 2.0}, 51_200.0
    ),
    "through the parent": (
        "state_through_parent",
        {**STATE, "relayed_wake_time": 100 * US, "relayed_message_time": 10 * US, "relayed_byte_time": 0.0}, 140 * US
    ),
    "messages on the cores": ("state_handling", {**HANDLED, "is_relayed": 0.0}, 60 * US),
    "messages on the parent's core too": ("state_handling", {**HANDLED, "is_relayed": 1.0}, 120 * US),
    "one process sends nothing": ("state_handling", {**HANDLED, "is_relayed": 1.0, "devices": 1.0}, 0.0),
    "chain": ("chain_on_cores", CHAIN, 8 * 0.2 * MS + 7 * 0.1 * MS),
    "chain of messages through the parent": (
        "chain_on_cores",
        {**CHAIN, "is_relayed": 1.0, "relayed_message_time": 0.1 * MS, "exchange_time": 0.5 * MS, "cell_layers": 5.0},
        35 * 0.4 * MS + 0.1 * MS + 0.4 * MS
    ),
    "chain of one process": ("chain_on_cores", {**CHAIN, "devices": 1.0, "cell_layers": 3.0}, 24 * 0.2 * MS),
    "graphs": ("graphs_on_cores", GRAPHS, 16 * MS),
    "processes that start": (
        "graphs_on_cores",
        {**GRAPHS, "visit_time": 0.0, "layer_time": 0.0, "page_restart_time": 1.0, "send_wake_time": 0.1}, 2.4
    ),
    "graphs of one process": ("graphs_on_cores", {**GRAPHS, "devices": 1.0}, 24 * MS),
    "graphs of two, seven snapshots": ("graphs_on_cores", {**GRAPHS, "devices": 2.0, "frame_length": 7.0}, 12 * MS),
    "forward": (
        "forward_on_cores", {"chain_time": 2.3 * MS, "wake_time": 50 * US, "way_message_time": 10 * US}, 2.42 * MS
    ),
    "backward": (
        "backward_on_cores",
        {
            **WEIGHTS, "chain_time": 3 * MS, "frame_length": 8.0, "devices": 2.0, "layer_time": 0.1 * MS, "wake_time": 60 * US,
            "way_message_time": 20 * US, "way_byte_time": 1 * NS,
        },
        3.4 * MS + 100 * US + 14_752 * 4 * NS,
    ),
    "update": (
        "weights_to_processes",
        {**WEIGHTS, "devices": 3.0, "send_wake_time": 20 * US, "send_message_time": 5 * US, "send_byte_time": 0.0}, 90 * US
    ),
    "memory": (
        "memory_of_processes",
        {
            "devices": 3.0, "page_cache": 2.0**20, "frame_length": 8.0, "file_pages": 440.0, "file_page": 4096.0,
        },
        3 * 2**20 + 8 * 440 * 4096,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_by_hand(value: Value, case: str) -> None:
    name, given, expected = CASES[case]
    assert value(name, **given) == pytest.approx(expected, rel=1e-9)


def test_the_chain_on_as_many_cores_as_processes_is_a_simulated_one(value: Value) -> None:
    drawn = random.Random(4)
    for _ in range(40):
        devices, layers = drawn.choice((1, 2, 3)), drawn.randint(1, 4)
        snapshots = drawn.randint(devices, 10)
        cell, exchange = drawn.uniform(0.05, 1) * MS, drawn.uniform(0.05, 0.5) * MS
        simulated = makespan(
            Chain(
                snapshots, devices, layers, gnn_time=0.0, backward_gnn_time=0.0, cell_time=cell, backward_cell_time=cell,
                exchange="peer", messages=1, message_bytes=0.0, peer_message_time=0.0, link_latency=exchange,
                doorbell_time=0.0,
            )
        )  # fmt: skip
        found = value(
            "chain_on_cores", cell_time=cell, exchange_time=exchange, handling_time=0.0, frame_length=float(snapshots),
            devices=float(devices), cell_layers=float(layers), process_cores=8.0, is_resident=1.0, is_relayed=0.0,
            relayed_message_time=0.0, relayed_byte_time=0.0, **STATE,
        )  # fmt: skip
        assert found == pytest.approx(simulated.forward, rel=0.05)
