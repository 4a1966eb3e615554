"""LGNNIC's Table 5: transfer and execution times per mini-batch, by dataset, mechanism, fanout and precision.

Gerstman, Dhakal, Milojicic, Mendelson, arXiv 2608.07733. How the table is read:

- times are per mini-batch of 1,024 seeds, though the text says "sum over all mini-batches": per epoch the DMA times would
  be above what PCIe carries;
- the transfer is everything from the sampled tensors on the SmartNIC to tensors of full precision on the host, so it
  includes quantization at both ends;
- execution is the sum of sampling, transfer and training, one after the other;
- in ogbn-mag's socket rows execution holds the transfer twice (``TRANSFER_COUNTED_TWICE``).
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration.fit import Constant, Fit, fit
from calibration.published.lgnnic_constants import CONSTANTS, CPU_SPEEDUP
from calibration.published.ogbn_mag import SPREADS
from calibration.validation import Row, by_quantity, summary
from perfmodel.errors import SpecError, nearest
from perfmodel.estimate import interval_of
from perfmodel.model.bound import Bound, bind
from perfmodel.model.families.sampled_training import SampledTraining
from perfmodel.spec.catalog import names, read_bytes
from perfmodel.spec.scenario import Scenario, load_scenario

Array = NDArray[np.float64]

TABLE = pathlib.Path(__file__).parent / "data" / "lgnnic_table5.csv"
TEXT = pathlib.Path(__file__).parent / "data" / "lgnnic_text.csv"
HEADER = ("dataset", "mechanism", "fanout", "precision", "transfer_s", "execution_s")
QUANTITIES = ("transfer", "execution")
#: The experiment's own accounting, not physics: execution = 2 x transfer + the rest, in all of these rows.
TRANSFER_COUNTED_TWICE = ("ogbn-mag", "sockets")
#: Scatter of a measurement of this kind before anything is known [log]; the fit's own scatter replaces it afterwards.
PRIOR_SCATTER = 0.08
#: The paper prints two digits after the point, three in one row; the table's file drops zeros at the end.
PRINTED_DIGITS = 2
NORMAL_REACH = 1.6449  # of a 90 % interval, in standard deviations
MEDIAN_BOUND, MEAN_BOUND, COVERAGE_BOUNDS = 0.07, 0.10, (0.80, 0.98)


class Published(NamedTuple):
    """One row of the table; ``resolution`` is half a unit of the last printed digit [s]."""

    dataset: str
    mechanism: str
    fanout: tuple[int, ...]
    precision: str
    measured: tuple[float, float]
    resolution: tuple[float, float]

    @property
    def counted_twice(self) -> bool:
        """Return whether execution holds the transfer twice."""
        return (self.dataset, self.mechanism) == TRANSFER_COUNTED_TWICE

    def scenario(self, profile: Mapping[str, Any] | str | None = None) -> Scenario:
        """Return the row as a scenario."""
        changes = {
            "workload.sampling.fanout": ",".join(map(str, self.fanout)),
            "plan.precision.features": self.precision,
        }
        return load_scenario(self.dataset, f"lgnnic-{self.mechanism}", "default", profile, changes)


def read_table(path: str | None = None) -> list[Published]:
    """Read the shipped table, or another with its header.

    Raises
    ------
    SpecError
        Missing file, other header, unknown dataset or mechanism, times that aren't positive numbers.
    """
    source = TABLE if path is None else pathlib.Path(path)
    try:
        text = read_bytes(source).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(str(source), "must be a CSV file", "binary data") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        header = tuple(cell.strip() for cell in next(lines, []))
    except csv.Error:
        header = ()
    if header != HEADER:
        raise SpecError(str(source), f"must have the header {','.join(HEADER)}", ",".join(header) or "an empty file")
    try:
        rows = [_parsed(cells, f"{source}: line {lines.line_num}") for cells in lines if any(map(str.strip, cells))]
    except csv.Error as error:
        raise SpecError(f"{source}: line {lines.line_num}", "must be a line of CSV", error) from None
    if not rows:
        raise SpecError(str(source), "must have at least one row", "a header alone")
    return rows


def _parsed(cells: list[str], where: str) -> Published:
    if len(cells) != len(HEADER):
        raise SpecError(where, f"must have {len(HEADER)} columns", f"{len(cells)}")
    dataset, mechanism, fanout, precision, *times = (cell.strip() for cell in cells)
    for value, choices in (
        (dataset, names("workloads")),
        (mechanism, [name.removeprefix("lgnnic-") for name in names("systems") if name.startswith("lgnnic-")]),
        (precision, ["fp32", "fp16", "bf16", "fp8", "int8", "int4"]),
    ):
        if value not in choices:
            raise SpecError(where, f"must be one of {', '.join(choices)}", repr(value), nearest(value, choices))
    try:
        hops = tuple(int(part) for part in fanout.replace(",", " ").split())
    except ValueError:
        raise SpecError(where, "must have a fanout such as 25 10", repr(fanout), "25 10") from None
    measured = tuple(_positive(time, where) for time in times)
    resolution = tuple(0.5 * 10.0 ** -max(len(time.partition(".")[2]), PRINTED_DIGITS) for time in times)
    return Published(dataset, mechanism, hops, precision, (measured[0], measured[1]), (resolution[0], resolution[1]))


def _positive(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise SpecError(where, "must have times in seconds", repr(text)) from None
    if not 0 < value < float("inf"):
        raise SpecError(where, "must have times above 0 s", repr(text))
    return value


class TableModel:
    """The rows' predictions as a function of the constants."""

    def __init__(self, rows: Sequence[Published], constants: Sequence[Constant]) -> None:
        self.rows = rows
        profile = profile_table(constants, [constant.start for constant in constants])
        self.scenarios = [row.scenario(profile) for row in rows]
        self.rebound = functools.lru_cache(maxsize=20000)(self._rebound)

    def _rebound(self, row: int, graph_values: tuple[tuple[str, float], ...]) -> Bound:
        scenario = self.scenarios[row]
        return bind(scenario.replace(dict(graph_values))) if graph_values else bind(scenario)

    def __call__(self, values: Array) -> Array:
        """Return transfer times, then execution times [s]."""
        predicted = [self._row(row, values) for row in range(len(self.rows))]
        return np.array([times[0] for times in predicted] + [times[1] for times in predicted])

    def _row(self, row: int, values: Array) -> tuple[float, float]:
        free = [p for p in self.scenarios[row].uncertain if p.index < values.size]
        keys = {key: float(values[p.index]) for p in free for key in p.keys}
        of_graph = {key: value for key, value in keys.items() if key.startswith("workload.")}
        bound = self.rebound(row, tuple(sorted(of_graph.items())))
        outcome = bound.run({key: value for key, value in keys.items() if key not in of_graph})
        transfer, execution = table_times(outcome.phases, self.rows[row].counted_twice)
        return float(transfer), float(execution)


def table_times(phases: Mapping[str, Any], counted_twice: bool) -> tuple[Any, Any]:
    """Return a row's transfer and execution times as the table counts them."""
    transfer = sum(time for name, time in phases.items() if name in SampledTraining.transfer_steps)
    rest = sum(time for name, time in phases.items() if name not in SampledTraining.transfer_steps)
    return transfer, transfer * (2.0 if counted_twice else 1.0) + rest


def measurements(rows: Sequence[Published], scatter: float) -> tuple[Array, Array]:
    """Return measured times, transfer then execution, and the standard deviation of their logs."""
    measured = np.array([row.measured[0] for row in rows] + [row.measured[1] for row in rows])
    half = np.array([row.resolution[0] for row in rows] + [row.resolution[1] for row in rows])
    return measured, np.sqrt(scatter**2 + (half / np.sqrt(3.0) / measured) ** 2)


def fitted(rows: Sequence[Published], constants: Sequence[Constant] = CONSTANTS) -> Fit:
    """Fit the constants to some rows of the table."""
    model = TableModel(rows, constants)
    measured, error = measurements(rows, PRIOR_SCATTER)
    return fit(model, measured, error, constants)


def residual_spreads(rows: Sequence[Published], found: Fit) -> dict[str, float]:
    """Return what the fit left over [log], beyond print resolution: of transfer times, and of the rest of execution.

    The rest is not printed; its scatter is read off the rows whose execution is mostly rest.
    """
    count = len(rows)
    measured, _ = measurements(rows, 0.0)
    half = np.array([row.resolution[0] for row in rows] + [row.resolution[1] for row in rows])
    excess = found.residuals**2 - (half / np.sqrt(3.0) / measured) ** 2
    inflation = found.residuals.size / max(found.residuals.size - found.values.size, 1)
    share = measured[:count] * [2.0 if row.counted_twice else 1.0 for row in rows] / measured[count:]
    mostly_rest = excess[count:][share < 0.5]
    return {
        "transfer": float(np.sqrt(max(inflation * excess[:count].mean(), 1e-6))),
        "rest": float(np.sqrt(max(inflation * mostly_rest.mean(), 1e-6))) if mostly_rest.size else 0.1,
    }


def profile_table(constants: Sequence[Constant], values: Sequence[float]) -> dict[str, Any]:
    """Return constants that are still being fitted as a profile."""
    return {
        "name": "lgnnic",
        "parameters": [
            _parameter(constant, constant.entry, float(value), (float(value), float(value)), True)
            for constant, value in zip(constants, values, strict=True)
        ],
        "covariance": np.zeros((len(constants), len(constants))).tolist(),
    }


def _parameter(
    constant: Constant, entry: str, value: float, interval: tuple[float, float], is_fitted: bool
) -> dict[str, Any]:
    meaning = constant.meaning if is_fitted else f"{constant.meaning}; from the SmartNIC's by LGNNIC section 5.3.1"
    return {
        "entry": entry,
        "fields": list(constant.fields),
        "value": _rounded(value),
        "unit": constant.unit,
        "interval": [_rounded(bound) for bound in interval],
        "bounds": list(constant.bounds),
        "meaning": meaning,
        "fitted": is_fitted,
    }


def fitted_profile(rows: Sequence[Published], constants: Sequence[Constant] = CONSTANTS) -> dict[str, Any]:
    """Fit the constants to some rows and return the whole profile, the compute node's rates with it.

    LGNNIC times sampling on the SmartNIC only; on its host it was 2 to 10 times faster (section 5.3.1), which gives the
    host's rates their value (the geometric middle) and their spread.
    """
    found = fitted(rows, constants)
    size = len(constants)
    low, high = CPU_SPEEDUP
    ratio, spread = float(np.sqrt(low * high)), float(np.log(high / low) / (2 * NORMAL_REACH))
    followers = [index for index, constant in enumerate(constants) if constant.fields[0].startswith("sampling.time")]
    source = [*range(size), *followers]
    joint = found.covariance[np.ix_(source, source)]
    joint[size:, size:] += spread**2
    parameters = [
        _parameter(constant, constant.entry, float(value), bounds, True)
        for constant, value, bounds in zip(constants, found.values, found.intervals(), strict=True)
    ]
    for position, index in enumerate(followers, start=size):
        reach = float(np.exp(NORMAL_REACH * np.sqrt(joint[position, position])))
        value = float(found.values[index]) / ratio
        parameters.append(
            _parameter(constants[index], "devices/epyc-7513", value, (value / reach, value * reach), False)
        )
    return {
        "name": "lgnnic",
        "title": "Fitted to LGNNIC's Table 5",
        "parameters": parameters,
        "covariance": [[_rounded(value) for value in row] for row in joint],
        "residual": {name: _rounded(value) for name, value in residual_spreads(rows, found).items()},
    }


def _rounded(value: float) -> float:
    """Keep six digits: what is below them differs between machines."""
    return float(f"{value:.6g}")


def compared(rows: Sequence[Published], profile: Mapping[str, Any] | str | None = None) -> list[Row]:
    """Return every row's quantities, predicted against measured."""
    return [row for published in rows for row in _compared(published, profile)]


def _compared(published: Published, profile: Mapping[str, Any] | str | None) -> list[Row]:
    scenario = published.scenario(profile)
    twice = published.counted_twice

    def times(phases: Mapping[str, Any]) -> Array:
        return np.array(np.broadcast_arrays(*table_times(phases, twice)))

    points, intervals = interval_of(scenario, times)
    inputs = {
        "dataset": published.dataset,
        "mechanism": published.mechanism,
        "fanout": " ".join(map(str, published.fanout)),
        "precision": published.precision,
    }
    properties = ("transfer-counted-twice",) if twice else ()
    return [
        Row(
            inputs,
            quantity,
            published.measured[k],
            float(points[k]),
            intervals[k],
            published.resolution[k],
            properties if quantity == "execution" else (),
        )
        for k, quantity in enumerate(QUANTITIES)
    ]


def validate(table: str | None = None, profile: str | None = None) -> dict[str, Any]:
    """Hold the model against the shipped table, or against rows of one's own; returns the JSON document."""
    path = TABLE if table is None else pathlib.Path(table)
    published = read_table(table)
    rows = compared(published, profile)
    quantities = by_quantity(rows)
    scenarios = [row.scenario(profile) for row in published]
    constants = {
        (p.entry, p.fields) for one in scenarios for q in one.profiles.values() for p in q.parameters if p.fitted
    }
    files = {name: digest for scenario in scenarios for name, digest in scenario.inputs.items()}
    count, unfitted = len(constants) + len(SPREADS), preprocessing(profile)
    return {
        "suite": "lgnnic",
        "title": "times in seconds",
        "inputs": {path.name: hashlib.sha256(path.read_bytes()).hexdigest(), **dict(sorted(files.items()))},
        "columns": list(HEADER[:4]),
        "rows": [row.to_dict() for row in rows],
        "summary": summary(rows),
        "by_quantity": quantities,
        "fitted_parameters": count,
        "unfitted": unfitted,
        "notes": _notes(unfitted, count),
        "conflicts": [],
        "within_bounds": table is not None or _within_bounds(quantities, summary(rows)),
    }


def _notes(unfitted: Sequence[Mapping[str, Any]], constants: int) -> list[str]:
    """Return what people should read beside the table."""
    seen = [
        f"not fitted: {row['quantity']} of {row['dataset']} {row['fanout']}: {row['predicted']:.3g} s against about "
        f"{row['measured']:g} s"
        for row in unfitted
    ]
    return [
        *seen,
        f"{constants} fitted constants, to the shipped rows and to one printed mini-batch of ogbn-mag",
        "errors on rows left out of the fit: studies/lgnnic_leave_one_out",
    ]


def preprocessing(profile: str | None = None) -> list[dict[str, Any]]:
    """Hold the sampling phase against the approximate times of LGNNIC's text, which no fit has seen."""
    with TEXT.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["quantity"] == "preprocessing time"]
    found = []
    for row in rows:
        changes = {"workload.sampling.fanout": row["fanout"].replace(" ", ",")}
        scenario = load_scenario(row["dataset"], "lgnnic-doca-dma", "default", profile, changes)
        predicted = float(bind(scenario).run({}).phases["sampling"])
        measured = float(row["value"])
        found.append(
            {
                "dataset": row["dataset"],
                "fanout": row["fanout"],
                "quantity": "sampling",
                "measured": measured,
                "predicted": predicted,
                "ape": abs(predicted / measured - 1.0),
            }
        )
    return found


def _within_bounds(quantities: Mapping[str, Mapping[str, Any]], total: Mapping[str, Any]) -> bool:
    low, high = COVERAGE_BOUNDS
    errors = all(
        found["median_ape"] <= MEDIAN_BOUND and found["mean_ape"] <= MEAN_BOUND for found in quantities.values()
    )
    return errors and low <= float(total["coverage_90"]) <= high
