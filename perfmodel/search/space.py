"""The space of a search as the user writes it: parameters by dotted key, what they may be, and when they exist.

A parameter is a list of values, or a table: ``values``, or ``low`` and ``high`` with ``step`` (evenly spaced), ``factor``
(each that many times the last) or ``count`` (so many, on a ``linear`` or ``log`` ``scale``); without any of these three
every number in between is meant. ``when`` names values of other parameters that it needs, ``needs`` parts of the scenario
that must be there.

Examples
--------
>>> space = Space.of({"plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "factor": 2}})
>>> list(space.parameters)
['plan.transfer.chunk']
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from perfmodel.errors import SpecError, shown
from perfmodel.spec._base import Spec, build, pydantic_error
from perfmodel.spec.catalog import parse_toml, read_bytes

_MOST_VALUES = 1_000_000  # of one parameter: beyond, a step or factor is a slip


def _listed(value: object) -> object:
    """Take one value for a list of it."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


Values = Annotated[tuple[Any, ...], BeforeValidator(_listed)]


class Parameter(Spec):
    """What one parameter may be.

    Attributes
    ----------
    values : tuple
        All of them; where left out, the range holds.
    low, high : number or text with a unit
    step, factor, count, scale : numbers and ``linear`` or ``log``
        How the range is cut; ``step`` may have a unit.
    whole : bool
        Round the values of a range to whole numbers.
    when : mapping of dotted key to values
        The parameter exists where each of these parameters has one of these values.
    needs : tuple of str
        The parameter exists where the scenario has these parts, such as ``system.link``.
    """

    values: Annotated[tuple[Any, ...], Field(min_length=1)] | None = None
    low: float | str | None = None
    high: float | str | None = None
    step: float | str | None = None
    factor: Annotated[float, Field(gt=1, allow_inf_nan=False)] | None = None
    count: Annotated[int, Field(ge=1, le=_MOST_VALUES)] | None = None
    scale: Literal["linear", "log"] = "linear"
    whole: bool = False
    when: Mapping[str, Values] = {}
    needs: Values = ()

    @model_validator(mode="after")
    def _one_form(self) -> Parameter:
        ranged = [name for name in ("low", "high", "step", "factor", "count") if getattr(self, name) is not None]
        if self.values is not None and ranged:
            raise pydantic_error("must have either values or a range", "both", "values")
        if self.values is None and (self.low is None or self.high is None):
            raise pydantic_error("must have values, or low and high", ", ".join(ranged) or "neither", "values")
        if sum(getattr(self, name) is not None for name in ("step", "factor", "count")) > 1:
            raise pydantic_error("must have only one of step, factor and count", ", ".join(ranged[2:]), "factor")
        return self


def _parameter(value: object) -> object:
    """Take a list for its values, and one value for a list of it."""
    return value if isinstance(value, (Mapping, Parameter)) else {"values": _listed(value)}


class Space(Spec):
    """A space to search.

    Attributes
    ----------
    name, title : str
    parameters : mapping of dotted key to Parameter
        In the order of the enumeration, the last one changing first; names before numbers.
    constraints : tuple of str
        Such as ``time <= 50 ms``, beside those of the model.
    """

    name: str = "space"
    title: str = ""
    parameters: Mapping[str, Annotated[Parameter, BeforeValidator(_parameter)]]
    constraints: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()

    @staticmethod
    def of(source: Space | Mapping[str, Any] | str | pathlib.Path) -> Space:
        """Return a space from a TOML file, a table as such a file has it, or parameters by key.

        Raises
        ------
        SpecError
            Missing or broken files, unknown keys, ranges that are empty.
        """
        if isinstance(source, Space):
            return source
        if isinstance(source, Mapping):
            table, where = dict(source), "space"
        elif isinstance(source, (str, pathlib.Path)):
            table, where = parse_toml(read_bytes(pathlib.Path(source)), str(source)), str(source)
        else:
            raise SpecError("space", "must be a TOML file or a mapping of dotted key to values", shown(source))
        if "parameters" not in table and any("." in str(key) for key in table):
            table = {"parameters": table}
        space = build(Space, table, where)
        if not space.parameters:
            raise SpecError(f"{where}: parameters", "must name at least one", "none")
        return space


def numbers_in(parameter: Parameter, low: float, high: float, step: float | None, where: str) -> tuple[float, ...]:
    """Return the numbers of a range that is cut.

    Parameters
    ----------
    parameter : Parameter
    low, high, step : float
        Its ends and step in the key's unit.
    where : str
        Named in errors.

    Raises
    ------
    SpecError
        Where the range is empty or can't be cut so.

    Examples
    --------
    >>> numbers_in(Parameter(low=1, high=10, factor=3), 1.0, 10.0, None, "example")
    (1.0, 3.0, 9.0)
    """
    check_ends(parameter, low, high, where)
    if step is not None:
        if not step > 0:
            raise SpecError(f"{where}: step", "must be above 0", f"{step:g}")
        found = _cut((high - low) / step, lambda index: low + index * step, where)
    elif parameter.factor is not None:
        factor = parameter.factor
        found = _cut(math.log(high / low) / math.log(factor), lambda index: low * factor**index, where)
    else:
        found = _spread(low, high, parameter.count or 1, parameter.scale)
    numbers = [float(round(number)) for number in found] if parameter.whole else found
    return tuple(dict.fromkeys(min(max(number, low), high) for number in numbers))


def check_ends(parameter: Parameter, low: float, high: float, where: str) -> None:
    """Raise where a range is empty, or can't be spread out on its scale."""
    if not low <= high:
        raise SpecError(
            where, "must have low up to high", f"the empty range {low:g} to {high:g}", f"{high:g} to {low:g}"
        )
    if not math.isfinite(high):
        raise SpecError(where, "must have finite ends", f"{low:g} to {high:g}")
    if (parameter.factor is not None or parameter.scale == "log") and not low > 0:
        raise SpecError(f"{where}: low", "must be above 0 where each value is a factor of the last", f"{low:g}", "1")


def _cut(steps: float, number: Any, where: str) -> list[float]:
    count = math.floor(steps * (1 + 1e-12) + 1e-9) + 1
    if count > _MOST_VALUES:
        raise SpecError(where, f"must have at most {_MOST_VALUES:,} values", f"{count:,}")
    return [number(index) for index in range(count)]


def _spread(low: float, high: float, count: int, scale: str) -> list[float]:
    shares: Sequence[float] = [0.0] if count == 1 else [index / (count - 1) for index in range(count)]
    if scale == "log":
        inner = [low * (high / low) ** share for share in shares]
    else:
        inner = [low + (high - low) * share for share in shares]
    return inner if count == 1 else [*inner[:-1], high]
