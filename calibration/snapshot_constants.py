"""Constants of snapshots on this machine: which kernels they are fitted to, and the phases that predict them.

Every law is a fixed cost and a cost for each thing worked on, as the phases have it; constants are fitted kernel by kernel,
never to whole runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

from calibration.disturbance import steady
from calibration.fit import Constant
from calibration.kernels.snapshot_reads import SNAPSHOTS
from calibration.machine_constants import DEVICE, Group, Values, phase
from calibration.measurements import Record
from calibration.pipeline.snapshot_run import GATES

KERNELS: Final = ("snapshot_cells", "snapshot_graphs", "snapshot_reads", "state_exchange")
Predict = Callable[[Record, Values], float]
_PRODUCTS: Final = {"forward": 2.0, "backward": 4.0}
_ROW_WIDTH: Final = 4.0


def steady_record(record: Record) -> Record:
    """Return a record with the mean of its blocks but the longest: frames are longer than a host leaves them alone."""
    return dataclasses.replace(record, time=steady(record.times)) if record.times else record


def _where(**point: str) -> Callable[[Sequence[Record]], Sequence[Record]]:
    """Return what chooses records by their points."""

    def chosen(records: Sequence[Record]) -> Sequence[Record]:
        return [steady_record(r) for r in records if all(r.point[name] == value for name, value in point.items())]

    return chosen


def _cost(field: str, start: float, unit: str, meaning: str) -> Constant:
    return Constant(DEVICE, (f"snapshots.{field}",), start, (start * 1e-4, start * 1e4), unit, meaning)


def _cells(cell: str, way: str) -> Group:
    field, of = f"{cell}.{way}", f"{cell.upper()} cells {way}"
    constants = {
        "cell_call_time": _cost(f"{field}.time_per_call", 3e-5, "s", f"fixed cost of a layer of {of}"),
        "cell_restart_time": _cost(f"{field}.restart_time", 3e-5, "s", f"{of} in a process just woken, longer by"),
        "cell_operation_time": _cost(f"{field}.time_per_operation", 2e-11, "s", f"one operation of {of}"),
        "cell_element_time": _cost(f"{field}.time_per_element", 1e-8, "s", f"one element of a state in {of}"),
    }

    def predict(record: Record, values: Values) -> float:
        return phase(
            "cells_on_core", values, cell_products=_PRODUCTS[way], cell_gates=float(GATES[cell]),
            batch_targets=float(record.point["targets"]), hidden_width=float(record.point["hidden"]), is_resident=1.0,
            devices=2.0 if float(record.point["asleep"]) > 0 else 1.0,
        )  # fmt: skip

    return Group(way, ("snapshot_cells",), constants, predict, _where(cell=cell, direction=way))


_NEIGHBORS: Final = {
    "neighbor_element_time": _cost(
        "graph.forward.time_per_passed_element", 3e-10, "s", "averaging one element of a neighbor's row"
    ),
    "missed_row_time": _cost("graph.forward.time_per_missed_row", 5e-8, "s", "reaching a neighbor's row beyond the cache"),
    "missed_element_time": _cost("graph.forward.time_per_missed_element", 3e-10, "s", "one of its elements"),
    "near_cache": Constant(
        DEVICE, ("snapshots.cache",), 1e6, (1e5, 3e7), "B", "cache of a core that neighbors' rows are found in"
    ),
}  # fmt: skip


def _graphs(way: str) -> Group:
    field = f"graph.{way}"
    constants = {
        "graph_call_time": _cost(f"{field}.time_per_call", 3e-5, "s", f"fixed cost of a graph layer {way}"),
        "graph_operation_time": _cost(f"{field}.time_per_operation", 2e-11, "s", f"one operation of it {way}"),
        "graph_element_time": _cost(f"{field}.time_per_element", 1e-9, "s", f"one element in or out of it {way}"),
    }
    none = {"neighbor_element_time": 0.0, "missed_row_time": 0.0, "missed_element_time": 0.0, "near_cache": 1.0}
    if way == "forward":
        constants |= _NEIGHBORS

    def predict(record: Record, values: Values) -> float:
        point = record.point
        return phase(
            "graph_on_core", {**none, **{name: values[name] for name in constants}}, hop_width=1.0, is_first_layer=1.0,
            batch_targets=float(point["targets"]), hop_fanout=float(point["degree"]),
            feature_dimension=float(point["width"]), hidden_width=float(point["hidden"]),
            snapshot_nodes=float(point["nodes"]), row_width=_ROW_WIDTH,
        )  # fmt: skip

    step = "graphs" if way == "forward" else "backward"
    return Group(step, ("snapshot_graphs",), constants, predict, _where(direction=way))


_NO_PAGES: Final = dict.fromkeys(
    [f"{role}_{of}_time" for role in ("held", "kept", "unkept") for of in ("page", "byte")], 0.0
)
_ROLES: Final = {"held": "held", "buffered": "kept", "unkept": "unkept", "direct": "kept"}  # as the formula has them
_MEANINGS: Final = {
    "held": "pages that are held",
    "buffered": "pages that are read and kept",
    "unkept": "pages that are read past the cache",
    "direct": "pages that are read from the disk",
}


def _pages(*kinds: str) -> Group:
    """Return the group of some kinds of pages; what a visit takes is fitted with those that a cache has."""
    constants = {
        f"{kind} {of}": _cost(
            f"{kind}.time_per_{of}", start, unit, f"one {'of' * (of == 'page') or 'byte of'} {meaning}"
        )
        for kind, meaning in _MEANINGS.items()
        if kind in kinds
        for of, start, unit in (("page", 2e-6, "s"), ("byte", 1e-10, "s/B"))
    }
    if "held" in kinds:
        constants |= {
            "page_visit_time": _cost("time_per_visit", 1e-5, "s", "fixed cost of a visit to a snapshot's pages"),
            "page_restart_time": _cost("restart_time", 2e-5, "s", "a visit of a process that has slept, longer by"),
            "missed_byte_time": _cost(
                "time_per_missed_byte", 1e-10, "s/B", "one byte of a page beyond the outer cache"
            ),
            "far_cache": Constant(
                DEVICE, ("snapshots.outer_cache",), 1e7, (1e6, 1e9), "B", "cache of all cores that pages are found in"
            ),
        }

    def predict(record: Record, values: Values) -> float:
        kind = str(record.point["kind"])
        known = {**values, **_NO_PAGES}
        known |= {f"{_ROLES[kind]}_{of}_time": values[f"{kind} {of}"] for of in ("page", "byte")}
        restart = values["page_restart_time"] if float(record.point["asleep"]) > 0 else 0.0
        return restart + phase(
            "visits_pinned" if kind == "unkept" else "visits_kept", known, hit_share=float(kind == "held"),
            file_pages=record.counts["pages"], file_page=float(record.point["page"]), process_pages=0.0,
            frame_length=float(SNAPSHOTS), devices=1.0,
        )  # fmt: skip

    def chosen(records: Sequence[Record]) -> Sequence[Record]:
        return [steady_record(record) for record in records if record.point["kind"] in kinds]

    return Group("graphs", ("snapshot_reads",), constants, predict, chosen)


def _pipe(field: str, prefix: str, meaning: str, predict: Predict, **point: str) -> Group:
    constants = {
        f"{prefix}wake_time": _cost(f"{field}.time_per_state", 5e-5, "s", f"waking a process {meaning}"),
        f"{prefix}message_time": _cost(f"{field}.time_per_message", 1e-5, "s", f"one message {meaning}"),
        f"{prefix}byte_time": _cost(f"{field}.time_per_byte", 1e-10, "s/B", f"one byte {meaning}"),
    }
    if not prefix:
        constants = {name if name == "wake_time" else f"way_{name}": each for name, each in constants.items()}
    chosen = _where(**point)

    def of_one_state(records: Sequence[Record]) -> Sequence[Record]:
        return [dataclasses.replace(r, time=r.time / r.counts["states"]) for r in chosen(records)]

    return Group("update", ("state_exchange",), constants, predict, of_one_state)


def _one_state(record: Record, share: float = 1.0) -> dict[str, float]:
    """Return one state of so many bytes and messages, or of a share of them."""
    messages = record.counts["messages"] / record.counts["states"]
    return {
        "batch_targets": 1.0, "messages_per_target": share * messages, "state_parts": 1.0, "row_width": _ROW_WIDTH,
        "hidden_width": share * float(record.point["bytes"]) / _ROW_WIDTH,
    }  # fmt: skip


_NO_WAY: Final = dict.fromkeys(
    ("wake_time", "way_message_time", "way_byte_time", "near_wake_time", "near_message_time", "near_byte_time"), 0.0
)


def _straight(cores: float, names: Sequence[str]) -> Predict:
    def predict(record: Record, values: Values) -> float:
        known = {**_NO_WAY, **{name: values[name] for name in names}}
        return phase("state_to_process", known, **_one_state(record), devices=2.0, process_cores=cores)

    return predict


def _through_parent(record: Record, values: Values) -> float:
    return phase("state_through_parent", values, **_one_state(record))


def _sent(record: Record, values: Values) -> float:
    # what sender and receiver spend on half of the messages is what the sender spends on all of them
    half = _one_state(record, 0.5)
    return phase("state_handling", values, **half, is_relayed=0.0, is_resident=0.0, devices=2.0)


_EXCHANGE: Final[Sequence[Group]] = (
    _pipe(
        "other_core", "", "on another core", _straight(2.0, ("wake_time", "way_message_time", "way_byte_time")),
        measured="way", receiver="other core",
    ),
    _pipe(
        "same_core", "near_", "on the same core", _straight(1.0, ("near_wake_time", "near_message_time", "near_byte_time")),
        measured="way", receiver="same core",
    ),
    _pipe(
        "through_host", "relayed_", "through the parent", _through_parent, measured="way",
        receiver="other core through the host",
    ),
    _pipe("sending", "send_", "as its sender spends on it", _sent, measured="sent", receiver="other core"),
)  # fmt: skip

GROUPS: Final[Sequence[Group]] = (
    *(_cells(cell, way) for cell in GATES for way in _PRODUCTS),
    *(_graphs(way) for way in _PRODUCTS),
    _pages("held", "buffered", "unkept"),
    _pages("direct"),
    *_EXCHANGE,
)
