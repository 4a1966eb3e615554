"""Thousands of jobs to their times: a DataFrame in, one out; rows are grouped by scenario, bad ones are kept apart."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

import perfmodel
from perfmodel.errors import PerfmodelError, SpecError, UnknownKey, nearest, shown
from perfmodel.evaluation import run_in_blocks
from perfmodel.frame_columns import Column, Rows, combined
from perfmodel.model.bound import Outcome, bind, number_keys
from perfmodel.model.compile import model_hash
from perfmodel.spec.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    import pandas

SCHEMA: Final = 1
#: Columns that name entries of the catalog or files; the others hold values of dotted keys.
REFERENCES: Final = ("workload", "system", "plan", "profile")
_NEEDED: Final = REFERENCES[:2]
_PREFIXES: Final = ("workload.", "system.", "plan.")
#: Units of the result's columns; those with a dot at the end stand for all below them.
UNITS: Final[Mapping[str, str]] = {
    "time_s": "s", "epoch_time_s": "s", "energy_j": "J", "bytes.total": "B", "phases.": "s", "feasible": "", "bottleneck": "",
}  # fmt: skip


def evaluate_frame(jobs: pandas.DataFrame, keep: Sequence[str] = ()) -> pandas.DataFrame:
    """Evaluate many jobs at once, each on a system of its own.

    Parameters
    ----------
    jobs : pandas.DataFrame
        A row a job. Columns ``workload`` and ``system``, where wanted ``plan`` and ``profile`` (catalog names or TOML
        files), and any dotted key that ``evaluate`` takes: numbers in SI, or text with a unit. A cell without a value
        (NaN, None) means the scenario's own; what a row names (``system.link``) comes before numbers within it.
    keep : sequence of str
        Other columns, copied to the result as they are.

    Returns
    -------
    pandas.DataFrame
        With the index of ``jobs``: ``time_s`` and ``epoch_time_s`` [s], ``energy_j`` [J] (NaN where not known),
        ``phases.NAME`` [s] (0 where a plan has no such phase), ``bytes.total`` [B], ``bottleneck`` (the longest phase)
        and ``feasible``. Its ``attrs`` are plain values: ``schema``, ``perfmodel``, ``model``, ``inputs`` (files read,
        with their sha256), ``units`` (by column) and ``bad_rows``. A row that breaks a rule has no results, and stands
        in ``bad_rows`` with its position ``row`` from 0 on, ``where``, ``rule``, ``got`` and ``nearest``.

    Raises
    ------
    SpecError
        Where the frame as a whole can't be evaluated: no column ``workload`` or ``system``, unknown columns.

    Examples
    --------
    >>> import pandas
    >>> import perfmodel as pm
    >>> jobs = pandas.DataFrame({
    ...     "workload": ["reddit", "reddit", "redit"], "system": "lgnnic-doca-dma",
    ...     "plan.transfer.chunk": ["1 MiB", None, 4096],
    ... })
    >>> found = pm.evaluate_frame(jobs)
    >>> found["time_s"].round(3).tolist(), found["bottleneck"].tolist()[0], found.attrs["units"]["time_s"]
    ([0.666, 0.666, nan], 'transfer', 's')
    >>> [(bad["row"], bad["where"], bad["nearest"]) for bad in found.attrs["bad_rows"]]
    [(2, 'workload', 'reddit')]
    """
    _check(jobs, keep)
    names = [name for name in jobs.columns if name not in keep]
    columns = {name: Column(name, jobs[name]) for name in names}
    run = _Run(len(jobs), columns)
    run.every(np.arange(len(jobs)))
    return run.frame(jobs, keep)


def _check(jobs: Any, keep: Sequence[str]) -> None:
    """Raise where the frame as a whole can't be evaluated."""
    import pandas

    if not isinstance(jobs, pandas.DataFrame):
        raise SpecError("jobs", "must be a pandas DataFrame", shown(jobs))
    if isinstance(keep, str):
        raise SpecError("keep", "must be a list of columns", shown(keep), f"[{shown(keep)}]")
    names = list(jobs.columns)
    for name in keep:
        if name not in names:
            raise SpecError("keep", "must be columns of the frame", shown(name), nearest(str(name), map(str, names)))
        if name in UNITS or str(name).startswith("phases."):
            raise SpecError("keep", "must not be called like a result", shown(name))
    for name in _NEEDED:
        if name not in names or name in keep:
            raise SpecError(f"column {name}", "must be given", "no such column", f"{name} = a catalog name or a file")
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"column {shown(name)}", "must be there once", f"{names.count(name)} columns of that name")
        dotted = isinstance(name, str) and name.startswith(_PREFIXES)
        if not dotted and name not in REFERENCES and name not in keep:
            rule = "must be workload, system, plan, profile, a dotted key such as plan.transfer.chunk, or in keep"
            raise SpecError(f"column {shown(name)}", rule, shown(name), _near(str(name)))


def _near(name: str) -> str:
    found = nearest(name, [*REFERENCES, *_PREFIXES])
    return found if found is not None and "|" not in found else f"keep=[{shown(name)}]"


class _Run:
    """The rows of one frame on their way to results."""

    def __init__(self, size: int, columns: Mapping[str, Column]) -> None:
        self._size, self._columns = size, columns
        self._errors: dict[int, SpecError] = {}
        self._results: dict[str, NDArray[Any]] = {
            name: np.full(size, np.nan) for name in ("time_s", "epoch_time_s", "energy_j", "bytes.total")
        }
        self._feasible = np.zeros(size, dtype=bool)
        self._phases: dict[str, NDArray[np.float64]] = {}
        self._longest = np.full(size, -1, dtype=np.int64)
        self._inputs: dict[str, str] = {}

    def every(self, rows: Rows) -> None:
        """Evaluate rows, those of the same workload, system, plan and profile together."""
        references = [name for name in REFERENCES if name in self._columns]
        keys = [name for name in self._columns if name not in REFERENCES]
        for name in _NEEDED:
            lacking = rows[~self._columns[name].given(rows)]
            self._refuse(lacking, SpecError(name, "must be given", "nothing"))
            rows = np.setdiff1d(rows, lacking, assume_unique=True)
        if not len(rows):
            return
        for group in combined([self._columns[name].codes(rows) for name in references]):
            alike = rows[group]
            given = {name: self._columns[name] for name in references if self._columns[name].given(alike[:1])[0]}
            entries = {name: column.value(int(alike[0])) for name, column in given.items()}
            scenario = self._tried(alike, functools.partial(load_scenario, **entries))
            if scenario is not None:
                self._inputs |= scenario.inputs
                self._settle(scenario, alike, keys, frozenset())

    def _settle(self, scenario: Scenario, rows: Rows, keys: Sequence[str], filled: frozenset[str]) -> None:
        """Evaluate rows of one scenario: first what changes its structure, value by value, then numbers as arrays.

        A number that the scenario leaves out is filled in with some row's value, and is an array from then on; ``filled``
        are those for which that was done.
        """
        has, lacks = number_keys(scenario)
        keys = [key for key in keys if self._columns[key].given(rows).any()]
        others = [key for key in keys if key not in has]
        if not others:
            self._evaluate(scenario, rows, keys)
            return
        within_others = {key for key in others if any(key.startswith(f"{other}.") for other in others)}
        others = [key for key in others if key not in within_others]  # a link's number waits for the link's name
        numbers = [key for key in others if key in lacks and key not in filled]
        for key in numbers:
            rows = self._without(rows, self._columns[key].numbers(rows, lacks[key])[1])
        for key in others:
            rows = rows if key in numbers else self._known(scenario, rows, key)
        if not len(rows):
            return
        codes = [
            self._columns[key].given(rows).astype(np.int64) if key in numbers else self._columns[key].codes(rows)
            for key in others
        ]
        left = [key for key in keys if key not in others or key in numbers]
        for group in combined(codes):
            alike = rows[group]
            changes = {
                key: self._columns[key].value(int(alike[0])) for key in others if self._columns[key].given(alike[:1])[0]
            }
            changed = self._tried(alike, functools.partial(scenario.replace, changes)) if changes else scenario
            if changed is not None:
                self._inputs |= changed.inputs
                self._settle(changed, alike, left, filled | set(numbers))

    def _known(self, scenario: Scenario, rows: Rows, key: str) -> Rows:
        """Return the rows without those that set a key which this scenario can't have, told from the first of them."""
        given = self._columns[key].given(rows)
        if given.any():
            try:
                scenario.replace({key: self._columns[key].value(int(rows[given][0]))})
            except UnknownKey as error:
                self._refuse(rows[given], error)
                return rows[~given]
            except PerfmodelError:  # of this value, or of this key without the others
                pass
        return rows

    def _evaluate(self, scenario: Scenario, rows: Rows, keys: Sequence[str]) -> None:
        """Evaluate rows that differ in numbers alone."""
        bound = self._tried(rows, lambda: bind(scenario))
        if bound is None:
            return
        found: dict[str, NDArray[np.float64]] = {}
        kept = np.ones(len(rows), dtype=bool)
        for key in keys:
            values, refused = self._columns[key].numbers(rows, bound.numbers[key])
            found[key] = np.where(np.isnan(values), bound.values[key], values)
            for place, error in refused.items():
                if kept[place]:
                    self._refuse(rows[place : place + 1], error)
                    kept[place] = False
        rows = rows[kept]
        found = {key: values[kept] for key, values in found.items()}
        for block, outcome in run_in_blocks(bound, found, len(rows)):
            self._take(rows[block], outcome)

    def _take(self, rows: Rows, outcome: Outcome) -> None:
        """Put an outcome into its rows."""
        for name, column in outcome.columns().items():
            if name == "feasible":
                self._feasible[rows] = column
            elif name in self._results:
                self._results[name][rows] = column
        for name, time in outcome.phases.items():
            if name not in self._phases:
                self._phases[name] = np.zeros(self._size)
            self._phases[name][rows] = time
        if outcome.phases:
            times = np.stack([np.broadcast_to(time, rows.shape) for time in outcome.phases.values()])
            ranks = np.array([list(self._phases).index(name) for name in outcome.phases])
            self._longest[rows] = ranks[np.argmax(times, axis=0)]
        endless = rows[~np.isfinite(self._results["time_s"][rows])]
        self._refuse(endless, SpecError("row", "must take a finite time", "values too small or too large for it"))

    def _tried(self, rows: Rows, step: Callable[[], Any]) -> Any:
        """Return what a step gives, None where it fails for these rows."""
        try:
            return step()
        except SpecError as error:
            self._refuse(rows, error)
            return None

    def _without(self, rows: Rows, refused: Mapping[int, SpecError]) -> Rows:
        for place, error in refused.items():
            self._refuse(rows[place : place + 1], error)
        return np.delete(rows, list(refused))

    def _refuse(self, rows: Rows, error: SpecError) -> None:
        self._errors.update(dict.fromkeys(rows.tolist(), error))

    def frame(self, jobs: pandas.DataFrame, keep: Sequence[str]) -> pandas.DataFrame:
        """Return the results."""
        import pandas

        names = sorted(self._phases)
        bad = np.array(sorted(self._errors), dtype=np.int64)
        phases = {f"phases.{name}": self._phases[name] for name in names}
        results = self._results | phases
        for column in results.values():
            column[bad] = np.nan
        self._longest[bad] = -1
        places = np.array([*(names.index(name) for name in self._phases), -1])
        lacking = np.zeros(self._size, dtype=bool)
        lacking[bad] = True
        found = pandas.DataFrame({**{name: jobs[name] for name in keep}, **results}, index=jobs.index)
        found["bottleneck"] = pandas.Categorical.from_codes(places[self._longest], pandas.Index(names, dtype=str))
        found["feasible"] = pandas.arrays.BooleanArray(self._feasible, lacking)
        units = {name: unit_of(name) for name in found.columns if name not in keep}
        found.attrs = {
            "schema": SCHEMA,
            "perfmodel": perfmodel.__version__,
            "model": model_hash(),
            "inputs": dict(sorted(self._inputs.items())),
            "units": units,
            "bad_rows": BadRows(_reports(self._errors)),
        }
        return found


class BadRows(tuple[dict[str, Any], ...]):
    """Reports on bad rows; pandas copies a frame's ``attrs`` with every operation, and these needn't be."""

    __slots__ = ()

    def __deepcopy__(self, memory: object) -> BadRows:
        return self


def _reports(errors: Mapping[int, SpecError]) -> Iterator[dict[str, Any]]:
    for row in sorted(errors):
        error = errors[row]
        where = error.where.removeprefix("--set").lstrip(": ")
        yield {"row": row, "where": where, "rule": error.rule, "got": str(error.got), "nearest": error.nearest}


def unit_of(name: str) -> str:
    """Return the unit of a column of results; pure numbers, names and truths have none.

    Examples
    --------
    >>> unit_of("phases.transfer"), unit_of("feasible")
    ('s', '')
    """
    return UNITS.get(name, UNITS.get(name.partition(".")[0] + ".", ""))
