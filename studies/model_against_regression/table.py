"""What was measured, as files: ``runs.csv`` with a row for each configuration, ``profile.toml``, ``conditions.json``."""

from __future__ import annotations

import csv
import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import tomli_w

from calibration.pipeline.configuration import Configuration, SyntheticGraph
from perfmodel.spec.catalog import parse_toml

FOLDER: Final = pathlib.Path(__file__).parent
_DIGITS: Final = 5
_GRAPH: Final = {"nodes": int, "mean_degree": float, "spread_of_degrees": float, "graph_seed": int}
_WHOLE: Final = ("dimension", "hidden", "classes", "batch", "chunk", "window", "workers")
_NAMES: Final = ("precision", "mechanism", "placement")
_MEASURED: Final = ("time", "spread", "seconds")
COLUMNS: Final = ("kind", *_GRAPH, *_WHOLE, "fanout", *_NAMES, *_MEASURED)


@dataclasses.dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes
    ----------
    rows : sequence of mapping
        By ``COLUMNS``: kind, configuration, median time of a mini-batch [s], relative range of its repeats, and the time
        that running it took [s].
    conditions : mapping
        Seconds of calibration and of training runs, noise floor, machine.
    """

    rows: Sequence[Mapping[str, Any]]
    conditions: Mapping[str, Any]

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the rows of a kind."""
        return [row for row in self.rows if row["kind"] == kind]


def plain(asked: Configuration) -> dict[str, Any]:
    """Return a configuration by the columns of the table.

    Examples
    --------
    >>> asked = Configuration(SyntheticGraph(9000, 14.0, 0.9, seed=101), fanout=(10, 5))
    >>> plain(asked)["fanout"], configuration(plain(asked)) == asked
    ('10 5', True)
    """
    graph = asked.graph
    values = (graph.nodes, graph.mean_degree, graph.spread, graph.seed)
    found: dict[str, Any] = dict(zip(_GRAPH, values, strict=True))
    found |= {name: getattr(asked, name) for name in (*_WHOLE, *_NAMES)}
    return found | {"fanout": " ".join(map(str, asked.fanout))}


def configuration(row: Mapping[str, Any]) -> Configuration:
    """Return the configuration of a row."""
    graph = SyntheticGraph(*(row[name] for name in _GRAPH))
    fields: dict[str, Any] = {name: row[name] for name in (*_WHOLE, *_NAMES)}
    return Configuration(graph, fanout=tuple(map(int, row["fanout"].split())), **fields)


def save(measured: Measured) -> None:
    """Write the rows and the conditions to the study's folder."""
    with (FOLDER / "runs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_written(row[name]) for name in COLUMNS] for row in measured.rows)
    text = json.dumps(dict(measured.conditions), indent=1, sort_keys=True)
    (FOLDER / "conditions.json").write_text(text + "\n", encoding="utf-8")


def _written(value: Any) -> str:
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)


def load() -> Measured:
    """Read what ``save`` wrote."""
    readers: dict[str, Any] = {**_GRAPH, **dict.fromkeys(_WHOLE, int), **dict.fromkeys(_MEASURED, float)}
    with (FOLDER / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: readers.get(name, str)(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return Measured(rows, json.loads((FOLDER / "conditions.json").read_text(encoding="utf-8")))


def save_profile(path: pathlib.Path) -> None:
    """Keep the profile that the calibration gave, a row of its covariance in a line."""
    profile = parse_toml(path.read_bytes(), path.name)
    rows = [", ".join(repr(float(f"{value:.4g}")) for value in row) for row in profile.pop("covariance")]
    covariance = ",\n".join(f"  [{row}]" for row in rows)
    text = f"covariance = [\n{covariance}\n]\n{tomli_w.dumps(profile)}"
    (FOLDER / "profile.toml").write_text(text, encoding="utf-8")
