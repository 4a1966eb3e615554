"""Fleets: jobs with targets and growth, what can be bought, and what it may cost. The file of ``perfmodel plan``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from perfmodel.errors import nearest, shown
from perfmodel.spec._base import NamedSpec, Spec, Within, pydantic_error

YEAR = 31557600.0  # s
DAY = 86400.0  # s
_FACTOR = Within("", high=1e6, above=True)

Price = Annotated[float, Within("USD")]
Power = Annotated[float, Within("W")]
Whole = Annotated[float, Within("", high=1e5, whole=True)]
Time = Annotated[float, Within("s")]
Utilization = Annotated[float, Within("", low=0.01, high=0.99)]
#: An entry of the catalog by name, file or table.
Entry = str | Mapping[str, Any]


def _growth(value: object) -> object:
    """Accept a factor a year, or a list of factors, one for each period."""
    if isinstance(value, (list, tuple)):
        if not value:
            raise pydantic_error("must have one factor for each period", "none", "[1.0, 1.2]")
        return tuple(_FACTOR.check(factor) for factor in value)
    return _FACTOR.check(value)


def _several(value: object) -> object:
    """Accept one entry beside a list of them."""
    return (value,) if isinstance(value, (str, Mapping)) else value


_ENTRY = {"anyOf": [{"type": "string"}, {"type": "object"}]}
_ONE_OR_SEVERAL = {"anyOf": [*_ENTRY["anyOf"], {"type": "array", "items": _ENTRY}]}

Rate = Annotated[float | tuple[float, ...], BeforeValidator(_growth)]


class Growth(Spec):
    """How a job grows: a factor a year, compounded, or a list of factors on the first values, one for each period.

    Attributes
    ----------
    nodes : float or tuple
        Of every node type, and of the training nodes.
    edges : float or tuple, optional
        Of every relation; as the nodes where left out, so that mean degrees stay. Degrees keep their distribution.
    features : float or tuple
        Of the features of a node.
    jobs : float or tuple
        Of the count of such jobs, rounded up.
    values : mapping of dotted key to float or tuple
        Of any other number of the workload, e.g. ``workload.messages``.
    """

    nodes: Rate = 1.0
    edges: Rate | None = None
    features: Rate = 1.0
    jobs: Rate = 1.0
    values: Mapping[str, Rate] = {}


class JobSpec(Spec):
    """A workload that must be trained again and again.

    Attributes
    ----------
    family : str, optional
        Which its workload must be of.
    epochs_per_day, deadline : float
        The target: epochs in a day, or the time of one epoch [s].
    priority : float
        Where not all jobs can be served, those of the highest priority are first.
    count : float
        How many such jobs there are.
    replicas : float, optional
        Units that one of them can train on at once.
    devices : tuple of str, optional
        Types of device that it may run on; all whose system is of its family where left out.
    set : mapping
        Changes of its scenarios, as ``--set`` takes them.
    """

    name: str
    workload: Entry
    family: str | None = None
    epochs_per_day: Annotated[float, Within("", high=1e9, above=True)] | None = None
    deadline: Annotated[float, Within("s", above=True)] | None = None
    priority: Annotated[float, Within("", low=-1e6, high=1e6)] = 1.0
    count: Annotated[float, Within("", low=1.0, high=1e5, whole=True)] = 1.0
    replicas: Annotated[float, Within("", low=1.0, high=1e5, whole=True)] | None = None
    devices: tuple[str, ...] | None = None
    plan: Entry | None = None
    set: Mapping[str, Any] = {}
    growth: Growth = Growth()

    @model_validator(mode="after")
    def _one_target(self) -> JobSpec:
        if self.epochs_per_day is None and self.deadline is None:
            raise pydantic_error("must have a target: epochs_per_day or deadline", "neither", "epochs_per_day = 1")
        if self.epochs_per_day is not None and self.deadline is not None:
            implied = DAY / self.epochs_per_day
            if abs(self.deadline / implied - 1.0) > 1e-9:
                raise pydantic_error(
                    "has targets that contradict each other: epochs_per_day and deadline",
                    f"{self.epochs_per_day:g} epochs a day, which leaves {implied:g} s for each, and {self.deadline:g} s",
                    f'deadline = "{implied:g} s", or one of the two',
                )
        return self

    @property
    def epoch_time(self) -> float:
        """Return the time that the target leaves for an epoch [s]."""
        return DAY / self.epochs_per_day if self.epochs_per_day is not None else float(self.deadline or 0.0)


class Buyable(Spec):
    """What is bought by the unit.

    Attributes
    ----------
    price : float, optional
        Of a unit [USD]; the sum of its devices' prices where left out.
    power, idle_power : float, optional
        What a unit draws when it works and when it doesn't [W]; the sum of its devices' power, and the same.
    lead_time : float
        From order to service [s].
    maximum : float, optional
        Units that there can be.
    owned : float
        Units in service from the start, paid for already.
    needs : mapping of name to float
        Slots that a unit takes of what is shared.
    """

    name: str
    price: Price | None = None
    power: Power | None = None
    idle_power: Power | None = None
    lead_time: Time = 0.0
    maximum: Whole | None = None
    owned: Whole = 0.0
    needs: Mapping[str, Annotated[float, Within("", high=1e6)]] = {}


class DeviceType(Buyable):
    """A type of device: a unit is a whole system on which a job runs, or several jobs share.

    Attributes
    ----------
    system : tuple
        The system that a unit is: a name, a file or a table, or a list with one for each family of jobs.
    shares : mapping of stage to name
        Stages of the system that run on what is shared in place of the unit itself: ``{ compute_node = "host" }``.
    utilization : float
        How busy a stage of a unit that jobs share may be.
    """

    system: Annotated[tuple[Entry, ...], BeforeValidator(_several), WithJsonSchema(_ONE_OR_SEVERAL)]
    plan: Entry | None = None
    set: Mapping[str, Any] = {}
    shares: Mapping[str, str] = {}
    utilization: Utilization = 0.7


class SharedType(Buyable):
    """What units share: a host that takes several, a switch, a port of a network card.

    Attributes
    ----------
    slots : float, optional
        That a unit of it offers to what ``needs`` it.
    servers : float
        Mini-batches that it works on at once, for the stages that run on it.
    utilization : float
        How busy it may be.
    """

    price: Price
    slots: Annotated[float, Within("", high=1e6, above=True)] | None = None
    servers: Annotated[float, Within("", high=1e6, above=True)] = 1.0
    utilization: Utilization = 0.7


class Periods(Spec):
    """The horizon: periods of one length, and how long before the first one orders can be placed (any time if left out)."""

    count: Annotated[float, Within("", low=1.0, high=1000.0, whole=True)]
    length: Annotated[float, Within("s", above=True)]
    notice: Time | None = None

    @property
    def number(self) -> int:
        """Return the count as an integer."""
        return int(self.count)


class Money(Spec):
    """What there is for devices and energy over all periods, what energy costs, and facility power over device power."""

    budget: Annotated[float, Within("USD", infinite=True)] = float("inf")
    energy_price: Annotated[float, Within("USD/J")] = 0.0
    overhead: Annotated[float, Within("", low=1.0, high=10.0)] = 1.0


class Fleet(NamedSpec):
    """Jobs, what can be bought for them, and the horizon.

    Attributes
    ----------
    confidence : float
        Probability with which each target must be met, under the model's uncertainty.
    """

    periods: Periods
    money: Money = Money()
    confidence: Annotated[float, Within("", low=0.01, high=0.99)] = 0.9
    jobs: tuple[JobSpec, ...]
    devices: tuple[DeviceType, ...]
    shared: tuple[SharedType, ...] = ()

    @model_validator(mode="after")
    def _names_are_known(self) -> Fleet:
        if not self.jobs:
            raise pydantic_error("jobs must have at least one job", "none", "[[jobs]]")
        if not self.devices:
            raise pydantic_error("devices must have at least one type of device", "an empty fleet", "[[devices]]")
        _distinct("jobs", self.jobs)
        _distinct("devices and shared", (*self.devices, *self.shared))
        devices, shared = [each.name for each in self.devices], [each.name for each in self.shared]
        for number, job in enumerate(self.jobs):
            for name in job.devices or ():
                _known(f"jobs.{number}.devices", name, devices)
            for where, rate in _rates(f"jobs.{number}.growth", job.growth):
                if isinstance(rate, tuple) and len(rate) != self.periods.number:
                    rule = f"{where} must have one factor for each of the {self.periods.number} periods"
                    raise pydantic_error(rule, f"{len(rate)} factors", None)
        for kind, types in (("devices", self.devices), ("shared", self.shared)):
            for number, each in enumerate(types):
                for name in each.needs:
                    _known(f"{kind}.{number}.needs", name, shared)
                _draws(f"{kind}.{number}", each)
        for number, device in enumerate(self.devices):
            for name in device.shares.values():
                _known(f"devices.{number}.shares", name, shared)
        self._slots_are_there()
        return self

    def _slots_are_there(self) -> None:
        by_name = {each.name: each for each in self.shared}
        for each in (*self.devices, *self.shared):
            for name in each.needs:
                if by_name[name].slots is None:
                    raise pydantic_error(f"shared {name} must have slots: {each.name} needs some", "none", "slots = 4")
                if name == each.name:
                    raise pydantic_error(f"shared {name} must not need itself", "itself", None)


def _distinct(where: str, parts: Sequence[Any]) -> None:
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise pydantic_error(
                f"{where} must have names of their own", f"{names.count(name)} named {name}", f"{name}-2"
            )


def _known(where: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        rule = f"{where} must name one of the file's {'devices' if where.endswith('.devices') else 'shared types'}"
        raise pydantic_error(rule, shown(name), nearest(name, known))


def _draws(where: str, each: Buyable) -> None:
    if each.power is not None and each.idle_power is not None and each.idle_power > each.power:
        raise pydantic_error(
            f"{where}.idle_power must be at most the power", f"{each.idle_power:g} W", f"{each.power:g} W"
        )
    if each.maximum is not None and each.owned > each.maximum:
        raise pydantic_error(f"{where}.owned must be at most the maximum", f"{each.owned:g}", f"{each.maximum:g}")


def _rates(where: str, growth: Growth) -> list[tuple[str, Any]]:
    named = [(f"{where}.{name}", getattr(growth, name)) for name in ("nodes", "edges", "features", "jobs")]
    return [*named, *((f"{where}.values.{key}", rate) for key, rate in growth.values.items())]
