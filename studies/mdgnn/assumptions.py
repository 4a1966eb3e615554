"""What the paper leaves open: left out row by row, group by group, and assumed otherwise; fitted again each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration.published import mdgnn
from calibration.published.mdgnn_constants import CONSTANTS
from calibration.published.mdgnn_table import Published
from studies._base import Answer

HOST_CENTRIC: Final = ("esdg", "blad", "dgc")
#: Rows by the section that they stand in.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "end to end (5.2)": ("end-to-end speedup", "normalized throughput"),
    "RNN shares (5.3.1)": ("RNN share of runtime",),
    "flash shares (5.3.2)": ("flash I/O share of the GNN phase",),
    "scaling (5.4)": ("throughput over 1 CSD",),
    "energy (5.5)": ("end-to-end energy reduction",),
}
_LOST: Final = 3.0  # times as wide as with all rows: the rows that fix the constant are left out


class Assumption(NamedTuple):
    """One thing that the paper leaves open, with another value for it."""

    words: str
    changes: Callable[[str, str], Mapping[str, Any]] = lambda system, dataset: {}


def _everywhere(key: str, value: Any) -> Callable[[str, str], Mapping[str, Any]]:
    return lambda system, dataset: {key: value}


def _near_data(key: str, value: Any) -> Callable[[str, str], Mapping[str, Any]]:
    return lambda system, dataset: {} if system in HOST_CENTRIC else {key: value}


def _only(one: str, key: str, value: Any) -> Callable[[str, str], Mapping[str, Any]]:
    return lambda system, dataset: {key: value} if one in (system, dataset) else {}


ASSUMPTIONS: Final = (
    Assumption("as in the catalog"),
    Assumption("two hops of four, 21 nodes for each target", _everywhere("workload.fanout", "4,4")),
    Assumption("five hops of two, 63 nodes for each target", _everywhere("workload.fanout", "2,2,2,2,2")),
    Assumption("hops of 25 and 10, 276 nodes for each target", _everywhere("workload.fanout", "25,10")),
    Assumption("four targets' states in a message", _everywhere("workload.model.messages", 0.25)),
    Assumption("one frame in flight", _everywhere("plan.frames", 1.0)),
    Assumption("four frames in flight", _everywhere("plan.frames", 4.0)),
    Assumption("every snapshot has rows of its own", _everywhere("workload.temporal.shared", 0.0)),
    Assumption("states of one device stay there", _everywhere("system.loopback", False)),
    Assumption("BLAD's stages not in step", _only("blad", "system.stages", 1.0)),
    Assumption("hops of reads in strict order", _near_data("system.storage.flash.hop_order", "strict")),
    Assumption("only rows cross the flash bus", _near_data("system.storage.flash.transfer", "row")),
    Assumption("64 flash reads in flight", _everywhere("system.storage.flash.queue_depth", 64.0)),
    Assumption("nothing stays in the scratchpad", _near_data("system.storage.array.scratchpad", 0.0)),
    Assumption("0.5 ms for loss, update and dispatch", _near_data("system.storage.graph.time_per_snapshot", "0.5 ms")),
    Assumption("YouTube's targets at random", _only("youtube", "workload.degree_bias", 1.0)),
)


def varied(rows: Sequence[Published], outside: Collection[str]) -> list[Answer]:
    """Fit again under every assumption, and hold the result against the published numbers."""
    start = mdgnn.Fitting(rows).fitted(outside).values
    return [_varied(rows, outside, assumption, start) for assumption in ASSUMPTIONS]


def _varied(
    rows: Sequence[Published], outside: Collection[str], assumption: Assumption, start: NDArray[np.float64]
) -> Answer:
    fitting = mdgnn.Fitting(rows, changes=assumption.changes)
    values = fitting.fitted(outside, start).values
    errors = _errors(fitting, values, [row for row in rows if not row.is_bound and row.id not in outside])
    worst = max(errors, key=lambda name: errors[name])
    return {
        "words": assumption.words,
        "median": float(np.median(list(errors.values()))),
        "mean": float(np.mean(list(errors.values()))),
        "largest": errors[worst],
        "worst": worst,
        "constants": {constant.fields[0]: float(value) for constant, value in zip(CONSTANTS, values, strict=True)},
    }


def _errors(fitting: mdgnn.Fitting, values: NDArray[np.float64], rows: Sequence[Published]) -> dict[str, float]:
    return {row.id: float(abs(np.expm1(fitting.off(row, values)))) for row in rows}


def crossed(rows: Sequence[Published], outside: Collection[str]) -> Answer:
    """Return how far rows are off that were left out of the fit: one by one, and by groups."""
    fitting = mdgnn.Fitting(rows)
    whole = fitting.fitted(outside)
    off = mdgnn.left_out_errors(fitting, outside, whole.values)
    errors = {name: float(abs(np.expm1(each))) for name, each in off.items()}
    return {
        "rows": errors,
        "median": float(np.median(list(errors.values()))),
        "largest": max(errors.values()),
        "groups": {words: _group(fitting, outside, whole, quantities) for words, quantities in GROUPS.items()},
    }


def _group(fitting: mdgnn.Fitting, outside: Collection[str], whole: Any, quantities: Sequence[str]) -> Answer:
    own = [row for row in fitting.rows if row.quantity in quantities and row.id not in outside]
    found = fitting.fitted({*outside, *(row.id for row in own)})
    errors = _errors(fitting, found.values, own)
    wider = np.sqrt(np.diag(found.covariance) / np.diag(whole.covariance))
    lost = [constant.fields[0] for constant, ratio in zip(CONSTANTS, wider, strict=True) if ratio > _LOST]
    return {"rows": errors, "median": float(np.median(list(errors.values()))), "lost": lost}
