"""Buddy's published numbers: ratios between applications, systems and settings, read off a review of the paper.

Hu, Peng, Wahlgren, Gokhale, Pearce, arXiv 2605.04842. How they are read:

- the ratios of memory traffic to communication are inputs, the range of nodes is a setting: neither tests the model, and
  neither is counted;
- 1.55x is the largest speedup of the two host-dominated applications, 625x the largest increase of what a routing agent
  loads from DRAM, over all applications;
- gains of buffers and threads are times at one over the least time;
- the review names neither of the two applications that buffers help: the first is taken to gain less;
- only the directions of the other speedups are known: host-dominated applications gain, and those that communicate more than
  they use memory are not among those that do.

Nothing absolute is published. Ratios that the memory of the DPU enters pin all rates to its data sheet.
"""

from __future__ import annotations

import csv
import hashlib
import io
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calibration.fit import Constant, Fit, fit
from calibration.published.buddy_constants import CONSTANTS, HOST, SLOWER_CORE, SLOWER_CORE_RANGE, followers
from calibration.published.buddy_model import APPLICATIONS, Buddy, Case
from calibration.published.buddy_quantities import INPUTS, SETTING_KINDS, Asked, answer, quantity_of, speedup
from calibration.validation import Row, by_quantity, summary
from perfmodel.errors import SpecError, UnitError
from perfmodel.spec.catalog import read_bytes
from perfmodel.uncertainty import interval
from perfmodel.units import parse

Array = NDArray[np.float64]

TABLE: Final = pathlib.Path(__file__).parent / "data" / "buddy_published.csv"
HEADER: Final = ("id", "quantity", "application", "scenario", "value", "unit", "kind", "where")
#: Rows of the shipped table that the constants are fitted to; the rest tests.
FITTED: Final = ("speedup-max", "dram-traffic-no-dca", "buffers-gain-a", "buffers-gain-b", "threads-gain-histogram")
#: The row of the threads' gain says at how many, in its quantity: "7 or 8".
HISTOGRAM_THREADS: Final = 7.5
#: Whether an application gains from the DPU, where the text says so.
DIRECTIONS: Final[Mapping[str, bool]] = {
    "quicksilver": True, "sparse-transpose": True, "sssp": False, "triangle-counting": False,
}  # fmt: skip
BOUND: Final = 0.15
SCATTER: Final = 0.05  # of a published ratio [log], before anything is known
NORMAL_REACH: Final = 1.6449  # of a 90 % interval, in standard deviations
_COUNTS: Final = ("x", "ratio", "threads", "buffers", "nodes", "")


class Published(NamedTuple):
    """One row of the table."""

    id: str
    quantity: str
    application: str
    scenario: str
    value: float
    unit: str
    kind: str
    where: str
    resolution: float

    @property
    def setting(self) -> bool:
        """Return whether the row is a setting of the experiment."""
        return any(kind in self.kind.casefold() for kind in SETTING_KINDS)


def read_table(path: str | None = None) -> list[Published]:
    """Read the shipped table, or another with its header.

    Raises
    ------
    SpecError
        Missing file, other header, values that aren't positive numbers, unknown units.
    """
    source = TABLE if path is None else pathlib.Path(path)
    try:
        text = read_bytes(source).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(str(source), "must be a CSV file", "binary data") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        header = tuple(cell.strip() for cell in next(lines, []))
        if header != HEADER:
            got = ",".join(header) or "an empty file"
            raise SpecError(str(source), f"must have the header {','.join(HEADER)}", got)
        rows = [_parsed(cells, f"{source}: line {lines.line_num}") for cells in lines if any(map(str.strip, cells))]
    except csv.Error as error:
        raise SpecError(f"{source}: line {lines.line_num}", "must be a line of CSV", error) from None
    if not rows:
        raise SpecError(str(source), "must have at least one row", "a header alone")
    return rows


def _parsed(cells: list[str], where: str) -> Published:
    if len(cells) != len(HEADER):
        raise SpecError(where, f"must have {len(HEADER)} columns", f"{len(cells)}")
    name, quantity, application, scenario, number, unit, kind, place = (cell.strip() for cell in cells)
    factor = _factor(unit, where)
    try:
        value = float(number)
    except ValueError:
        raise SpecError(where, "must have a value that is a number", repr(number)) from None
    if not 0 < value < float("inf"):
        raise SpecError(where, "must have a value above 0", repr(number))
    resolution = 0.5 * 10.0 ** -len(number.partition(".")[2])
    return Published(name, quantity, application, scenario, value * factor, unit, kind, place, resolution * factor)


def _factor(unit: str, where: str) -> float:
    """Return what a value is multiplied by: counts and ratios stay, percent and bytes become SI."""
    if unit in _COUNTS:
        return 1.0
    for known in ("", "B"):
        try:
            return parse(f"1 {unit}", known)
        except UnitError:
            continue
    raise SpecError(where, f"must have a unit such as {', '.join(_COUNTS[:4])}, % or B", repr(unit))


def profile_table(
    constants: Sequence[Constant], values: Sequence[float], slower_core: float = SLOWER_CORE
) -> dict[str, Any]:
    """Return constants, and the host's rates that follow from them, as a profile without uncertainty."""
    parameters = [
        _parameter(constant, constant.entry, float(value), (float(value), float(value)), True)
        for constant, value in zip(constants, values, strict=True)
    ]
    parameters += [
        _parameter(constants[index], HOST, float(values[index]) / ratio, (0.0, 0.0), False)
        for index, ratio in followers(slower_core)
    ]
    size = len(parameters)
    return {"name": "buddy", "parameters": parameters, "covariance": np.zeros((size, size)).tolist()}


def _parameter(
    constant: Constant, entry: str, value: float, bounds: tuple[float, float], is_fitted: bool
) -> dict[str, Any]:
    of_agent = f"{constant.meaning}; the DPU's" + ("" if constant.unit == "" else f" over {SLOWER_CORE}")
    return {
        "entry": entry,
        "fields": list(constant.fields),
        "value": _rounded(value),
        "unit": constant.unit,
        "interval": [_rounded(bound) for bound in bounds],
        "bounds": list(constant.bounds),
        "meaning": constant.meaning if is_fitted else of_agent,
        "fitted": is_fitted,
    }


def _rounded(value: float) -> float:
    """Keep six digits: what is below them differs between machines."""
    return float(f"{value:.6g}")


def with_followers(values: Array, slower_core: float = SLOWER_CORE) -> Array:
    """Return constants, and the host's that follow from them."""
    return np.concatenate([values, [values[index] / ratio for index, ratio in followers(slower_core)]])


def fitted(
    rows: Sequence[Published],
    constants: Sequence[Constant] = CONSTANTS,
    threads: float = HISTOGRAM_THREADS,
    slower_core: float = SLOWER_CORE,
    changes: Callable[[Case], Mapping[str, Any]] | None = None,
) -> Fit:
    """Fit the constants to the rows of ``FITTED`` and to the number of threads that histogram's gain ends at.

    Parameters
    ----------
    rows, constants : sequences
    threads : float
        Where histogram's gain ends.
    slower_core : float
        How many times as long a core of the DPU takes as one of the host.
    changes : callable of Case, optional
        What is assumed in place of the catalog's numbers.
    """
    own = [row for row in rows if row.id in FITTED]
    start = Buddy(profile_table(constants, [constant.start for constant in constants]), changes=changes)

    def predicted(values: Array) -> Array:
        buddy = start.at(with_followers(values, slower_core))
        found = [answer(buddy, quantity_of(row.quantity, row.unit, row.id), row, row.id)[0] for row in own]
        return np.array([*found, saturating_threads(buddy, "histogram")])

    measured = np.array([*(row.value for row in own), threads])
    return fit(predicted, measured, np.full(measured.size, SCATTER), constants)


def saturating_threads(buddy: Buddy, application: str) -> float:
    """Return at how many threads routing stops being the slowest, of which whole ones are the next.

    One thread takes ``g`` times as long as the slowest of the rest, so that ``S(T) = g``, which the Universal Scalability Law
    without contention solves to ``T = g (1 - s)/(1 - g s)``.
    """
    case = Case(application, "dpu")
    outcome = buddy.outcome(case, "plan.threads", [1.0])
    stages: dict[str, Any] = {}
    for name, time in outcome.phases.items():
        stages[outcome.stages[name]] = stages.get(outcome.stages[name], 0.0) + float(np.ravel(time)[0])
    gain = stages.pop("agent") / max(stages.values())
    serial = buddy.value(case, "system.agent.routing.serial_share")
    return float(gain * (1 - serial) / max(1 - gain * serial, 1e-6))


def fitted_profile(rows: Sequence[Published], constants: Sequence[Constant] = CONSTANTS) -> dict[str, Any]:
    """Fit the constants and return the whole profile, the host's routing rates with it."""
    found = fitted(rows, constants)
    low, high = SLOWER_CORE_RANGE
    source = [*range(len(constants)), *(index for index, _ in followers(SLOWER_CORE))]
    joint = found.covariance[np.ix_(source, source)]
    spread = float(np.log(high / low) / (2 * NORMAL_REACH))
    slower = np.array([0.0] * len(constants) + [spread * (ratio != 1.0) for _, ratio in followers(SLOWER_CORE)])
    joint = joint + np.outer(slower, slower)  # one ratio of cores for all rates
    values = with_followers(found.values)
    degrees = max(found.residuals.size - found.values.size, 1)
    reach = np.exp(float(stats.t.ppf(0.95, degrees)) * np.sqrt(np.diag(joint)))
    limits = [constants[index].bounds for index in source]
    bounds = [
        (max(value / r, low), min(value * r, high)) for value, r, (low, high) in zip(values, reach, limits, strict=True)
    ]
    entries = [(constant, constant.entry, True) for constant in constants]
    entries += [(constants[index], HOST, False) for index, _ in followers(SLOWER_CORE)]
    return {
        "name": "buddy",
        "title": "Fitted to Buddy's published ratios",
        "parameters": [
            _parameter(constant, entry, float(value), bound, is_fitted)
            for (constant, entry, is_fitted), value, bound in zip(entries, values, bounds, strict=True)
        ],
        "covariance": [[_rounded(value) for value in row] for row in joint],
        "residual": {"rest": _rounded(float(np.sqrt((found.residuals**2).sum() / degrees)))},
    }


def compared(rows: Sequence[Published], profile: str | None = None) -> list[Row]:
    """Return every row that isn't a setting, predicted against published."""
    buddy = Buddy(profile)
    return [_compared(buddy, row) for row in rows if not row.setting]


def _compared(buddy: Buddy, row: Published) -> Row:
    where = f"row {row.id or row.quantity}"
    quantity = quantity_of(row.quantity, row.unit, where)
    found = answer(buddy, quantity, row, where)
    bounds = interval(found[1:]) if found.size > 1 else (float(found[0]), float(found[0]))
    inputs = {
        "id": row.id,
        "application": row.application,
        "scenario": row.scenario,
        "unit": row.unit,
        "kind": row.kind,
    }
    properties = ("input",) if quantity.answer in INPUTS else ("fitted",) if row.id in FITTED else ()
    return Row(inputs, row.quantity, row.value, float(found[0]), bounds, row.resolution, properties)


def directions(profile: str | None = None) -> list[dict[str, Any]]:
    """Return each application's speedup on the DPU beside what the text says of it: gains, doesn't, or nothing."""
    buddy, found = Buddy(profile), []
    for application in APPLICATIONS:
        draws = speedup(Asked(buddy, Case(application, "dpu"), ""))
        expected = DIRECTIONS.get(application)
        gains = bool(draws[0] > 1.0)
        found.append(
            {
                "application": application,
                "speedup": float(draws[0]),
                "interval": list(interval(draws[1:])),
                "gains": gains,
                "published": expected,
                "holds": expected is None or gains == expected,
            }
        )
    return found


def validate(table: str | None = None, profile: str | None = None) -> dict[str, Any]:
    """Hold the model against the shipped table, or against rows of one's own; returns the JSON document."""
    path = TABLE if table is None else pathlib.Path(table)
    published = read_table(table)
    rows = compared(published, profile)
    counted = [row for row in rows if "input" not in row.properties]
    found = directions(profile)
    buddy = Buddy(profile)
    scenarios = [buddy.scenario(Case(name, system)) for name in APPLICATIONS for system in ("none", "x86", "dpu")]
    files = {name: digest for scenario in scenarios for name, digest in scenario.inputs.items()}
    within = all(row.ape <= BOUND for row in counted) and all(direction["holds"] for direction in found)
    return {
        "suite": "buddy",
        "title": "ratios and counts",
        "inputs": {path.name: hashlib.sha256(path.read_bytes()).hexdigest(), **dict(sorted(files.items()))},
        "columns": ["id", "application", "scenario"],
        "rows": [row.to_dict() for row in rows],
        "summary": summary(counted),
        "by_quantity": by_quantity(counted),
        "settings": [row.id for row in published if row.setting],
        "directions": found,
        "fitted_parameters": sum(p.fitted for p in scenarios[-1].profiles["buddy"].parameters)
        if profile is None
        else len(CONSTANTS),
        "notes": _notes(found),
        "conflicts": [],
        "within_bounds": table is not None or within,
    }


def _notes(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what people should read beside the table."""
    words = {True: "gains", False: "does not gain", None: "not published"}
    sentences = [
        f"direction on the DPU: {row['application']} {row['speedup']:.3g}x ({row['interval'][0]:.2f} to "
        f"{row['interval'][1]:.2f}), published: {words[row['published']]}{'' if row['holds'] else ', MISSED'}"
        for row in found
    ]
    return [
        *sentences,
        f"{len(CONSTANTS)} fitted constants; fitted to: {', '.join(FITTED)} and 7.5 threads; inputs are not counted",
        "left to test: the ratio of the two gains of buffers, the threads at triangle counting's peak, the directions",
    ]
