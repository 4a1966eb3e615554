"""What a search knows of any family: a default space read off the plan's spec, and the numbers that may tip a choice."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from perfmodel.model.families import family
from perfmodel.search.space import Space
from perfmodel.spec._base import within
from perfmodel.spec.catalog import flattened, load, names
from perfmodel.spec.families import FIRST
from perfmodel.spec.scenario import Scenario

_NOT_CHOICES = ("family",)
_BYTES = {"low": 4096.0, "high": 2.0**26, "factor": 4.0}
_COUNTS = [1.0, 2.0, 4.0, 8.0]


@dataclasses.dataclass(frozen=True)
class Turned:
    """A number that may tip a choice: what it is now, its unit, and between which ends it makes sense."""

    now: float
    unit: str
    low: float
    high: float
    whole: bool = False


class SearchFamily:
    """A scenario as a search sees it.

    Attributes
    ----------
    scenario : Scenario
    model : Family
        What the model knows of it.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.model = family(scenario)

    def space(self) -> Space:
        """Return the space that is searched where none is given: every name that the plan may have, sizes and counts."""
        return Space.of({"name": "default space", "parameters": dict(_choices("plan", self.scenario.plan))})

    def known_plans(self) -> list[dict[str, Any]]:
        """Return the catalog's plans of the family, by dotted keys: a search tries them first."""
        family = self.scenario.workload.family
        plans = (load("plans", name) for name in names("plans"))
        return [flattened(plan.model_dump(), "plan.") for plan in plans if getattr(plan, "family", FIRST) == family]

    def no_offload(self) -> Mapping[str, Any]:
        """Return the names that a plan without offload has, nothing where the family knows none."""
        return {}

    def results(self) -> tuple[str, ...]:
        """Return the names of results that the family adds."""
        return ()

    def result(self, name: str) -> float:
        """Return one of them."""
        raise KeyError(name)

    def placements(self) -> tuple[str, ...]:
        """Return the keys that say what runs where: a switch point is where another choice of them becomes best."""
        return tuple(key for key in self.space().parameters if key.startswith("plan.placement."))

    def switches(self) -> Mapping[str, str]:
        """Return the keys along which switch points are looked for, with what each one is."""
        return {}

    def turned(self, key: str) -> Turned | None:
        """Return the number behind a key of ``switches``, None where the scenario has none."""
        *path, name = key.split(".")
        spec: Any = self.scenario
        for part in path:
            spec = getattr(spec, part, None)
        if not isinstance(spec, BaseModel):
            return None
        value, mark = getattr(spec, name), within(type(spec).model_fields[name])
        if mark is None or not isinstance(value, float):
            return None
        return Turned(value, mark.unit, mark.low, mark.high, mark.whole)

    def turn(self, key: str, value: float) -> Mapping[str, Any]:
        """Return the changes that give a key of ``switches`` another value."""
        return {key: value}


def _choices(prefix: str, spec: BaseModel) -> Iterator[tuple[str, Any]]:
    """Yield what each field of a plan may be."""
    for name, field in type(spec).model_fields.items():
        value, key = getattr(spec, name), f"{prefix}.{name}"
        if isinstance(value, BaseModel):
            yield from _choices(key, value)
        elif choices := _literals(field):
            if name not in _NOT_CHOICES and len(choices) > 1:
                yield key, {"values": [value, *(other for other in choices if other != value)]}
        else:
            mark = within(field)
            if mark is not None and isinstance(value, float) and value > 0:
                yield key, dict(_BYTES) if mark.unit == "B" else {"values": _counts(value, mark.low, mark.high)}


def _counts(now: float, low: float, high: float) -> list[float]:
    return sorted({now, *(count for count in _COUNTS if low <= count <= high)})


def _literals(field: FieldInfo) -> tuple[Any, ...]:
    """Return the names that a field may have, empty where it isn't a choice of names."""
    annotation = field.annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return ()
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()
