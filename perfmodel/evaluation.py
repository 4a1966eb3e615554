"""Arrays of plans to arrays of times: the one entry point of everything that asks the model for numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.model.bound import Bound, Outcome, bind

if TYPE_CHECKING:
    import pandas

    from perfmodel.spec.scenario import Scenario

# Rows at a time: the intermediate arrays of a block stay in cache, and below the 128 KiB from which malloc maps fresh
# pages for each of them.
_BLOCK = 12288
_FEW = 64  # distinct values of a column that are found by comparing with each


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, each of shape (plans,).

    ``time_s`` and ``epoch_time_s`` [s], ``phases.NAME`` [s], ``bytes.total`` [B], ``feasible``.
    """

    columns: Mapping[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one column."""
        if name not in self.columns:
            raise SpecError(f"column {name}", "must be a column of the table", name, nearest(name, self.columns))
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self.columns))


def evaluate(scenario: Scenario, columns: Mapping[str, ArrayLike]) -> Table:
    """Evaluate many plans at once.

    Parameters
    ----------
    scenario : Scenario
        What stays the same.
    columns : mapping of dotted key to array of shape (plans,)
        What varies: numbers in SI units, or names for keys such as ``plan.precision.features``. A single value holds
        for all plans.

    Returns
    -------
    Table

    Raises
    ------
    SpecError
        Unknown keys, values outside their bounds, columns of unlike length.

    Examples
    --------
    >>> import perfmodel as pm
    >>> scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    >>> table = pm.evaluate(scenario, {"system.link.bandwidth": [1e9, 15e9]})
    >>> bool(table["time_s"][0] > table["time_s"][1])
    True
    """
    if not isinstance(columns, Mapping):
        raise SpecError("columns", "must be a mapping of dotted key to values", shown(columns))
    arrays = {key: _array(key, values) for key, values in columns.items()}
    size = _common_length(arrays)
    bound = bind(scenario)
    fast = {key: _checked(bound, key, values) for key, values in arrays.items() if key in bound.numbers}
    slow = {key: np.broadcast_to(values, (size,)) for key, values in arrays.items() if key not in bound.numbers}
    if size == 0:
        return Table({name: np.zeros(0, np.asarray(one).dtype) for name, one in bound.run({}).columns().items()})
    results: dict[str, NDArray[Any]] = {}
    for changes, rows in _groups(slow, size):
        group = bind(scenario.replace(changes)) if changes else bound
        whole = isinstance(rows, slice)
        taken = {key: values if values.ndim == 0 or whole else values[rows] for key, values in fast.items()}
        _fill(results, group, taken, rows, size)
    return Table(results)


def _fill(
    results: dict[str, NDArray[Any]], bound: Bound, numbers: Mapping[str, NDArray[Any]], rows: Any, size: int
) -> None:
    """Evaluate one group of like plans block by block and put the outcome into its rows."""
    count = size if isinstance(rows, slice) else len(rows)
    for block, outcome in run_in_blocks(bound, numbers, count):
        if not np.all(np.isfinite(outcome.time)):
            raise SpecError("columns", "must give finite times", "values too small or too large for it")
        target = block if isinstance(rows, slice) else rows[block]
        for name, column in outcome.columns().items():
            if name not in results:
                unknown = np.nan if name == "energy_j" else 0
                results[name] = np.full(size, unknown, dtype=np.asarray(column).dtype)
            results[name][target] = column


def run_in_blocks(bound: Bound, numbers: Mapping[str, NDArray[Any]], count: int) -> Iterator[tuple[slice, Outcome]]:
    """Run so many rows block by block, each with its outcome; times that aren't finite are left to the caller.

    Parameters
    ----------
    bound : Bound
    numbers : mapping of dotted key to array of shape () or (count,)
        Of ``bound.numbers``, within their bounds.
    count : int
    """
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        values = {key: column if column.ndim == 0 else column[block] for key, column in numbers.items()}
        with np.errstate(all="ignore"):
            outcome = bound.run(values)
        yield block, outcome


def _array(key: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise SpecError(key, "must be one value or a one-dimensional array", "rows of unlike length") from None


def _common_length(arrays: Mapping[str, NDArray[Any]]) -> int:
    lengths = {key: values.shape[0] for key, values in arrays.items() if values.ndim == 1}
    for key, values in arrays.items():
        if values.ndim > 1:
            raise SpecError(key, "must be one value or a one-dimensional array", f"shape {values.shape}")
    if len(set(lengths.values())) > 1:
        raise SpecError("columns", "must all have the same length", str(lengths))
    return next(iter(lengths.values()), 1)


def _checked(bound: Bound, key: str, values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a numeric column as floats within the bounds of its key; text with units is parsed value by value."""
    mark = bound.numbers[key]
    if values.dtype.kind not in "iuf":
        checked = [mark.check_at(value, key) for value in values.ravel().tolist()]
        return np.array(checked, dtype=np.float64).reshape(values.shape)
    column = values.astype(np.float64)
    refused = column[~mark.accepts(column)]
    if refused.size:
        mark.check_at(float(refused[0]), key)
    return column


def _groups(slow: Mapping[str, NDArray[Any]], size: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Split the rows by the values of the columns that change the model's structure."""
    if not slow:
        yield {}, slice(None)
        return
    code = np.zeros(size, dtype=np.int64)
    choices: list[tuple[str, list[Any]]] = []
    for key, values in slow.items():
        found, inverse = _factorized(values)
        code = code * len(found) + inverse
        choices.append((key, found))
    narrow = code.astype(np.uint16) if code.max() < 2**16 else code  # sorted by radix, several times quicker
    order = np.argsort(narrow, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], size], strict=True):
        rows = order[start:end]
        number = int(code[rows[0]])
        changes: dict[str, Any] = {}
        for key, found in reversed(choices):
            number, position = divmod(number, len(found))
            changes[key] = found[position]
        yield changes, rows


def _factorized(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return distinct values and the position of each row's value among them; quick where there are few."""
    inverse = np.full(values.shape, -1, dtype=np.int64)
    found: list[Any] = []
    undone = np.ones(values.shape, dtype=bool)
    while len(found) < _FEW and undone.any():
        value = values[np.argmax(undone)]
        same = values == value
        inverse[same] = len(found)
        undone &= ~same
        found.append(value.item() if isinstance(value, np.generic) else value)
    left = np.flatnonzero(undone)
    if left.size:
        more, positions = np.unique(values[left], return_inverse=True)
        inverse[left] = len(found) + positions
        found += [value.item() if isinstance(value, np.generic) else value for value in more]
    return found, inverse
