"""What Buddy's rows may ask for, in words, and how the model answers: speedups, gains of tuning, traffic, utilization.

A row names its quantity in words, and applications and scenario as the paper does. Sweeps run over all values that the
paper tunes; a gain is the time at the first of them over the least, a peak the first that reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration.published.buddy_model import APPLICATIONS, BUFFERS, SYSTEMS, THREADS, Buddy, Case
from perfmodel.errors import SpecError, nearest
from perfmodel.model.compile import compiled

Array = NDArray[np.float64]

_SAME: Final = 1e-9  # relative difference between times that are the same
_ALIASES: Final[Mapping[str, str]] = {
    "transpose": "sparse-transpose", "sparse matrix transpose": "sparse-transpose", "tri. count.": "triangle-counting",
    "triangle counting": "triangle-counting", "sparse transpose": "sparse-transpose",
}  # fmt: skip
#: Reaches over several applications: the largest, the least, the mean.
_KINDS: Final[Mapping[str, Callable[[Array], Array]]] = {
    "peak": lambda rows: np.asarray(rows.max(axis=0)),
    "minimum": lambda rows: np.asarray(rows.min(axis=0)),
    "mean": lambda rows: np.asarray(rows.mean(axis=0)),
}


class Asked(NamedTuple):
    """What a row asks of the model: one application at a time, on one system, with the row's other words."""

    buddy: Buddy
    case: Case
    words: str


def memory_ratio(asked: Asked) -> Array:
    """Return the memory-to-communication ratio, which the workload states."""
    return np.atleast_1d(asked.buddy.scenario(asked.case).workload.memory_ratio)


def speedup(asked: Asked) -> Array:
    """Return how many times faster the system is than routing inline."""
    inline = asked.buddy.times(Case(asked.case.application, "none"), other=True)
    return inline / asked.buddy.times(asked.case)


def _swept(asked: Asked, key: str, values: Array) -> tuple[Array, Array]:
    """Return the gain of the best value over the first, and the first of the best; for every draw."""
    times = asked.buddy.times(asked.case, key, values)
    first = asked.buddy.times(asked.case, key, values[:1], other=True)[0]
    least = times.min(axis=0)
    return first / least, values[np.argmax(times <= least * (1 + _SAME), axis=0)]


def buffers_gain(asked: Asked) -> Array:
    """Return the gain of the best number of aggregation buffers over one."""
    return _swept(asked, "plan.buffers", BUFFERS)[0]


def buffers_peak(asked: Asked) -> Array:
    """Return the least number of aggregation buffers that no more would improve."""
    return _swept(asked, "plan.buffers", BUFFERS)[1]


def threads_gain(asked: Asked) -> Array:
    """Return the gain of the best number of routing threads over one."""
    return _swept(asked, "plan.threads", THREADS)[0]


def threads_peak(asked: Asked) -> Array:
    """Return the least number of routing threads that no more would improve."""
    return _swept(asked, "plan.threads", THREADS)[1]


def dram_increase(asked: Asked) -> Array:
    """Return what an agent without direct cache access loads from memory, over one with it."""
    application = asked.case.application
    return asked.buddy.loads(Case(application, "dpu")) / asked.buddy.loads(Case(application, "x86"))


def memory_loads(asked: Asked) -> Array:
    """Return what the agent loads from memory, over what its node sends."""
    return asked.buddy.loads(asked.case) / asked.buddy.sent(asked.case)


def network_utilization(asked: Asked) -> Array:
    """Return the share of a run in which the node's link is busy."""
    outcome = asked.buddy.outcome(asked.case)
    return np.atleast_1d(np.asarray(outcome.phases["network"] / outcome.time, dtype=float))


def transfer_size(asked: Asked) -> Array:
    """Return the average bytes of a transfer."""
    values = dict(asked.buddy.bound(asked.case).values)
    if (nodes := _nodes(asked.words)) is not None:
        values["plan.nodes"] = nodes
    keys = {
        "messages": "workload.messages", "message_size": "workload.message_size", "buffer_size": "plan.buffer_size",
        "open_buffers": "plan.buffers", "run_length": "workload.run_length", "cluster_nodes": "plan.nodes", "hops": "plan.hops",
    }  # fmt: skip
    phase = compiled()["transfers"]
    transfers = phase.function(*[values[keys[name]] for name in phase.arguments])
    size = values["workload.messages"] * values["workload.message_size"] / transfers
    return np.atleast_1d(np.asarray(size, dtype=float))


def scaling(asked: Asked) -> Array:
    """Return how many times as much all nodes send in the same time as one does."""
    nodes = _nodes(asked.words) or 8.0
    times = asked.buddy.times(asked.case, "plan.nodes", np.array([1.0, nodes]))
    return np.asarray(nodes * times[0] / times[1])


def _nodes(words: str) -> float | None:
    found = re.search(r"(\d+)\s*nodes", words)
    return None if found is None else float(found[1])


class Quantity(NamedTuple):
    """A quantity by its words: all of ``words`` are in the row's, and its unit is one of ``units``, any where empty."""

    name: str
    words: tuple[str, ...]
    units: tuple[str, ...]
    answer: Callable[[Asked], Array]


#: In this order: the first that fits is meant.
QUANTITIES: Final = (
    Quantity("memory-to-communication ratio", ("memory-to-communication",), (), memory_ratio),
    Quantity("DRAM traffic without direct cache access over with it", ("dram",), ("x", "ratio"), dram_increase),
    Quantity("memory loads of the routing agent over communication", ("loads",), (), memory_loads),
    Quantity("routing threads at the peak", ("thread",), ("threads",), threads_peak),
    Quantity("gain of several routing threads", ("thread",), (), threads_gain),
    Quantity("number of buffers at the peak", ("buffer",), ("buffers",), buffers_peak),
    Quantity("gain of tuning the number of buffers", ("buffer",), (), buffers_gain),
    Quantity("network utilization", ("network", "util"), (), network_utilization),
    Quantity("average transfer size", ("transfer size",), (), transfer_size),
    Quantity("gain of scaling to several nodes", ("scaling",), ("x", "ratio"), scaling),
    Quantity("speedup of offload over no offload", ("speedup",), ("x", "ratio"), speedup),
)  # fmt: skip
#: A range that the paper covers: nothing that a model could predict.
SETTING_KINDS: Final = ("range",)
INPUTS: Final = (memory_ratio,)


def quantity_of(words: str, unit: str, where: str) -> Quantity:
    """Return the quantity that a row means.

    Raises
    ------
    SpecError
        Where the model has none of that name and unit.
    """
    folded = words.casefold()
    for quantity in QUANTITIES:
        if all(word in folded for word in quantity.words) and (not quantity.units or unit in quantity.units):
            return quantity
    names = [quantity.name for quantity in QUANTITIES]
    raise SpecError(where, f"must have one of the quantities {'; '.join(names)}", repr(words), nearest(words, names))


def applications_of(words: str, where: str) -> tuple[str, ...]:
    """Return the applications that a row is about; all where it names none.

    Raises
    ------
    SpecError
        A name that is no application.
    """
    folded = words.casefold().strip()
    if folded in ("", "all", "any") or _place_among_two(folded) is not None:
        return APPLICATIONS
    found = []
    for part in re.split(r",|;|\bor\b|\band\b", folded):
        name = _ALIASES.get(part.strip(), part.strip())
        if name not in APPLICATIONS:
            raise SpecError(
                where,
                f"must have one of the applications {', '.join(APPLICATIONS)}",
                repr(words),
                nearest(name, APPLICATIONS),
            )
        found.append(name)
    return tuple(found)


def _place_among_two(words: str) -> int | None:
    """Return which of two unnamed applications a row is about: the paper names them, the review at hand does not."""
    match = re.match(r"(first|second) of two", words.casefold().strip())
    return None if match is None else ("first", "second").index(match[1])


def system_of(words: str, where: str) -> str:
    """Return the system of a row: the DPU where it names none.

    Raises
    ------
    SpecError
        A scenario that the paper has not.
    """
    named = [name for name in SYSTEMS if re.search(rf"\b{name}\b", words.casefold())]
    if not named and words.strip():
        raise SpecError(
            where, f"must have one of the scenarios {', '.join(SYSTEMS)}", repr(words), nearest(words, list(SYSTEMS))
        )
    return named[0] if named else "dpu"


def answer(buddy: Buddy, quantity: Quantity, row: Any, where: str) -> Array:
    """Return what the model says of a row; shape (draws,), the point estimate first.

    Where it is about several applications, its kind says which of them; of two unnamed ones the first is the one with the
    smaller gain.
    """
    names = applications_of(row.application, where)
    system = system_of(row.scenario, where)
    words = f"{row.quantity} {row.scenario} {row.where}".casefold()
    found = _stacked([quantity.answer(Asked(buddy, Case(name, system), words)) for name in names])
    place = _place_among_two(row.application)
    if place is not None:
        return np.asarray(found[np.argsort(found[:, 0])[-2:][place]])
    reach = next((reach for kind, reach in _KINDS.items() if kind in row.kind.casefold()), _KINDS["peak"])
    return reach(found)


def _stacked(rows: Sequence[Array]) -> Array:
    return np.stack(np.broadcast_arrays(*rows))
