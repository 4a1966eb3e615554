"""What was measured: read from a journal's lines, and condensed to medians and their spread.

A journal is a file of JSON lines. The first, the header, says on which machine and under which settings; each line after
it is a visit of one point (all samples of it), a failure, a kernel that was passed over, or the start or end of a session.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import pathlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from calibration.disturbance import disturbed_share, full_speed, undisturbed
from calibration.kernels._base import Point, Sample
from perfmodel.environment import Environment
from perfmodel.errors import SpecError

SCHEMA = "perfmodel-journal/2"
Line = dict[str, Any]

LEAST_BLOCKS = 5  # undisturbed ones that a point's time is the median of; the faster half of all where there are fewer

_TO_DEVIATION = 1.4826  # a median absolute deviation times this is the standard deviation of a normal variable
# Croux and Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale (1992), section 4: of few
# values the deviation comes out small on average, and times this it does not
_OF_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


@dataclasses.dataclass(frozen=True)
class Record:
    """All that was measured at one point, where every block does the same work but for what chance draws.

    Attributes
    ----------
    kernel : str
    point : mapping
    time : float
        Median over all undisturbed blocks [s].
    spread : float
        Relative deviation between the rounds' medians (robust); of one round, between its blocks; of one block, nan.
    counts : mapping of str to float
        Median of each count over the same blocks.
    samples : tuple of mapping
        Every undisturbed block, in the order of measuring.
    rounds : tuple of int
        Round of each sample.
    times : tuple of float
        Of every block, disturbed ones too [s].
    """

    kernel: str
    point: Point
    time: float
    spread: float
    counts: Mapping[str, float]
    samples: tuple[Sample, ...]
    rounds: tuple[int, ...]
    times: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class Measurements:
    """A journal, condensed.

    Attributes
    ----------
    environment : Environment
    samples : tuple of Record
        One per point that was measured, by kernel and then as the kernel lists its points.
    noise_floor : float
        Relative deviation (robust) of a fixed computation that was timed between all visits, where undisturbed.
    disturbed : float
        Share of the pulses that tell of a disturbed core.
    skipped : tuple of (kernel, reason)
        Kernels that this machine can't run, wholly or at some points.
    failed : tuple of (kernel, point, reason)
        Points whose last visit stopped with an error.
    seconds : float
        How long the measuring took, all sessions together [s].
    complete : bool
        Whether the measuring came to its end.
    settings : mapping
    sha256 : str
        Of the journal as read, which holds the raw data.
    """

    environment: Environment
    samples: tuple[Record, ...]
    noise_floor: float
    disturbed: float
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, Point, str], ...]
    seconds: float
    complete: bool
    settings: Mapping[str, Any]
    sha256: str


def relative_spread(values: Sequence[float]) -> float:
    """Return the standard deviation over the median, robustly from the median absolute deviation; nan of one value.

    Examples
    --------
    >>> round(relative_spread([9.0, 10.0, 11.0, 500.0]), 3)
    0.192
    """
    if len(values) < 2:
        return math.nan
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values)
    return _OF_FEW.get(len(values), len(values) / (len(values) - 0.8)) * _TO_DEVIATION * deviation / middle


def point_key(kernel: str, point: Point) -> tuple[str, str]:
    """Return what tells points apart."""
    return kernel, json.dumps(dict(point), sort_keys=True)


def split_lines(raw: bytes) -> tuple[list[Line], int]:
    """Read the lines of a journal; a last line that was torn off while being written is left out.

    Returns
    -------
    lines : list of dict
    size : int
        Bytes that the whole lines take.

    Raises
    ------
    ValueError
        A line that is no JSON object and isn't the last.
    """
    lines: list[Line] = []
    size = 0
    for text in raw.splitlines(keepends=True):
        try:
            line = json.loads(text) if text.endswith(b"\n") else None
        except ValueError:
            line = None
        if isinstance(line, dict):
            lines.append(line)
            size += len(text)
        elif size + len(text) == len(raw):
            break
        else:
            raise ValueError(f"line {len(lines) + 1} is no JSON object")
    return lines, size


def read_journal(path: pathlib.Path) -> Measurements:
    """Condense a journal, also one of a session that was interrupted.

    Raises
    ------
    SpecError
        A file that can't be read or is no journal.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SpecError(str(path), "must be a journal that can be read", error.strerror) from error
    try:
        lines, size = split_lines(raw)
        return condensed(lines, hashlib.sha256(raw[:size]).hexdigest())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SpecError(str(path), f"must be a journal of schema {SCHEMA}", str(error) or "an empty file") from error


def condensed(lines: Sequence[Line], sha256: str) -> Measurements:
    """Condense the lines of a journal."""
    header = lines[0]
    if header["schema"] != SCHEMA:
        raise ValueError(f"schema {header['schema']}")
    reference = [tick for line in lines for tick in line.get("reference", ())]
    pulses = [pulse for line in lines for pulse in (*line.get("pulses", ()), *line.get("reference_pulses", ()))]
    fast = full_speed(pulses)
    beside = [pulse for line in lines for pulse in line.get("reference_pulses", ())]
    calm = undisturbed(reference, beside, fast, LEAST_BLOCKS)
    return Measurements(
        environment=Environment.from_dict(header["environment"]),
        samples=_records(header["settings"]["kernels"], lines, fast),
        noise_floor=relative_spread([reference[place] for place in calm]),
        disturbed=disturbed_share(pulses),
        skipped=_skipped(lines),
        failed=tuple(
            (line["kernel"], MappingProxyType(line["point"]), line["reason"])
            for line in last_lines(lines).values()
            if line["line"] == "failure"
        ),
        seconds=spent(lines),
        complete=lines[-1]["line"] == "end",
        settings=MappingProxyType(header["settings"]),
        sha256=sha256,
    )


def last_lines(lines: Iterable[Line]) -> dict[tuple[str, str], Line]:
    """Return the last visit or failure of each point, by its key."""
    return {point_key(line["kernel"], line["point"]): line for line in lines if line["line"] in ("visit", "failure")}


def spent(lines: Sequence[Line]) -> float:
    """Return how long the measuring took [s]: by its own account where it ended, else by that of its visits."""
    if lines[-1]["line"] == "end":
        return float(lines[-1]["seconds"])
    return float(sum(line.get("seconds", 0.0) for line in lines))


def _skipped(lines: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """Return what the last session passed over."""
    started = max((index for index, line in enumerate(lines) if line["line"] == "start"), default=0)
    return tuple((line["kernel"], line["reason"]) for line in lines[started:] if line["line"] == "skipped")


def _records(kernels: Mapping[str, Sequence[Point]], lines: Sequence[Line], fast: float) -> tuple[Record, ...]:
    visits: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if line["line"] == "visit":
            visits.setdefault(point_key(line["kernel"], line["point"]), []).append(line)
    found = []
    for kernel, points in kernels.items():
        for point in points:
            if of_point := visits.get(point_key(kernel, point)):
                found.append(_record(kernel, point, sorted(of_point, key=lambda line: int(line["round"])), fast))
    return tuple(found)


def _record(kernel: str, point: Point, visits: Sequence[Line], fast: float) -> Record:
    warm = [visit for visit in visits if visit["warm"]]
    used = warm or visits  # a first block counts where a point is so slow that there's no other
    every = [(visit["round"], sample) for visit in used for sample in samples_of(visit)]
    pulses = [pulse for visit in used for pulse in visit["pulses"]]
    blocks = [
        every[place] for place in undisturbed([sample["time"] for _, sample in every], pulses, fast, LEAST_BLOCKS)
    ]
    by_round = itertools.groupby(blocks, key=lambda block: int(block[0]))
    medians = [statistics.median(sample["time"] for _, sample in of_round) for _, of_round in by_round]
    times = [sample["time"] for _, sample in blocks]
    return Record(
        kernel=kernel,
        point=MappingProxyType(dict(point)),
        time=statistics.median(times),
        spread=relative_spread(medians if len(medians) > 1 else times),
        counts=MappingProxyType(
            {name: statistics.median(sample[name] for _, sample in blocks) for name in blocks[0][1] if name != "time"}
        ),
        samples=tuple(sample for _, sample in blocks),
        rounds=tuple(number for number, _ in blocks),
        times=tuple(sample["time"] for _, sample in every),
    )


def samples_of(visit: Line) -> list[Sample]:
    """Return the blocks of a visit, which are written as columns; a count that never changes is written once."""
    columns = visit["samples"]
    length = len(columns["time"])
    filled = {name: column if isinstance(column, list) else [column] * length for name, column in columns.items()}
    return [MappingProxyType({name: column[index] for name, column in filled.items()}) for index in range(length)]


def as_columns(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the columns of a visit's blocks.

    Examples
    --------
    >>> as_columns([{"time": 1.0, "rows": 8.0}, {"time": 2.0, "rows": 8.0}])
    {'time': [1.0, 2.0], 'rows': 8.0}
    """
    columns: dict[str, Any] = {name: [float(sample[name]) for sample in samples] for name in samples[0]}
    for name, column in columns.items():
        if name != "time" and len(set(column)) == 1:
            columns[name] = column[0]
    return columns
