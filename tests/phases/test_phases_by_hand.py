"""Every phase against numbers worked out by hand: those of the docstrings, and limiting cases."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable

import pytest

from perfmodel.model.compile import compiled

Value = Callable[..., float]
INF = math.inf
GIB = 2.0**30

FREE_SAMPLING = {
    "time_per_batch": 0, "time_per_call": 0, "relation_hops": 2, "time_per_choosing_call": 0, "choosing_hops": 1,
    "time_per_expanded_node": 0, "expanded_nodes": 1e4, "drawing_time": 0, "renaming_time": 0, "gather_time": 0,
    "gathered_bytes": 0, "memory_bandwidth": 1e11, "workers": 0, "cores": 8, "serial_share": 0, "contention": 0,
    "handover_time": 0, "devices": 1,
}  # fmt: skip
DRAWING = {
    "sampled_edges": 5_194_304, "chosen_edges": 0, "time_per_edge": 0, "time_per_choice": 0, "time_per_fresh_edge": 0.3e-6,
    "heap_limit": 2**25, "edge_entry": 8,
}  # fmt: skip
GATHERING = {
    "table_rows": 1e5, "table_row_bytes": 4e7, "table_bytes": 4e8, "gather_bandwidth": 1e10, "cache": 2e8,
    "time_per_row": 0, "time_per_missed_row": 40e-9, "time_per_missed_byte": 0,
}  # fmt: skip
QUANTIZATION = {
    "gathered_elements": 63e6, "gathered_rows": 1e5, "quantize_time": 0.5e-9, "quantize_row_time": 0, "is_quantized": 1,
    "devices": 1,
}  # fmt: skip
DEQUANTIZATION = {
    "gathered_elements": 63e6, "gathered_rows": 1e5, "dequantize_time": 0.25e-9, "dequantize_row_time": 0,
    "is_quantized": 1,
}  # fmt: skip
ON_CORE = {
    "product_flop": 1e9, "peak_flops": 1e11, "compute_efficiency": 1, "passed_elements": 20e6, "read_elements": 1e6,
    "written_elements": 2e6, "time_per_passed_element": 0.4e-9, "time_per_read_element": 0, "time_per_written_element": 0,
    "time_per_layer": 0,
}  # fmt: skip
FREE_TRANSFER = {
    "tensor_bytes": 1e7, "chunk": 1e6, "window": 1, "devices": 1, "link_bandwidth": 1e9, "link_latency": 0, "header_bytes": 0,
    "chunk_time": 0, "acknowledgement_time": 0, "packet_time": 0, "conversion_time": 0, "sender_copy_bandwidth": INF,
    "aggregation_time": 0,
}  # fmt: skip
MEMORY_SAMPLING = {
    "graph_memory": 5e9, "batch_edges": 0, "batch_nodes": 0, "index_width": 8, "offset_width": 8, "drawn_bytes": 0,
    "workers": 0, "replicated_share": 1, "prefetched": 2, "runtime_bytes": 0, "graph_edges": 1e8, "graph_targets": 1e6,
}  # fmt: skip
MEMORY_TRAINING = {
    "decoded_bytes": 0, "adjacency_bytes": 0, "saved_bytes": 0, "message_bytes": 0, "parameter_bytes": 0, "runtime_bytes": 0,
    "allocator_overhead": 0,
}  # fmt: skip
TRAINING = {
    "training_flop": 1e12, "training_bytes": 0, "training_kernels": 0, "peak_flops": 19.5e12, "compute_efficiency": 0.5,
    "memory_bandwidth": 1e12, "memory_efficiency": 1, "launch_time": 1e-5,
}  # fmt: skip
RENAMING = {
    "sampled_nodes": 1e5, "all_nodes": 9e5, "time_per_node": 2e-6, "time_per_miss": 2e-6, "cache": 3.6e6, "array_entry": 8,
    "array_nodes": 1e6, "hash_slot": 34,
}  # fmt: skip
REGROWN = {
    "tensor_bytes": 100 * 2**20, "chunk": 2**20, "receiver_copy_bandwidth": INF, "receiver_heap_limit": 0,
    "heap_bandwidth": GIB, "fresh_bandwidth": GIB,
}  # fmt: skip
MB, MS = 1e6, 1e-3

CASES = {
    # the docstrings' worked numbers
    "preallocated": (
        "aggregation_preallocated",
        {"tensor_bytes": 250 * MB, "receiver_copy_bandwidth": 1e10, "fault_time": 0, "receiver_heap_limit": 0},
        0.025,
    ),
    "preallocated, fresh": (
        "aggregation_preallocated",
        {"tensor_bytes": 250 * MB, "receiver_copy_bandwidth": 1e10, "fault_time": 0.5e-9, "receiver_heap_limit": 2**25},
        0.025 + 0.125,
    ),
    "regrown": ("aggregation_regrown", REGROWN, 4950 / 1024),
    "dequantization": ("dequantization", DEQUANTIZATION, 15.75 * MS),
    "drawing": ("drawing", DRAWING, 0.3),
    "gathering": ("gathering", GATHERING, 6 * MS),
    "gathering within the cache": ("gathering", GATHERING | {"cache": 4e8}, 4 * MS),
    "gpu_copy": (
        "gpu_copy",
        {"decoded_bytes": 250 * MB, "gpu_link_bandwidth": 6e9, "gpu_link_latency": 1e-5, "tensors": 3},
        0.25 / 6 + 3e-5,
    ),
    "indexing": ("indexing", {"batch_edges": 2e6, "time_per_indexed_edge": 5e-9}, 10 * MS),
    "memory_buffers": (
        "memory_buffers",
        {"batch_bytes": 126 * MB, "decoded_bytes": 253 * MB, "runtime_bytes": 0},
        379 * MB,
    ),
    "memory_graph": (
        "memory_graph",
        {
            "graph_feature_bytes": 0,
            "graph_label_bytes": 0,
            "graph_edges": 123_718_280,
            "graph_targets": 2_449_030,
            "index_width": 8,
            "offset_width": 8,
            "devices": 1,
        },
        123_718_280 * 32 + 2_449_030 * 8,
    ),
    "memory_preprocessing": (
        "memory_preprocessing",
        {
            "graph_feature_bytes": 111_059_956 * 512,
            "graph_edges": 1_615_685_872,
            "index_width": 8,
            "feature_copies": 2,
            "edge_copies": 6,
            "runtime_bytes": 0,
        },
        2 * 111_059_956 * 512 + 6 * 16 * 1_615_685_872,
    ),
    "memory_sampling": ("memory_sampling", MEMORY_SAMPLING | {"batch_edges": 104e6}, 5e9 + 9.984e9),
    "memory_training": ("memory_training", MEMORY_TRAINING | {"message_bytes": 30.5e6 * 602 * 4}, 73.444e9),
    "quantization": ("quantization", QUANTIZATION, 31.5 * MS),
    "renaming": ("renaming", RENAMING, 0.3),
    "sampling": ("sampling", FREE_SAMPLING | {"renaming_time": 0.2, "drawing_time": 0.0625}, 0.2625),
    "sampling on two nodes": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 0.2, "drawing_time": 0.0625, "devices": 2},
        0.13125,
    ),
    "tensor_volume": (
        "tensor_volume",
        {"tensor_elements": 1e5, "element_width": 1, "tensor_rows": 1000, "scale_bytes": 4},
        104_000,
    ),
    "training": ("training", TRAINING, 1 / 9.75),
    "training_on_core": ("training_on_core", ON_CORE, 18 * MS),
    "transfer, window 1": ("transfer", FREE_TRANSFER | {"acknowledgement_time": MS}, 20 * MS),
    "transfer, window 2": ("transfer", FREE_TRANSFER | {"acknowledgement_time": MS}, 11 * MS),
    "transfer_regrown, window 1": ("transfer_regrown", {}, 6 * MS),
    "transfer_regrown, window 2": ("transfer_regrown", {}, 5 * MS),
    # by hand
    "int4 is half a byte": (
        "tensor_volume",
        {"tensor_elements": 1000, "element_width": 0.5, "tensor_rows": 10, "scale_bytes": 4},
        540,
    ),
    "nothing quantized": (
        "quantization",
        QUANTIZATION | {"quantize_time": 1, "quantize_row_time": 1, "is_quantized": 0},
        0,
    ),
    "nothing widened": (
        "dequantization",
        DEQUANTIZATION | {"dequantize_time": 1, "dequantize_row_time": 1, "is_quantized": 0},
        0,
    ),
    "quantized on four nodes": (
        "quantization",
        QUANTIZATION | {"gathered_elements": 4e6, "quantize_time": 1e-9, "devices": 4},
        1 * MS,
    ),
    "a scale for each row on two nodes": (
        "quantization",
        QUANTIZATION
        | {
            "gathered_elements": 4e6,
            "gathered_rows": 1000,
            "quantize_time": 1e-9,
            "quantize_row_time": 2e-6,
            "devices": 2,
        },
        (4 + 2) / 2 * MS,
    ),
    "the scales alone": (
        "quantization",
        QUANTIZATION | {"gathered_rows": 1000, "quantize_time": 0, "quantize_row_time": 2e-6},
        2 * MS,
    ),
    "each row's scale is applied": (
        "dequantization",
        DEQUANTIZATION
        | {"gathered_elements": 4e6, "gathered_rows": 1000, "dequantize_time": 1e-9, "dequantize_row_time": 3e-6},
        (4 + 3) * MS,
    ),
    "one chunk is not regrown": (
        "aggregation_regrown",
        REGROWN | {"tensor_bytes": 2**19, "receiver_copy_bandwidth": GIB},
        2**-11,
    ),
    "nothing to aggregate": ("aggregation_regrown", REGROWN | {"tensor_bytes": 0}, 0),
    "three chunks within the heap": (
        "aggregation_regrown",
        REGROWN | {"tensor_bytes": 3 * 2**20, "receiver_heap_limit": 2**22, "fresh_bandwidth": 1},
        3 / 1024,
    ),
    "the third outgrows the heap": (
        "aggregation_regrown",
        REGROWN | {"tensor_bytes": 3 * 2**20, "receiver_heap_limit": 2**21, "fresh_bandwidth": GIB / 4},
        (1 + 2 * 4) / 1024,
    ),
    "edges within the heap": (
        "drawing",
        DRAWING | {"sampled_edges": 1e6, "time_per_edge": 1e-7, "time_per_fresh_edge": 1},
        0.1,
    ),
    "some edges are chosen": (
        "drawing",
        DRAWING | {"sampled_edges": 1e6, "chosen_edges": 4e5, "time_per_edge": 1e-7, "time_per_choice": 5e-7},
        0.1 + 0.2,
    ),
    "every edge is chosen, a million beyond the heap": (
        "drawing",
        DRAWING | {"chosen_edges": 5_194_304, "time_per_choice": 1e-7},
        0.5194304 + 0.3,
    ),
    "lists that are kept cost no choice": (
        "drawing",
        DRAWING | {"sampled_edges": 1e6, "time_per_edge": 1e-7, "time_per_choice": 1},
        0.1,
    ),
    "no cache: every row from memory": ("gathering", GATHERING | {"cache": 0}, (4 + 4) * MS),
    "a cache larger than the table": ("gathering", GATHERING | {"cache": 1e12}, 4 * MS),
    "every term of gathering": (
        "gathering",
        {
            "table_rows": 1000,
            "table_row_bytes": 4e5,
            "table_bytes": 4e6,
            "gather_bandwidth": 1e8,
            "cache": 1e6,
            "time_per_row": 1e-7,
            "time_per_missed_row": 2e-6,
            "time_per_missed_byte": 1e-9,
        },
        (0.1 + 4 + 0.75 * (2 + 0.4)) * MS,
    ),
    "no rows of a table": ("gathering", GATHERING | {"table_rows": 0, "table_row_bytes": 0}, 0),
    "no edges to index": ("indexing", {"batch_edges": 0, "time_per_indexed_edge": 1}, 0),
    "a table that fits the cache": ("renaming", RENAMING | {"cache": 7.2e6}, 0.2),
    "a hash map of a large type": (
        "renaming",
        RENAMING | {"all_nodes": 1e8, "cache": 1.7e6},
        1e5 * (2e-6 + 2e-6 * 0.5),
    ),
    "no nodes to rename": ("renaming", RENAMING | {"sampled_nodes": 0}, 0),
    "every term of sampling": (
        "sampling",
        FREE_SAMPLING
        | {
            "time_per_batch": 1,
            "time_per_call": 0.5,
            "time_per_expanded_node": 1e-4,
            "drawing_time": 3,
            "renaming_time": 4,
            "gather_time": 5,
            "time_per_choosing_call": 7,
            "handover_time": 100,
        },
        1 + 1 + 1 + 3 + 4 + 5 + 7,
    ),
    "calls that choose, and others": (
        "sampling",
        FREE_SAMPLING
        | {"relation_hops": 5, "choosing_hops": 3, "time_per_call": 2 * MS, "time_per_choosing_call": 10 * MS},
        (5 * 2 + 3 * 10) * MS,
    ),
    "four workers halve no floor": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "gathered_bytes": 5e11, "workers": 4},
        10,
    ),
    "without a worker nothing is handed over": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 0},
        4,
    ),
    "one worker hands over": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 1},
        4.5,
    ),
    "two workers hand over one by one": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 2},
        2.5,
    ),
    "two nodes hand over half each": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 2, "devices": 2},
        1.25,
    ),
    "handing over lifts two workers above the memory's floor": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 2, "gathered_bytes": 1.125e11},
        2.5,
    ),
    "handing over is hidden below the memory's floor": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "handover_time": 0.5, "workers": 2, "gathered_bytes": 5e11},
        10,
    ),
    "four perfect workers": ("sampling", FREE_SAMPLING | {"renaming_time": 4, "workers": 4}, 1),
    "more workers than cores": ("sampling", FREE_SAMPLING | {"renaming_time": 4, "workers": 64}, 0.5),
    "no worker samples itself": ("sampling", FREE_SAMPLING | {"renaming_time": 4, "workers": 0}, 4),
    "Amdahl: half serial, 4 workers": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "workers": 4, "serial_share": 0.5},
        4 * 0.5 + 4 * 0.5 / 4,
    ),
    "contention turns workers against each other": (
        "sampling",
        FREE_SAMPLING | {"renaming_time": 4, "workers": 8, "contention": 0.25},
        4 * (1 + 0.25 * 56) / 8,
    ),
    "memory-bound training": ("training", TRAINING | {"training_bytes": 1e12, "memory_efficiency": 0.5}, 2),
    "every term of training on a core": (
        "training_on_core",
        ON_CORE
        | {
            "compute_efficiency": 0.5,
            "time_per_read_element": 1e-9,
            "time_per_written_element": 2e-9,
            "time_per_layer": 3 * MS,
        },
        (20 + 8 + 1 + 4 + 3) * MS,
    ),
    "a step of nothing": (
        "training_on_core",
        dict.fromkeys(ON_CORE, 0) | {"peak_flops": 1e11, "compute_efficiency": 1, "time_per_layer": 3 * MS},
        3 * MS,
    ),
    "launch-bound training": ("training", TRAINING | {"training_flop": 0, "training_kernels": 100}, 1 * MS),
    "a graph on two nodes": (
        "memory_graph",
        {
            "graph_feature_bytes": 100,
            "graph_label_bytes": 10,
            "graph_edges": 5,
            "graph_targets": 3,
            "index_width": 4,
            "offset_width": 8,
            "devices": 2,
        },
        (110 + 60 + 64) / 2,
    ),
    "two workers": (
        "memory_sampling",
        MEMORY_SAMPLING
        | {"workers": 2, "drawn_bytes": 1e9, "batch_nodes": 1e6, "prefetched": 2, "replicated_share": 0.5},
        5e9 + 2 * (0.032e9 + 1e9) + 2 * (0.5 * (0.8e9 + 0.8e9 + 0.008e9) + 2e9),
    ),
    "int32 ids, 8-byte positions": (
        "memory_sampling",
        MEMORY_SAMPLING | {"batch_edges": 1e6, "index_width": 4, "graph_memory": 0},
        64e6,
    ),
    "an allocator that wastes a tenth": (
        "memory_training",
        {**dict.fromkeys(MEMORY_TRAINING, 10), "allocator_overhead": 0.1},
        10 + 1.1 * 50,
    ),
    "zero bytes": ("transfer", FREE_TRANSFER | {"tensor_bytes": 0, "packet_time": 5, "acknowledgement_time": 1}, 0),
    "one chunk passes alone": (
        "transfer",
        FREE_TRANSFER
        | {
            "tensor_bytes": 1e6,
            "link_latency": 1 * MS,
            "acknowledgement_time": 2 * MS,
            "sender_copy_bandwidth": 1e9,
            "aggregation_time": 1 * MS,
            "packet_time": 0.5 * MS,
            "chunk_time": 0.25 * MS,
            "header_bytes": 1e5,
            "window": 16,
        },
        (0.5 + 1 + 0.25 + 1.1 + 1 + 1 + 2 + 1) * MS,
    ),
    "a wide window reaches the wire's rate": (
        "transfer",
        FREE_TRANSFER | {"tensor_bytes": 1e9, "window": 100, "acknowledgement_time": 10 * MS},
        1.010,
    ),
    "window over round trip": (
        "transfer",
        FREE_TRANSFER | {"tensor_bytes": 1.001e9, "window": 4, "acknowledgement_time": 9 * MS},
        1000 / 4 * 10 * MS + 10 * MS,
    ),
    "three stages of a pipeline": (
        "transfer",
        FREE_TRANSFER | {"window": 16, "sender_copy_bandwidth": 0.5e9, "aggregation_time": 5 * MS},
        (2 + 1 + 0.5 + 9 * 2) * MS,
    ),
    "four nodes share the wire's time": (
        "transfer",
        FREE_TRANSFER | {"tensor_bytes": 8e6, "devices": 4, "window": 8},
        2 * MS,
    ),
}
THREE_CHUNKS = {
    "tensor_bytes": 3e6,
    "receiver_copy_bandwidth": INF,
    "receiver_heap_limit": 0,
    "heap_bandwidth": 1e9,
    "fresh_bandwidth": 1e9,
    "aggregation_time": 3 * MS,
}
for window in (1, 2):
    name = f"transfer_regrown, window {window}"
    CASES[name] = ("transfer_regrown", FREE_TRANSFER | THREE_CHUNKS | {"window": window}, CASES[name][2])
    name = f"transfer, window {window}"
    CASES[name] = ("transfer", CASES[name][1] | {"window": window}, CASES[name][2])


#: After a displacement time 1 - 1/e of what a phase left in the caches is gone.
GONE = 0.6321205588285577
AFTER = {"batch_time": 0.01, "displacement_time": 0.01}
CASES["tensors and a restart"] = (
    "sending",
    {"transfer_time": 20 * MS, "link_restart_time": 0.1 * MS, "batch_time": 0.01, "receiver_displacement_time": 0.01},
    (20 + 0.1 * GONE) * MS,
)
CASES["neighbor lists after a displacement time"] = (
    "indexing",
    {"batch_edges": 1e6, "time_per_indexed_edge": 5e-9, "batch_nodes": 1e5, "time_per_indexed_node": 1e-8,
     "time_per_indexing": 1 * MS, "indexing_restart_time": 2 * MS, **AFTER},
    (1 + 2 * GONE + 5 + 1) * MS,
)  # fmt: skip
CASES["activations beyond a displaced cache"] = (
    "training_on_core",
    dict.fromkeys(ON_CORE, 0) | {
        "peak_flops": 1e11, "compute_efficiency": 1, "read_elements": 1e6, "written_elements": 1e6, "outer_cache": 2e6,
        "training_missed_byte_time": 1e-9, "training_restart_time": 1 * MS, "training_layers": 3, "time_per_layer": 2 * MS,
        **AFTER,
    },
    (8e6 - (1 - GONE) * 2e6) * 1e-9 + 3 * (2 + GONE) * MS,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case: str, value: Value) -> None:
    phase, arguments, expected = CASES[case]
    assert value(phase, **arguments) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_every_phase_has_a_hand_number() -> None:
    others = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*_by_hand.py"))
    elsewhere = {name for name in compiled() if f'"{name}"' in others}
    assert {phase for phase, _, _ in CASES.values()} >= set(compiled()) - elsewhere
