"""M-DGNN's published numbers: headline ratios and shares of six systems that train dynamic graph neural networks.

*M-DGNN: Accelerating Large-Scale Dynamic Graph Neural Network Training via PCIe-Interconnected Multiple Computational Storage
Devices*. How they are read:

- a mean is over all configurations that its row names, a peak the largest of them; an upper bound tests, and is not fitted;
- rows that contradict each other, whatever the machine (``mdgnn_consistency``), are told by identities between them. Of
  those the fewest are set apart with which the others can be met; they are predicted, and counted apart;
- nothing absolute is published. The scale of all times is that of Table 1: its flash, and 10 us of the host's software.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import zlib
from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit import Constant, Fit, fit
from calibration.published.mdgnn_consistency import Conflict, conflicts, set_apart
from calibration.published.mdgnn_constants import CONSTANTS, FOLLOWERS
from calibration.published.mdgnn_quantities import Changes, Quantities
from calibration.published.mdgnn_table import TABLE, Published, read_table
from calibration.validation import Row, by_quantity, summary
from perfmodel.spec.catalog import read_bytes
from perfmodel.uncertainty import DRAWS, interval

__all__ = ["TABLE", "read_table"]

Array = NDArray[np.float64]

MEDIAN_BOUND: Final = 0.10
LARGEST_BOUND: Final = 0.25
ENERGY_BOUND: Final = 0.15
ENERGY: Final = "end-to-end energy reduction"
#: Of a published ratio [log], before anything is known.
SCATTER: Final = 0.05
_SEED: Final = 20261
_LEAST: Final = 1e-3  # of a prediction, so that a reduction below none has a logarithm


def profile_table(values: Sequence[float], constants: Sequence[Constant] = CONSTANTS) -> dict[str, Any]:
    """Return constants, and what follows from them, as a profile without uncertainty."""
    size = len(constants) + len(FOLLOWERS)
    return {
        "name": "mdgnn",
        "parameters": _parameters(constants, values, [(float(value), float(value)) for value in values]),
        "covariance": np.zeros((size, size)).tolist(),
    }


def _parameters(
    constants: Sequence[Constant], values: Sequence[float], bounds: Sequence[tuple[float, float]]
) -> list[dict[str, Any]]:
    entries = [(index, constant.entry, True) for index, constant in enumerate(constants)]
    entries += [(index, entry, False) for index, entry in FOLLOWERS]
    return [
        {
            "entry": entry,
            "fields": list(constants[index].fields),
            "value": _rounded(values[index]),
            "unit": constants[index].unit,
            "interval": [_rounded(bound) for bound in bounds[index]],
            "bounds": list(constants[index].bounds),
            "meaning": constants[index].meaning,
            "fitted": is_fitted,
        }
        for index, entry, is_fitted in entries
    ]


def _rounded(value: float) -> float:
    """Keep six digits: what is below them differs between machines."""
    return float(f"{value:.6g}")


def with_followers(values: Array) -> Array:
    """Return constants, and those that follow from them."""
    return np.concatenate([values, values[[index for index, _ in FOLLOWERS]]])


class Fitting:
    """Fits the constants to some of its rows; every scenario is loaded once.

    Parameters
    ----------
    rows : sequence of Published
    constants : sequence of Constant
    changes : callable of a system and a dataset to a mapping, optional
        What is assumed in place of the catalog's numbers.
    """

    def __init__(
        self, rows: Sequence[Published], constants: Sequence[Constant] = CONSTANTS, changes: Changes | None = None
    ) -> None:
        self.rows, self.constants = rows, constants
        self._model = Quantities(rows, profile_table([constant.start for constant in constants], constants), changes)

    def fitted(self, left_out: Collection[str] = (), start: Array | None = None) -> Fit:
        """Fit to all rows but bounds and those left out, by id; from where another fit ended, if told."""
        own = [row for row in self.rows if not row.is_bound and row.id not in left_out]

        def predicted(values: Array) -> Array:
            model = self._model.at(with_followers(values))
            return np.array([max(float(model.row(row)[0]), _LEAST) for row in own])

        measured = np.array([row.value for row in own])
        resolution = np.array([row.resolution for row in own]) / measured
        constants = self.constants
        if start is not None:
            pairs = zip(constants, start, strict=True)
            constants = [dataclasses.replace(constant, start=float(value)) for constant, value in pairs]
        return fit(predicted, measured, np.hypot(SCATTER, resolution), constants)

    def off(self, row: Published, values: Array) -> float:
        """Return how far a row is off with some constants [log of predicted over published]."""
        predicted = float(self._model.at(with_followers(values)).row(row)[0])
        return float(np.log(max(predicted, _LEAST) / row.value))


def apart(fitting: Fitting, found: Sequence[Conflict]) -> tuple[str, ...]:
    """Return the rows to set apart: of the fewest that break all conflicts, those that fit worst to what nobody contests."""
    if not found:
        return ()
    values = fitting.fitted({name for conflict in found for name in conflict.rows}).values
    off = {row.id: abs(fitting.off(row, values)) for row in fitting.rows}
    return set_apart(found, off.__getitem__)


def left_out_errors(fitting: Fitting, outside: Collection[str], start: Array) -> dict[str, float]:
    """Return how far each row is predicted off by a fit to all others [log]; those outside are in no fit."""
    used = [row for row in fitting.rows if not row.is_bound and row.id not in outside]
    return {row.id: fitting.off(row, fitting.fitted({*outside, row.id}, start).values) for row in used}


def fitted_profile(rows: Sequence[Published]) -> dict[str, Any]:
    """Fit the constants to the rows that can be met together, and return the whole profile."""
    fitting = Fitting(rows)
    outside = apart(fitting, conflicts(rows))
    found = fitting.fitted(outside)
    bounds = [
        (max(low, constant.bounds[0]), min(high, constant.bounds[1]))
        for (low, high), constant in zip(found.intervals(), CONSTANTS, strict=True)
    ]
    source = [*range(len(CONSTANTS)), *(index for index, _ in FOLLOWERS)]
    errors = np.array(list(left_out_errors(fitting, outside, found.values).values()))
    return {
        "name": "mdgnn",
        "title": "Fitted to M-DGNN's published ratios",
        "parameters": _parameters(CONSTANTS, found.values.tolist(), bounds),
        "covariance": [[_rounded(value) for value in row] for row in found.covariance[np.ix_(source, source)]],
        "residual": {"rest": _rounded(float(np.sqrt((errors**2).mean())))},
    }


def _compared(model: Quantities, row: Published, is_apart: bool) -> Row:
    draws = model.row(row)
    noise = np.random.default_rng([_SEED, zlib.crc32(row.id.encode())]).standard_normal(DRAWS)
    predicted = float(draws[0])
    bounds = interval((draws[1:] if draws.size > 1 else predicted) * np.exp(model.residual * noise))
    if row.is_bound:
        bounds = (0.0, bounds[1])
    names = ("id", "system", "baseline", "dataset", "layers", "csds", "unit", "kind")
    inputs = dict(zip(names, (*row.inputs, row.unit, row.kind), strict=True))
    properties = ("upper bound",) if row.is_bound else ("contradicted",) if is_apart else ()
    return Row(inputs, row.quantity, row.value, predicted, bounds, row.resolution, properties)


def validate(table: str | None = None, profile: str | None = None) -> dict[str, Any]:
    """Hold the model against the shipped table, or against rows of one's own; returns the JSON document."""
    path = TABLE if table is None else pathlib.Path(table)
    published = read_table(table)
    found = conflicts(published)
    model = Quantities(published, profile)
    off = {row.id: abs(float(model.row(row)[0]) / row.value - 1.0) for row in published}
    outside = set_apart(found, off.__getitem__)
    rows = [_compared(model, row, row.id in outside) for row in published]
    counted = [row for row in rows if not row.properties]
    scenarios = model.scenarios()
    files = {name: digest for scenario in scenarios for name, digest in scenario.inputs.items()}
    return {
        "suite": "mdgnn",
        "title": "ratios and shares",
        "inputs": {path.name: hashlib.sha256(read_bytes(path)).hexdigest(), **dict(sorted(files.items()))},
        "columns": ["id", "system", "baseline", "dataset", "layers", "csds"],
        "rows": [row.to_dict() for row in rows],
        "summary": summary(counted),
        "summary_contradicted": summary([row for row in rows if "contradicted" in row.properties]),
        "by_quantity": by_quantity(counted),
        "fitted_parameters": len(CONSTANTS),
        "conflicts": [_shown(conflict, outside) for conflict in found],
        "notes": _notes(found, outside),
        "within_bounds": table is not None or within_bounds(rows),
    }


def within_bounds(rows: Sequence[Row]) -> bool:
    """Return whether rows that nothing contradicts keep the stated bounds."""
    counted = [row for row in rows if not row.properties]
    limits = [row for row in rows if "upper bound" in row.properties]
    return (
        float(np.median([row.ape for row in counted])) <= MEDIAN_BOUND
        and all(row.ape <= (ENERGY_BOUND if row.quantity == ENERGY else LARGEST_BOUND) for row in counted)
        and all(row.predicted <= row.measured + row.resolution for row in limits)
    )


def _shown(conflict: Conflict, outside: Sequence[str]) -> dict[str, Any]:
    return {
        "rows": list(conflict.rows),
        "least_error": float(np.expm1(conflict.apart)),
        "set_apart": [name for name in conflict.rows if name in outside],
    }


def _notes(found: Sequence[Conflict], outside: Sequence[str]) -> list[str]:
    """Return what people should read beside the table."""
    sentences = [
        f"conflict: no machine meets {', '.join(conflict.rows)}{' together' * (len(conflict.rows) > 1)}; one of them is off by "
        f"{np.expm1(conflict.apart):.1%} or more"
        for conflict in found
    ]
    if outside:
        sentences.append(f"predicted, but neither fitted to nor counted: {', '.join(outside)}")
    return [*sentences, f"{len(CONSTANTS)} fitted constants; upper bounds are held to, not counted"]
