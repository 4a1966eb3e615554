"""What a study is, how the studies of this folder are found, and how an answer reaches its files."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pathlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from perfmodel.errors import ModelError

Answer = dict[str, Any]
ROOT = pathlib.Path(__file__).parent
DIGITS = 4  # of every number in an answer: what is below them differs between machines


@dataclasses.dataclass(frozen=True)
class Study:
    """One question.

    Attributes
    ----------
    name : str
        Of its folder.
    compute : callable to Answer
        Asks the question again.
    tables : callable of Answer to mapping of str to str
        The README's tables by name, as Markdown.
    pictures : callable of Answer to mapping of str to str
        Files of the folder that are drawn from the answer.
    """

    name: str
    compute: Callable[[], Answer]
    tables: Callable[[Answer], Mapping[str, str]]
    pictures: Callable[[Answer], Mapping[str, str]] = lambda answer: {}

    @property
    def folder(self) -> pathlib.Path:
        """Return where the study lies."""
        return ROOT / self.name

    def answer(self) -> Answer:
        """Return the answer as last computed."""
        found: Answer = json.loads((self.folder / "answer.json").read_text(encoding="utf-8"))
        return found

    def readme(self, answer: Answer) -> str:
        """Return the README with its tables drawn from an answer."""
        return filled((self.folder / "README.md").read_text(encoding="utf-8"), self.tables(answer))


def all_studies() -> dict[str, Study]:
    """Find every study of the folder, by name."""
    found: dict[str, Study] = {}
    for module in pkgutil.iter_modules([str(ROOT)]):
        if module.ispkg:
            study: Study = importlib.import_module(f"studies.{module.name}.study").STUDY
            if study.name != module.name:
                raise ModelError(f"studies/{module.name} holds a study called {study.name}")
            found[study.name] = study
    return found


def run(study: Study) -> None:
    """Compute the answer, write ``answer.json`` and the pictures, and draw the README's tables anew."""
    (study.folder / "answer.json").write_text(as_text(rounded(study.compute())), encoding="utf-8")
    answer = study.answer()  # in the order of the file
    for name, text in study.pictures(answer).items():
        (study.folder / name).write_text(text, encoding="utf-8")
    (study.folder / "README.md").write_text(study.readme(answer), encoding="utf-8")
    for table in study.tables(answer).values():
        print(table, end="\n\n")


def as_text(answer: Answer) -> str:
    """Return an answer as JSON with sorted keys."""
    return json.dumps(answer, indent=1, sort_keys=True, allow_nan=False) + "\n"


def rounded(value: Any) -> Any:
    """Round every number of an answer to ``DIGITS`` significant digits; an infinite one becomes None.

    Examples
    --------
    >>> rounded({"error": [0.123456, float("inf")], "rows": 72})
    {'error': [0.1235, None], 'rows': 72}
    """
    if isinstance(value, Mapping):
        return {str(key): rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(inner) for inner in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], numbers_from: int = 1) -> str:
    """Return a Markdown table; columns from ``numbers_from`` on are aligned right.

    Examples
    --------
    >>> print(markdown(["fold", "error"], [["reddit", "7 %"]]))
    | fold | error |
    |---|---:|
    | reddit | 7 % |
    """
    marks = ["---" if column < numbers_from else "---:" for column in range(len(header))]
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(marks)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def filled(readme: str, tables: Mapping[str, str]) -> str:
    """Put tables between their marks ``<!-- table NAME -->`` and ``<!-- end -->``.

    Raises
    ------
    ModelError
        A table without a mark, or a mark without a table.
    """
    marks = re.findall(r"<!-- table (\S+) -->", readme)
    if sorted(marks) != sorted(tables):
        raise ModelError(f"the README has marks for {sorted(marks)}, the study has tables for {sorted(tables)}")
    for name, table in tables.items():
        start = readme.index(f"<!-- table {name} -->")
        end = readme.index("<!-- end -->", start)
        readme = f"{readme[:start]}<!-- table {name} -->\n{table}\n{readme[end:]}"
    return readme


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as percent.

    Examples
    --------
    >>> percent(0.0712, 1)
    '7.1 %'
    """
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def figure(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent.

    Examples
    --------
    >>> figure(1784.3, 2), figure(0.0031922), figure(25.0, 2)
    ('1,800', '0.00319', '25')
    """
    kept = float(f"{value:.{digits}g}")
    places = max(digits - 1 - math.floor(math.log10(abs(kept))), 0) if kept else 0
    return f"{kept:,.{places}f}"


def between(interval: Sequence[float], digits: int = 2) -> str:
    """Return an interval.

    Examples
    --------
    >>> between([0.41, 180.0])
    '0.41 to 180'
    """
    low, high = interval
    return f"{figure(low, digits)} to {figure(high, digits)}"
