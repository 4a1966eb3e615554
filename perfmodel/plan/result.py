"""The result of a capacity plan: frozen, and as JSON with the number of its schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import perfmodel
from perfmodel.documents import read
from perfmodel.model.compile import model_hash

SCHEMA: Final = 1


@dataclasses.dataclass(frozen=True)
class JobRun:
    """How a job runs in a period.

    Attributes
    ----------
    job, device : str
    instances : int
        Of the job that run so; one job may run in several ways.
    shared : bool
        Whether its units are shared with other jobs.
    copies : int
        Units that each instance runs on.
    share : float
        Of each of these units.
    epoch_time_s, target_s : float
        Time of an epoch at the estimate, and what the target leaves for it [s].
    p_meets_target : float
    """

    job: str
    device: str
    instances: int
    shared: bool
    copies: int
    share: float
    epoch_time_s: float
    target_s: float
    p_meets_target: float


@dataclasses.dataclass(frozen=True)
class Resource:
    """What may run out: load beside limit, in one unit.

    Attributes
    ----------
    name : str
    load, limit : float
    unit : str
    """

    name: str
    load: float
    limit: float
    unit: str

    @property
    def utilization(self) -> float:
        """Return the share of the limit that is used."""
        return self.load / self.limit if self.limit > 0 else 0.0

    @property
    def headroom(self) -> float:
        """Return the share of the limit that is left."""
        return 1.0 - self.utilization


@dataclasses.dataclass(frozen=True)
class Period:
    """One period of the plan.

    Attributes
    ----------
    period : int
    start_s, length_s : float
    fleet, bought : mapping of name to units
        In service, and new in this period.
    capital, energy_cost : float
        [USD]
    energy_j : float
        With the facility's overhead [J].
    resources : tuple of Resource
    limiting : str
        The resource with the least headroom.
    jobs : tuple of JobRun
    p_meets_target : mapping of job to float
        Probability that all its instances do.
    p_all : float
        That all jobs do.
    """

    period: int
    start_s: float
    length_s: float
    fleet: Mapping[str, int]
    bought: Mapping[str, int]
    capital: float
    energy_cost: float
    energy_j: float
    resources: tuple[Resource, ...]
    limiting: str
    jobs: tuple[JobRun, ...]
    p_meets_target: Mapping[str, float]
    p_all: float

    @property
    def cost(self) -> float:
        """Return what the period costs [USD]."""
        return self.capital + self.energy_cost

    def to_dict(self) -> dict[str, Any]:
        """Return the period as plain values."""
        resources = [
            {**vars(each), "utilization": each.utilization, "headroom": each.headroom} for each in self.resources
        ]
        return {
            **dataclasses.asdict(self),
            "cost": self.cost,
            "resources": resources,
            "utilization": {each.name: each.utilization for each in self.resources},
            "headroom": {each.name: each.headroom for each in self.resources},
        }


@dataclasses.dataclass(frozen=True)
class Order:
    """Units to order, and when.

    Attributes
    ----------
    order_s, arrives_s : float
        From the start of the first period; before it where negative [s].
    """

    name: str
    units: int
    order_s: float
    arrives_s: float
    period: int
    price: float


@dataclasses.dataclass(frozen=True)
class Missing:
    """Why no fleet meets the targets of a period, and what would be missing.

    Attributes
    ----------
    period : int
        The first that no fleet can serve.
    rule : str
        ``memory.NAME``, ``replicas``, ``limit``, ``budget``, ``maximum``, ``lead_time`` or ``targets``.
    need, limit : float
        In ``unit``.
    message : str
    share_met : float
        The largest share of all targets of that period that a fleet meets.
    dropped : tuple of str
        Jobs that would go unserved, served in the order of their priority.
    """

    period: int
    rule: str
    need: float
    limit: float
    unit: str
    message: str
    share_met: float
    dropped: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class FleetProof:
    """How good the fleet is known to be: nothing costs less than ``bound``, in a search of so many nodes."""

    cost: float
    bound: float
    nodes: int
    seconds: float

    @property
    def gap(self) -> float:
        """Return by what share the fleet may be above the cheapest; 0 where it is proven to be it."""
        return self.cost / self.bound - 1.0 if self.bound > 0 else float(self.cost > self.bound)


@dataclasses.dataclass(frozen=True, eq=False)
class CapacityPlan:
    """The cheapest fleet of every period that has one; ``to_dict`` gives the JSON document.

    Attributes
    ----------
    confidence : float
        With which each target was to be met.
    quantile : float
        Of the model's uncertainty at which the fleet was sized, so that the confidence is reached.
    missing : Missing or None
        None where every period has a fleet.
    """

    name: str
    periods: tuple[Period, ...]
    orders: tuple[Order, ...]
    confidence: float
    quantile: float
    proof: FleetProof | None
    missing: Missing | None
    inputs: Mapping[str, str]
    seconds: float
    warnings: tuple[str, ...] = ()
    perfmodel: str = dataclasses.field(default_factory=lambda: perfmodel.__version__)
    model: str = dataclasses.field(default_factory=model_hash)

    @property
    def feasible(self) -> bool:
        """Whether every period has a fleet."""
        return self.missing is None

    @property
    def cost(self) -> float:
        """Return what all periods cost [USD]."""
        return sum(period.cost for period in self.periods)

    @property
    def capital(self) -> float:
        """Return what is spent on devices [USD]."""
        return sum(period.capital for period in self.periods)

    @property
    def energy_cost(self) -> float:
        """Return what is spent on energy [USD]."""
        return sum(period.energy_cost for period in self.periods)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "perfmodel": self.perfmodel,
            "model": self.model,
            "name": self.name,
            "feasible": self.feasible,
            "cost": self.cost,
            "capital": self.capital,
            "energy_cost": self.energy_cost,
            "confidence": self.confidence,
            "quantile": self.quantile,
            "periods": [period.to_dict() for period in self.periods],
            "orders": [dataclasses.asdict(order) for order in self.orders],
            "first_failing_period": None if self.missing is None else self.missing.period,
            "missing": None if self.missing is None else dataclasses.asdict(self.missing),
            "proof": None if self.proof is None else {**dataclasses.asdict(self.proof), "gap": self.proof.gap},
            "seconds": self.seconds,
            "warnings": list(self.warnings),
            "inputs": dict(self.inputs),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CapacityPlan:
        """Return the plan that a document of this or an earlier version holds.

        Raises
        ------
        SpecError
            No such document, or one of a newer schema.
        """
        return read(cls, document, SCHEMA, "capacity plan")
