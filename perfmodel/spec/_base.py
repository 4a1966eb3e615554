"""Base of all specs: frozen, unknown keys refused with the nearest valid one, values with units, sources kept."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from perfmodel.errors import SpecError, UnitError, UnknownKey, nearest, shown
from perfmodel.units import example, parse, render

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Above every quantity in use, and far enough from the largest float for sums and products of a few.
LARGEST = 1e30
#: Where a number comes from, from the surest to the least sure.
SourceKind = Literal["measured", "calibrated", "published", "datasheet", "analytic", "assumed"]
SOURCE_KINDS: tuple[str, ...] = typing.get_args(SourceKind)


class Spec(BaseModel):
    """A part of what the user writes."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class NamedSpec(Spec):
    """A part that has a name and a file of its own, with the source of each of its numbers.

    Attributes
    ----------
    name : str
        Catalog name.
    title : str
        One line for people.
    sources : mapping of dotted key to text
        ``"kind: where from"``; a key covers all keys below it.
    """

    name: str
    title: str = ""
    sources: Mapping[str, str] = {}

    def source_of(self, key: str) -> str:
        """Return the source of a dotted key: its own, or that of the closest key above it."""
        parts = key.split(".")
        for length in range(len(parts), 0, -1):
            found = self.sources.get(".".join(parts[:length]))
            if found is not None:
                return found
        return self.sources.get("*", "assumed: no source given")


class Within:
    """Marks a field as a number with a unit, between bounds; ``above`` leaves the lower bound itself out.

    Where ``infinite`` is set, infinity is a valid value: a copy that costs nothing has infinite bandwidth. ``whole``
    numbers count things that have no halves.

    Examples
    --------
    >>> Within("B/s", above=True).check("25 GB/s")
    25000000000.0
    """

    def __init__(
        self,
        unit: str,
        low: float = 0.0,
        high: float = LARGEST,
        above: bool = False,
        infinite: bool = False,
        whole: bool = False,
    ) -> None:
        self.unit, self.low, self.high, self.above, self.infinite, self.whole = unit, low, high, above, infinite, whole

    def check(self, value: object) -> float:
        """Return the number in SI; raises pydantic's error with our rule and nearest choice."""
        try:
            number = parse(value, self.unit)  # type: ignore[arg-type]
        except UnitError as error:
            raise pydantic_error(error.rule, str(error.got), error.nearest) from None
        if self.infinite and number == math.inf:
            return number
        if number < self.low or number > self.high or (self.above and number == self.low):
            edge = f"{'above' if self.above else 'at least'} {render(self.low, self.unit)}"
            far = self.high == LARGEST and number <= LARGEST
            rule = edge if far else f"{edge} and at most {render(self.high, self.unit)}"
            closest = self.high if number > self.high else self.low
            at_open_end = self.above and closest == self.low
            raise pydantic_error(
                f"must be {rule}", shown(value), example(self.unit) if at_open_end else render(closest, self.unit)
            )
        if self.whole and number != math.floor(number):
            raise pydantic_error(
                "must be a whole number", shown(value), render(max(round(number), self.low), self.unit)
            )
        return number

    def check_at(self, value: object, where: str) -> float:
        """Return the number in SI.

        Raises
        ------
        SpecError
            Where it isn't one, or out of bounds.
        """
        try:
            return self.check(value)
        except PydanticCustomError as error:
            context = error.context or {}
            raise SpecError(where, context["rule"], context["got"], context["nearest"]) from None

    def accepts(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which numbers ``check`` accepts, an array of their shape; NaN it doesn't.

        Examples
        --------
        >>> import numpy as np
        >>> Within("", low=1.0, whole=True).accepts(np.array([0.0, 1.0, 1.5, np.nan])).tolist()
        [False, True, False, False]
        """
        kept = (values >= self.low) & (values <= self.high)
        if self.above:
            kept &= values != self.low
        if self.whole:
            kept &= values == values.round()
        return kept | (values == math.inf) if self.infinite else kept

    def __get_pydantic_core_schema__(self, source: Any, handler: pydantic.GetCoreSchemaHandler) -> CoreSchema:
        """Parse and check before pydantic sees the number."""
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: pydantic.GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Show the unit to whoever reads the JSON schema; text with a unit is as good as a number."""
        return {"anyOf": [{"type": "number"}, {"type": "string"}], "unit": self.unit}


def pydantic_error(rule: str, got: str, nearest_choice: str | None) -> ValueError:
    """Return an error that pydantic places and ``build`` turns into a sentence."""
    return PydanticCustomError("perfmodel", "{rule}", {"rule": rule, "got": got, "nearest": nearest_choice})


T = TypeVar("T", bound=BaseModel)


def build(kind: type[T], data: Mapping[str, Any], where: str) -> T:
    """Validate ``data`` as ``kind``.

    Raises
    ------
    SpecError
        With the first broken rule as a sentence.
    """
    try:
        return kind.model_validate(data)
    except pydantic.ValidationError as error:
        raise _sentence(kind, error.errors()[0], where) from None


def _sentence(kind: type[BaseModel], problem: Any, where: str) -> SpecError:
    location = list(problem["loc"])
    place = f"{where}: " + ".".join(str(part) for part in location) if location else where
    context, got = problem.get("ctx", {}), problem.get("input")
    match problem["type"]:
        case "perfmodel":
            return SpecError(place, context["rule"], context["got"], context.get("nearest"))
        case "extra_forbidden":
            known = _fields_at(kind, location[:-1])
            return UnknownKey(
                f"{where}: {'.'.join(map(str, location))}",
                "is not a known key",
                shown(location[-1]),
                nearest(str(location[-1]), known),
            )
        case "missing":
            return SpecError(place, "must be given", "nothing")
        case "literal_error" | "enum":
            choices = [part.strip(" '") for part in str(context["expected"]).replace(" or ", ",").split(",")]
            return SpecError(
                place, "must be one of " + ", ".join(choices), shown(got), nearest(shown(got).strip("'"), choices)
            )
        case _:
            return SpecError(place, problem["msg"][:1].lower() + problem["msg"][1:], shown(got))


def _fields_at(kind: Any, location: list[str | int]) -> list[str]:
    """Return the field names of the model that ``location`` leads to."""
    models = _models_in(kind)
    for part in location:
        steps = [model.model_fields[part].annotation for model in models if part in model.model_fields]
        if steps:
            models = [found for step in steps for found in _models_in(step)]
    return [name for model in models for name in model.model_fields]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if isinstance(annotation, types.GenericAlias) or typing.get_origin(annotation) is not None:
        return [model for part in typing.get_args(annotation) for model in _models_in(part)]
    return []


def within(field: FieldInfo) -> Within | None:
    """Return the unit and bounds of a field, None where it isn't a number with a unit."""
    inner = (mark for part in typing.get_args(field.annotation) for mark in typing.get_args(part))
    return next((mark for mark in (*field.metadata, *inner) if isinstance(mark, Within)), None)


Bytes = Annotated[float, Within("B")]
PositiveBytes = Annotated[float, Within("B", above=True)]
Limit = Annotated[float, Within("B", above=True, infinite=True)]
Bandwidth = Annotated[float, Within("B/s", above=True, infinite=True)]
Seconds = Annotated[float, Within("s")]
SecondsPerNode = Annotated[float, Within("s/node")]
SecondsPerEdge = Annotated[float, Within("s/edge")]
SecondsPerByte = Annotated[float, Within("s/B")]
Number = Annotated[float, Within("")]
Share = Annotated[float, Within("", high=1.0)]
Efficiency = Annotated[float, Within("", high=1.0, above=True)]
Count = Annotated[float, Within("", low=1.0)]
NodeCount = Annotated[float, Within("node", low=1.0)]
EdgeCount = Annotated[float, Within("edge")]
