"""The compiled double-precision functions against the same expressions in exact rational arithmetic, shown with 50 digits.

Inputs span many orders of magnitude and the edges of what is admissible: nothing sent, nothing sampled, a chunk larger
than the tensor, free links. What differs is rounding, cancellation and the printing of the source.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from perfmodel.model.compile import compiled
from perfmodel.phases._base import all_phases
from perfmodel.symbols import NOMENCLATURE

#: Orders of magnitude that a unit's values are drawn from, and values at the edge that it may also take.
RANGES = {
    "B": (0, 13), "B/s": (6, 13), "s": (-9, 1), "s/B": (-12, -7), "s/node": (-9, -4), "s/edge": (-9, -4), "node": (0, 9),
    "edge": (0, 10), "flop": (6, 15), "flop/s": (9, 15), "": (0, 6), "B/node": (0, 2), "B/edge": (0, 1),
    "message": (0, 10), "B/message": (0, 4), "s/message": (-10, -5), "1/s": (4, 8), "Hz": (8, 10), "W": (-3, 2),
    "J": (-9, 3), "J/B": (-12, -9),
}  # fmt: skip
SHARES = {
    "serial_share",
    "serial_share_of_one",
    "contention",
    "compute_efficiency",
    "memory_efficiency",
    "replicated_share",
    "allocator_overhead",
    "routing_serial_share",
    "routing_contention",
    "changed_share",
    "cut_share",
    "hit_share",
    "local_miss_share",
    "pool_miss_share",
    "pool_share",
    "shared_share",
}
FLAGS = {
    "is_quantized", "by_chunk", "by_frame", "holds_next_page", "is_double_buffered", "is_first_layer", "is_resident",
    "is_relayed", "is_target_hop", "planes_read_alone", "pools_lists", "sends_rows",
}  # fmt: skip
WHOLE = {
    "window", "devices", "workers", "cores", "tensors",
    "cluster_nodes", "processes", "hops", "routing_threads", "open_buffers", "ring_buffers", "outstanding",
    "array_columns", "array_rows", "batch_targets", "block_reads_at_once", "cell_layers", "channels", "dies",
    "feature_dimension", "firmware_cores", "frame_length", "frames_in_flight", "hidden_width", "packages", "passes",
    "file_pages", "process_cores", "pipeline_stages", "planes", "pool_requests", "queue_depth", "snapshot_nodes",
    "vector_width",
}  # fmt: skip
POSITIVE = {
    "message_size",
    "run_length",
    "buffer_size",
    "displacement",
    "direct_cache",
    "least_gain",
    "chunk",
    "edge_entry",
    "array_entry",
    "hash_slot",
    "all_nodes",
    "table_bytes",
    "displacement_time",
    "receiver_displacement_time",
    "array_frequency",
    "array_read_time",
    "bus_time",
    "flash_latency",
    "file_page",
    "flash_throughput",
    "id_bytes",
    "messages_per_target",
    "page",
    "piece",
    "requests_per_row",
    "row_width",
}
#: Counts of draws, rows, visits and pages: what the formulas subtract is nearly equal, and a millionth of one is nothing.
COUNTED = {"page_reads", "draws_admitted", "draws_remembered", "drawn_lru", "drawn_pinned", "visits_remembered"}
RESULTS = {phase.result: phase.unit for phase in all_phases().values()}


def drawn(name: str, rng: random.Random) -> float:
    """Draw an admissible value; one in six lies at the edge."""
    if name in FLAGS:
        return rng.choice([0.0, 1.0])
    if name in SHARES:
        return rng.choice([1.0, rng.uniform(0.01, 1)])
    if name in ("skew", "flash_sharpness"):
        return rng.uniform(1.0, 3.0) if name == "flash_sharpness" else rng.choice([0.0, rng.uniform(0, 3)])
    if name in ("hop_depth", "hop_fanout"):
        return float(rng.randint(0, 4))
    if name in WHOLE:
        return float(rng.choice([1, 2, 3, 7, 49, rng.randint(1, 1000)]))
    unit = NOMENCLATURE[name].unit if name in NOMENCLATURE else RESULTS[name]
    low, high = RANGES[unit]
    positive = unit in ("B/s", "flop/s") or name in POSITIVE
    if rng.random() < 1 / 6:
        return 10.0**high if positive else 0.0
    return 10.0 ** rng.uniform(low, high)


def row(name: str, rng: random.Random) -> dict[str, float]:
    """Draw a phase's arguments; those that hang together do so here: fresh pages are no faster, work is what work takes."""
    names = set(compiled()[name].arguments)
    if name == "transfer_regrown":
        names |= set(compiled()["aggregation_regrown"].arguments)
    values = {argument: drawn(argument, rng) for argument in sorted(names)}
    if "heap_bandwidth" in values:
        values["fresh_bandwidth"] = values["heap_bandwidth"] / rng.choice([1.0, 4.0])
    if name == "transfer_regrown":
        values["aggregation_time"] = evaluated("aggregation_regrown", values)
    return {argument: values[argument] for argument in compiled()[name].arguments}


def evaluated(name: str, values: dict[str, float]) -> float:
    """Return what the compiled phase gives for single values."""
    phase = compiled()[name]
    return float(np.ravel(phase.function(*[values[argument] for argument in phase.arguments]))[0])


@pytest.mark.parametrize("name", sorted(set(all_phases()) - COUNTED))
def test_double_precision_is_enough(name: str) -> None:
    phase, rng = all_phases()[name], random.Random(name)
    for _ in range(25):
        values = row(name, rng)
        found = evaluated(name, values)
        exact = exactly(phase.expression, values)
        assert math.isfinite(found)
        assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-300), values


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_double_precision_is_enough_for_counts(name: str) -> None:
    """Shares of all accesses, draws, pages: to a millionth."""
    phase, rng = all_phases()[name], random.Random(name)
    for _ in range(25):
        values = row(name, rng)
        found = evaluated(name, values)
        assert found == pytest.approx(float(exactly(phase.expression, values)), rel=1e-6, abs=1e-6), values


def exactly(expression: sympy.Expr, values: dict[str, float]) -> sympy.Float:
    """Return the value of an expression over the exact rationals that the floats are; with roots and powers, to 60 digits."""
    if any(not power.exp.is_Integer for power in expression.atoms(sympy.Pow)):
        names, function = with_many_digits(expression)
        with mpmath.workdps(60):
            return sympy.Float(function(*(mpmath.mpf(values[name]) for name in names)), 50)
    numbers = {symbol: sympy.Rational(*values[symbol.name].as_integer_ratio()) for symbol in expression.free_symbols}
    return sympy.N(expression.xreplace(numbers).doit(), 50)


@functools.cache
def with_many_digits(expression: sympy.Expr) -> tuple[list[str], Callable[..., Any]]:
    """Return an expression as a function of mpmath's numbers, and the names of its arguments."""
    names = sorted(expression.free_symbols, key=str)
    return [str(name) for name in names], sympy.lambdify(names, expression, "mpmath", cse=True)


def test_whole_quotients_are_not_rounded_below_themselves() -> None:
    """49 nodes take 49 chunks in one round: through a shared reciprocal, 49 * (1 / 49) would be below one."""
    transfer = compiled()["transfer"]
    free = dict.fromkeys(transfer.arguments, 0.0)
    for nodes in range(1, 200):
        values = free | {
            "tensor_bytes": float(nodes + 1), "chunk": 1.0, "window": 1e6, "devices": float(nodes), "link_bandwidth": 1.0,
            "sender_copy_bandwidth": math.inf,
        }  # fmt: skip
        assert float(transfer.function(*[values[argument] for argument in transfer.arguments])) == 2.0


@pytest.mark.parametrize("name", sorted(all_phases()))
def test_arrays_give_what_single_values_give(name: str) -> None:
    """Every pattern of scalars and arrays broadcasts, and element by element nothing changes."""
    function, rng = compiled()[name], random.Random(name)
    rows = [row(name, rng) for _ in range(8)]
    alone = [evaluated(name, values) for values in rows]
    columns = [np.array([values[argument] for values in rows]) for argument in function.arguments]
    together = function.function(*columns)
    rounding = 1e-13 if name in COUNTED else 0.0  # of exponentials, which differs between one number and many
    np.testing.assert_allclose(np.broadcast_to(together, 8), alone, rtol=rounding)
    for varied in range(len(columns)):
        mixed = [column if number == varied else column[0] for number, column in enumerate(columns)]
        argument = function.arguments[varied]
        expected = [evaluated(name, rows[0] | {argument: values[argument]}) for values in rows]
        np.testing.assert_allclose(np.broadcast_to(function.function(*mixed), 8), expected, rtol=rounding)
