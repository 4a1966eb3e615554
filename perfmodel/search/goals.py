"""What a search wants and what it must keep: objectives to minimize, constraints beside the model's own limits."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from perfmodel.errors import SpecError, UnitError, shown
from perfmodel.model.families._base import Limit
from perfmodel.search.expressions import Expression, split_list
from perfmodel.search.results import Results, unit_of, unknown_result
from perfmodel.units import parse

_COMPARED = re.compile(r"(.+?)\s*(<=|>=|<|>)\s*([^<>=]+)", re.S)


@dataclasses.dataclass(frozen=True)
class Objective:
    """A result, or an expression of results, to be minimized.

    Attributes
    ----------
    name : str
        As it was written.
    expression : Expression
    unit : str
        Of a result by itself; empty for expressions.
    """

    name: str
    expression: Expression
    unit: str

    def value(self, results: Results) -> Any:
        """Return its value in a run."""
        return self.expression.value(results)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """A result, or an expression of results, that must not pass a value.

    Attributes
    ----------
    rule : str
        As it was written.
    expression : Expression
    least : bool
        Whether it must be at least the value, not at most.
    value : float
    unit : str
    """

    rule: str
    expression: Expression
    least: bool
    value: float
    unit: str

    def limit(self, found: Any) -> Limit:
        """Return the constraint as a need beside its limit, at a value of its expression."""
        message = f"{self.expression.text} must be {'at least' if self.least else 'at most'} what {self.rule} says"
        need, limit = (self.value, found) if self.least else (found, self.value)
        return Limit(self.rule, need, limit, self.unit, message)


def objectives_of(given: Sequence[str] | str, known: set[str], bound: Any) -> tuple[Objective, ...]:
    """Parse objectives.

    Parameters
    ----------
    given : text or sequence of text
        Names of results or expressions, separated by commas.
    known : set of str
        All names of results.
    bound : Bound

    Raises
    ------
    SpecError
        Unknown names, none at all, one twice.
    """
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, (list, tuple)) or not all(isinstance(text, str) for text in given):
        raise SpecError("objective", "must be names or expressions of results", shown(given), "time")
    texts = [part for text in given for part in split_list(text)]
    if not texts or not all(texts):
        raise SpecError("objective", "must name a result", shown(",".join(texts)), "time")
    found = tuple(_objective(text, known, bound) for text in texts)
    if len({objective.name for objective in found}) < len(found):
        raise SpecError("objective", "must name each result once", shown(",".join(texts)))
    return found


def _objective(text: str, known: set[str], bound: Any) -> Objective:
    expression = _checked(text, known, f"objective {text}")
    if not expression.names:
        raise SpecError(f"objective {text}", "must name a result", shown(text), "time")
    unit = unit_of(expression.text, bound) if expression.text in expression.names else ""
    return Objective(expression.text, expression, unit)


def _checked(text: str, known: set[str], where: str) -> Expression:
    expression = Expression.of(text, where)
    for name in expression.names:
        if name not in known:
            raise unknown_result(name, known, where)
    return expression


def constraints_of(given: Sequence[str], known: set[str], bound: Any) -> tuple[Constraint, ...]:
    """Parse constraints such as ``time <= 50 ms`` and ``max(cost, 1000) <= 20000``.

    Raises
    ------
    SpecError
        Unknown names, values without their unit's dimension, two that can't hold at once.
    """
    found = tuple(_constraint(text, known, bound) for text in given)
    for upper in found:
        for lower in found:
            same = upper.expression.text == lower.expression.text
            if same and lower.least and not upper.least and lower.value > upper.value:
                raise SpecError(f"constraint {upper.rule}", "must be possible together with the others", lower.rule)
    return found


def _constraint(text: str, known: set[str], bound: Any) -> Constraint:
    where = f"constraint {text}"
    match = _COMPARED.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= 1000 else None
    if match is None:
        raise SpecError("constraint", "must compare a result with a value", shown(text), "time <= 50 ms")
    expression = _checked(match[1], known, where)
    unit = unit_of(expression.text, bound) if expression.text in expression.names else ""
    try:
        value = parse(match[3].strip(), unit)
    except UnitError as error:
        raise SpecError(where, error.rule, error.got, error.nearest) from None
    return Constraint(" ".join(text.split()), expression, match[2][0] == ">", value, unit)
