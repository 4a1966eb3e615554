"""What a run of the model gives, by the names that objectives and constraints use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perfmodel.errors import MissingCalibration, SpecError, nearest, shown
from perfmodel.model.bound import Bound, Outcome
from perfmodel.search.families import SearchFamily

#: Results that have a name of their own, with their units; those with a dot stand for all below them.
UNITS: Final[Mapping[str, str]] = {
    "time": "s", "time_s": "s", "epoch_time": "s", "epoch_time_s": "s", "energy": "J", "energy_j": "J", "power": "W",
    "cost": "USD", "phases.": "s", "bytes.": "B", "memory.": "B",
}  # fmt: skip


class Results:
    """The results of one run.

    Parameters
    ----------
    bound : Bound
    family : SearchFamily
        Of the bound scenario.
    changed : mapping of dotted key to float or array
        As the run took them.
    outcome : Outcome
    """

    def __init__(self, bound: Bound, family: SearchFamily, changed: Mapping[str, Any], outcome: Outcome) -> None:
        self._bound, self._family, self._changed, self._outcome = bound, family, changed, outcome

    def __call__(self, name: str) -> Any:
        """Return one result by name, a float or an array.

        Raises
        ------
        SpecError
            Where there is none of this name, or it isn't known for these devices.
        """
        outcome, (first, _, rest) = self._outcome, name.partition(".")
        match first:
            case "time" | "time_s" if not rest:
                return outcome.time
            case "epoch_time" | "epoch_time_s" if not rest:
                return outcome.epoch_time
            case "energy" | "energy_j" if not rest:
                return self._energy()
            case "power" if not rest:
                return self._energy() / outcome.time
            case "cost" if not rest:
                return self._cost()
            case "phases":
                return outcome.phases.get(rest, 0.0)
            case "bytes":
                return sum(outcome.bytes.values()) if rest == "total" else outcome.bytes.get(rest, 0.0)
            case "memory":
                return outcome.memory.get(rest, 0.0)
        if name in self._family.results():
            return self._family.result(name)
        if name in self._bound.numbers:
            return self._changed.get(name, self._bound.values[name])
        raise unknown_result(name, names_of(self._bound, self._family, outcome))

    def _energy(self) -> Any:
        if self._outcome.energy is None:
            counts = self._family.model.counts({**self._bound.values, **self._changed})
            missing = [f"system.{role}.power" for role in counts if f"system.{role}.power" not in self._bound.values]
            key = missing[0] if missing else "system"
            raise MissingCalibration("energy", f"needs {key}", "no such number", f"--set {key}='300 W'")
        return self._outcome.energy

    def _cost(self) -> Any:
        """Return the price of all devices [USD]."""
        values = {**self._bound.values, **self._changed}
        total: Any = 0.0
        for role, count in self._family.model.counts(values).items():
            key = f"system.{role}.price"
            if key not in values:
                name = getattr(getattr(self._bound.system, role, None), "name", role)
                raise MissingCalibration("cost", f"needs {key}, the price of {name}", "none", f"--set {key}='1000 USD'")
            total = total + values[key] * count
        return total


def names_of(bound: Bound, family: SearchFamily, outcome: Outcome) -> set[str]:
    """Return the names of all results of a run."""
    found = {name for name in UNITS if not name.endswith(".")} | set(family.results()) | set(bound.numbers)
    found |= {f"phases.{name}" for name in outcome.phases} | {f"memory.{name}" for name in outcome.memory}
    return found | {"bytes.total"} | {f"bytes.{name}" for name in outcome.bytes}


def unknown_result(name: str, known: set[str], where: str | None = None) -> SpecError:
    """Return the error of a name that no result has."""
    return SpecError(where or name, "must be made of names of results", shown(name), nearest(name, known) or "time")


def unit_of(name: str, bound: Bound) -> str:
    """Return the unit of a result; pure numbers have none."""
    if name in UNITS:
        return UNITS[name]
    if name in bound.numbers:
        return bound.numbers[name].unit
    return UNITS.get(name.partition(".")[0] + ".", "")
