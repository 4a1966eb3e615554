"""Constants of the machine at hand: which kernels they are fitted to, and what they mean.

A group is fitted by itself: some kernels, the phases that predict them (the very phases that predictions use), and the
constants in those. What a phase does not need of a kernel's point is set to nothing: no workers, no features.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from calibration.constant_groups import DEVICE, Group, Values, around, phase
from calibration.fit import Constant
from calibration.kernels._peer import tensor_sizes
from calibration.measurements import Record
from calibration.routing_constants import ROUTING_GROUPS

__all__ = ["DEVICE", "GROUPS", "PYG", "SHARED_MEMORY", "TCP", "Group", "Values", "around", "phase"]

TCP: Final = "links/this-machine-tcp"
SHARED_MEMORY: Final = "links/this-machine-shared-memory"
PYG: Final = "systems/this-machine-pyg"


def _sampling(field: str, start: float, bounds: tuple[float, float], unit: str, meaning: str) -> Constant:
    return Constant(DEVICE, (f"sampling.{field}",), start, bounds, unit, meaning)


_SAMPLING: Final = MappingProxyType(
    {
        "time_per_batch": _sampling("time_per_batch", 3e-5, (1e-7, 1e-2), "s", "fixed cost of a mini-batch"),
        "sampling_restart_time": _sampling(
            "restart_time", 1e-4, (1e-7, 1e-2), "s", "bringing the sampler back into displaced caches"
        ),
        "time_per_call": _sampling("time_per_call", 1e-5, (1e-8, 1e-2), "s", "fixed cost of a hop"),
        "time_per_choosing_call": _sampling(
            "time_per_choosing_call", 5e-5, (1e-8, 1e-2), "s", "fixed cost of a hop that chooses"
        ),
        "time_per_expanded_node": _sampling(
            "time_per_expanded_node", 5e-8, (1e-10, 1e-5), "s/node", "looking up one neighbor list"
        ),
        "time_per_edge": _sampling("time_per_edge", 8e-9, (1e-10, 1e-6), "s/edge", "taking one edge and renaming it"),
        "time_per_choice": _sampling("time_per_choice", 3e-8, (1e-10, 1e-6), "s/edge", "choosing one neighbor"),
        "time_per_node": _sampling("time_per_node", 1e-8, (1e-10, 1e-6), "s/node", "entering one new node"),
        "time_per_miss": _sampling(
            "time_per_miss", 5e-9, (1e-11, 1e-6), "s/node", "reaching one entry of the renaming table in memory"
        ),
        "gather_bandwidth": _sampling(
            "gather_bandwidth", 4e10, (1e8, 1e13), "B/s", "copying feature rows within the cache"
        ),
        "time_per_row": _sampling("time_per_row", 2e-9, (1e-11, 1e-6), "s/node", "finding one feature row"),
        "time_per_missed_row": _sampling(
            "time_per_missed_row", 6e-9, (1e-11, 1e-6), "s/node", "reaching one feature row beyond the cache"
        ),
        "time_per_missed_byte": _sampling(
            "time_per_missed_byte", 6e-11, (1e-13, 1e-8), "s/B", "reading one byte of a row beyond the cache"
        ),
        "displacement_time": Constant(
            DEVICE, ("displacement_time",), 1e-2, (1e-4, 10.0), "s", "time in which others displace what a phase left"
        ),
        "cache": Constant(
            DEVICE, ("cache",), 4e6, (2.5e5, 1e9), "B", "cache that random reads find: what one core has"
        ),
    }
)

ALONE: Final = MappingProxyType(
    {"array_entry": 8.0, "array_nodes": 1e15, "hash_slot": 34.0, "edge_entry": 8.0, "heap_limit": 1e15}
)


def drawn(record: Record, values: Values) -> float:
    """Return the time of drawing a mini-batch without its features."""
    counts, values = record.counts, around(record, values)
    renaming = phase(
        "renaming", {**ALONE, **values}, sampled_nodes=counts["sampled_nodes"], all_nodes=float(record.point["nodes"])
    )
    drawing = phase(
        "drawing", {**ALONE, **values}, sampled_edges=counts["edges"], chosen_edges=counts["chosen"],
        time_per_fresh_edge=0.0,
    )  # fmt: skip
    return phase(
        "sampling", values, expanded_nodes=counts["expanded"], relation_hops=counts["relation_hops"],
        choosing_hops=counts["choosing_hops"], renaming_time=renaming, drawing_time=drawing, gather_time=0.0,
        gathered_bytes=0.0, workers=0.0, cores=1.0, serial_share=0.0, contention=0.0, memory_bandwidth=1e30,
        devices=1.0, handover_time=0.0,
    )  # fmt: skip


def gathered(record: Record, values: Values) -> float:
    """Return the time of gathering rows."""
    counts = record.counts
    return phase(
        "gathering", around(record, values), table_rows=counts["rows"], table_row_bytes=counts["gathered"],
        table_bytes=float(record.point["table"]),
    )  # fmt: skip


def _sampled(record: Record, values: Values) -> float:
    return (drawn if record.kernel == "neighbor_sampling" else gathered)(record, values)


_WITH_PYG: Final = MappingProxyType(
    {
        name: dataclasses.replace(
            constant,
            entry=PYG,
            fields=tuple(f"{node}.{constant.fields[0]}" for node in ("memory_node", "compute_node")),
        )
        for name, constant in _SAMPLING.items()
        if name.startswith("time_per_") and "row" not in name and "byte" not in name
    }
)


def drawn_by_pyg(record: Record, values: Values) -> float:
    """Return the time of drawing a mini-batch with PyG, which renames by a hash map of the mini-batch."""
    return drawn(record, {**values, "array_nodes": 0.0})


_PRECISIONS: Final = ("fp16", "bf16", "fp8", "int8", "int4")


def _conversion(back: bool) -> Group:
    """Return the group of one direction: an element and a row of each precision, and starting on a mini-batch."""
    end, direction, name = ("_back", "widen", "dequantization") if back else ("", "round", "quantization")
    constants: dict[str, Constant] = {}
    for precision in _PRECISIONS:
        constants[f"{precision} element"] = Constant(
            DEVICE, (f"quantization.{precision}.time_per_element{end}",), 1e-9, (1e-12, 1e-6), "s",
            f"{'widening one element from' if back else 'rounding one element to'} {precision}",
        )  # fmt: skip
        constants[f"{precision} row"] = Constant(
            DEVICE, (f"quantization.{precision}.time_per_row{end}",), 1e-8, (1e-12, 1e-5), "s",
            f"{'applying' if back else 'finding'} the {precision} scale of one row and starting on it",
        )  # fmt: skip
    constants["displaced byte"] = Constant(
        DEVICE, (f"quantization.time_per_displaced_byte{end}",), 3e-11, (1e-14, 1e-8), "s/B",
        f"{name} of one byte of features where the caches were displaced",
    )  # fmt: skip
    constants["call"] = Constant(
        DEVICE,
        (f"quantization.time_per_call{end}",),
        1e-5,
        (1e-8, 1e-2),
        "s",
        f"{name} of a mini-batch, whatever it holds",
    )
    constants["restart"] = Constant(
        DEVICE,
        (f"quantization.restart_time{end}",),
        3e-5,
        (1e-8, 1e-2),
        "s",
        f"bringing {name} back into a displaced cache",
    )

    def predict(record: Record, values: Values) -> float:
        precision, verb = record.point["precision"], name.removesuffix("ation") + "e"
        own = {
            f"{verb}_time": values[f"{precision} element"],
            f"{verb}_row_time": values[f"{precision} row"],
            f"{verb}_displaced_byte_time": values["displaced byte"],
            f"{verb}_call_time": values["call"],
            f"{verb}_restart_time": values["restart"],
        }
        elements, rows = record.counts["elements"], record.counts["rows"]
        work = {"gathered_elements": elements, "gathered_rows": rows, "gathered_bytes": 4.0 * elements}
        return phase(name, {**around(record, values), **own, **work}, is_quantized=1.0, devices=1.0)

    def chosen(records: Sequence[Record]) -> Sequence[Record]:
        return [record for record in records if record.point["direction"] == direction]

    return Group(name, ("quantization",), constants, predict, chosen)


def _link(entry: str, name: str, own: Mapping[str, Constant]) -> Group:
    def constant(field: str, start: float, bounds: tuple[float, float], unit: str, meaning: str) -> Constant:
        return Constant(entry, (field,), start, bounds, unit, meaning)

    constants = {
        "chunk_time": constant("time_per_chunk", 2e-6, (1e-8, 1e-2), "s", "the sender's work on one chunk"),
        "acknowledgement_time": constant(
            "time_per_acknowledgement", 2e-6, (1e-8, 1e-2), "s", "until a chunk's acknowledgement is back"
        ),
        "link_restart_time": constant(
            "restart_time", 5e-5, (1e-8, 1e-2), "s", "bringing both ends back into displaced caches"
        ),
        "link_displaced_byte_time": constant(
            "time_per_displaced_byte",
            3e-11,
            (1e-14, 1e-8),
            "s/B",
            "putting away one byte to where the cache does not hold",
        ),
        "packet_time": constant("time_per_packet", 1e-6, (1e-8, 1e-2), "s", "fixed cost of a tensor"),
        **own,
    }
    return Group("transfer", (name,), constants, sent)


_COPY: Final = {
    "copy_bandwidth": Constant(DEVICE, ("copy_bandwidth",), 3e10, (1e8, 1e13), "B/s", "copying a chunk on one core")
}
_TCP: Final = {
    "conversion_time": Constant(
        TCP,
        ("conversion.features", "conversion.edge_index", "conversion.labels"),
        5e-11,
        (1e-13, 1e-7),
        "s/B",
        "taking one byte through the sender's half of TCP",
    ),
    "link_bandwidth": Constant(
        TCP, ("bandwidth",), 2e10, (1e7, 1e13), "B/s", "bytes through the receiver's half of TCP"
    ),
}


def sent(record: Record, values: Values) -> float:
    """Return the time of sending the tensors of a point."""
    copies = dict.fromkeys(("sender_copy_bandwidth", "receiver_copy_bandwidth"), values["copy_bandwidth"])
    nothing = {"conversion_time": 0.0, "link_bandwidth": 1e30, "fault_time": 0.0, "receiver_heap_limit": 1e15}
    known = {**nothing, **around(record, values), **copies}
    total = 0.0
    for size in tensor_sizes(record.point):
        aggregation = phase("aggregation_preallocated", known, tensor_bytes=float(size))
        total += phase(
            "transfer", known, tensor_bytes=float(size), chunk=float(record.point["chunk"]),
            window=float(record.point["window"]), devices=1.0, link_latency=0.0, header_bytes=32.0,
            aggregation_time=aggregation,
        )  # fmt: skip
    return phase("sending", known, transfer_time=total)


def trained(record: Record, values: Values) -> float:
    """Return the time of one training step."""
    return phase(
        "training_on_core", around(record, values), **record.counts, compute_efficiency=1.0, activation_width=4.0
    )


_TRAINING: Final = MappingProxyType(
    {
        "peak_flops": Constant(DEVICE, ("peak_flops",), 1e11, (1e8, 1e14), "flop/s", "dense products on one core"),
        "time_per_passed_element": Constant(
            DEVICE,
            ("training.time_per_passed_element",),
            4e-10,
            (1e-13, 1e-7),
            "s",
            "one message element along an edge",
        ),
        "time_per_read_element": Constant(
            DEVICE, ("training.time_per_read_element",), 5e-10, (1e-13, 1e-7), "s", "one element that a layer takes in"
        ),
        "time_per_written_element": Constant(
            DEVICE,
            ("training.time_per_written_element",),
            2e-9,
            (1e-13, 1e-7),
            "s",
            "one element that a layer gives out",
        ),
        "training_missed_byte_time": Constant(
            DEVICE,
            ("training.time_per_missed_byte",),
            2e-10,
            (1e-14, 1e-8),
            "s/B",
            "one byte of activations beyond the cache",
        ),
        "outer_cache": Constant(DEVICE, ("outer_cache",), 1.6e7, (1e6, 1e9), "B", "cache that activations find"),
        "training_restart_time": Constant(
            DEVICE, ("training.restart_time",), 6e-5, (1e-8, 1e-1), "s", "bringing one layer back into displaced caches"
        ),
        "time_per_layer": Constant(
            DEVICE, ("training.time_per_layer",), 5e-5, (1e-7, 1e-1), "s", "fixed cost of a layer"
        ),
    }
)


def indexed(record: Record, values: Values) -> float:
    """Return the time of making neighbor lists."""
    return phase(
        "indexing", around(record, values), batch_edges=record.counts["edges"], batch_nodes=record.counts["nodes"]
    )


_INDEXING: Final = {
    "time_per_indexed_node": Constant(
        DEVICE,
        ("sampling.time_per_indexed_node",),
        2e-9,
        (1e-12, 1e-6),
        "s",
        "making room for one node's neighbor list",
    ),
    "indexing_restart_time": Constant(
        DEVICE,
        ("sampling.indexing_restart_time",),
        2e-5,
        (1e-8, 1e-2),
        "s",
        "bringing indexing back into displaced caches",
    ),
    "time_per_indexing": Constant(
        DEVICE, ("sampling.time_per_indexing",), 2e-5, (1e-8, 1e-2), "s", "making neighbor lists, however many"
    ),
    "time_per_indexed_edge": Constant(
        DEVICE, ("sampling.time_per_indexed_edge",), 2e-9, (1e-12, 1e-6), "s", "entering one edge into neighbor lists"
    ),
}


def _chosen_workers(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records with workers, each with what one process takes for a mini-batch alone."""
    alone = {_without_workers(r): r.time for r in records if r.point["workers"] == 0}
    return [
        dataclasses.replace(
            r, time=r.time / r.counts["batches"], counts={**r.counts, "alone": alone[_without_workers(r)]}
        )
        for r in records
        if r.point["workers"] != 0 and _without_workers(r) in alone
    ]


def _without_workers(record: Record) -> tuple[object, ...]:
    return tuple(value for name, value in sorted(record.point.items()) if name != "workers")


def beside(record: Record, values: Values) -> float:
    """Return the time of a mini-batch drawn by several workers at once."""
    nothing = dict.fromkeys(
        ("time_per_call", "time_per_choosing_call", "time_per_expanded_node", "relation_hops", "choosing_hops",
         "expanded_nodes", "drawing_time", "renaming_time", "gather_time", "gathered_bytes", "contention"),
        0.0,
    )  # fmt: skip
    return phase(
        "sampling", {**around(record, values), **nothing, "time_per_batch": record.counts["alone"]},
        sampling_restart_time=0.0, memory_bandwidth=1e30, devices=1.0,
        workers=float(record.point["workers"]),
    )  # fmt: skip


_WORKERS: Final = {
    "serial_share": _sampling("serial_share", 0.05, (1e-4, 1.0), "", "share of sampling that workers wait for"),
    "handover_time": _sampling("time_per_handover", 1e-4, (1e-7, 1e-1), "s", "passing a mini-batch from a worker on"),
}


def _regrowth(entry: str) -> Group:
    return Group(
        "aggregation",
        ("aggregation",),
        {
            "heap_bandwidth": Constant(
                entry, ("regrowth.heap_bandwidth", "regrowth.fresh_bandwidth"), 3e10, (1e7, 1e13), "B/s",
                "copying what is held to a buffer one chunk larger",
            )
        },
        regrown,
        lambda records: [record for record in records if record.point["aggregation"] == "regrown"],
    )  # fmt: skip


def regrown(record: Record, values: Values) -> float:
    """Return the time of putting a tensor together in a buffer that is regrown."""
    return phase(
        "aggregation_regrown", values, tensor_bytes=record.counts["copied_once"], chunk=float(record.point["chunk"]),
        receiver_copy_bandwidth=values["copy_bandwidth"], receiver_heap_limit=1e15, fresh_bandwidth=1e15,
    )  # fmt: skip


GROUPS: Final = (
    Group("sampling", ("neighbor_sampling", "feature_gather"), _SAMPLING, _sampled),
    _conversion(back=False),
    _conversion(back=True),
    _link(SHARED_MEMORY, "chunk_ack_shared_memory", _COPY),
    _link(TCP, "chunk_ack_tcp", _TCP),
    Group("training", ("gnn_layers",), _TRAINING, trained),
    Group("indexing", ("edge_indexing",), _INDEXING, indexed),
    Group("workers", ("sampling_workers",), _WORKERS, beside, _chosen_workers),
    Group("sampling with PyG", ("neighbor_sampling_pyg",), _WITH_PYG, drawn_by_pyg),
    _regrowth(SHARED_MEMORY),
    _regrowth(TCP),
    *ROUTING_GROUPS,
)
