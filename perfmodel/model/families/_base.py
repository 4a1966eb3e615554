"""What a family of scenarios tells the model: steps, what they run on, what follows from names, limits, energy."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from perfmodel.model.compose import Step
from perfmodel.spec.hardware import Device
from perfmodel.spec.scenario import Scenario


class Item(Protocol):
    """One of the things that a phase runs for, such as a tensor; a dataclass whose floats formulas may ask for."""

    @property
    def name(self) -> str:
        """Return its name, unique within its batch."""
        ...


@dataclasses.dataclass(frozen=True)
class Limit:
    """A need beside its limit, in one unit; floats or arrays."""

    rule: str
    need: Any
    limit: Any
    unit: str
    message: str


class Family(abc.ABC):
    """A scenario as its family sees it.

    Attributes
    ----------
    unit : str
        What the time is of: a mini-batch, a frame, a run.
    flattened : tuple of str
        Parts of the scenario all of whose numbers formulas take as they are, so that arrays may replace them.
    sent_kinds : tuple of str
        Kinds of bytes that results always name, though none are sent.
    fetch : tuple of str
        Stages that end when a batch has arrived, for the policy ``overlap``.
    transfer_steps : frozenset of str
        Steps whose residual factor is ``transfer``; that of all others is ``rest``.
    seen_with_others : frozenset of str
        Steps that a fit sees only together with others, and whose residual factor they share.
    scaled_by : str
        Key of the count of devices that share out the work; empty where there is none.
    """

    unit: ClassVar[str] = "mini-batch"
    flattened: ClassVar[tuple[str, ...]] = ("system", "plan")
    sent_kinds: ClassVar[tuple[str, ...]] = ()
    fetch: ClassVar[tuple[str, ...]] = ()
    transfer_steps: ClassVar[frozenset[str]] = frozenset()
    seen_with_others: ClassVar[frozenset[str]] = frozenset()
    scaled_by: ClassVar[str] = ""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.workload, self.plan, self.system = scenario.workload, scenario.plan, scenario.system

    @classmethod
    def of(cls, scenario: Scenario) -> Family:
        """Return a scenario as this family sees it; a family may have several ways of running."""
        return cls(scenario)

    @abc.abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """Return the steps in the order of the data."""

    def memory_steps(self) -> tuple[Step, ...]:
        """Return the memory needs: the last result of each is what the device ``where`` needs [B]."""
        return ()

    def energy_steps(self) -> tuple[Step, ...]:
        """Return the parts of the energy: the last result of each is one [J]."""
        return ()

    @property
    @abc.abstractmethod
    def batches_per_epoch(self) -> float:
        """Return how many times the unit of time fits in an epoch."""

    def batches_in(self, values: Mapping[str, Any]) -> Any:
        """Return the same where numbers of the scenario are replaced: a float or an array."""
        return self.batches_per_epoch

    def values(self) -> dict[str, float]:
        """Return what follows from the scenario by the keys that formulas use."""
        return {}

    def workload_values(self) -> dict[str, float]:
        """Return those values that change with the workload's numbers where these are not flattened."""
        return {}

    def items(self, step: Step, each: str) -> Sequence[Item]:
        """Return what a part with ``each`` runs for."""
        raise NotImplementedError(f"{type(self).__name__} has nothing to run {each} for")

    def names(self, step: Step, item: Item | None) -> dict[str, str]:
        """Return what stands for the placeholders in a quantity's key, beside ``{where}``."""
        return {"batch": step.batch, "item": "" if item is None else f"{step.batch}:{item.name}"}

    def key(self, quantity: str, step: Step) -> str | None:
        """Return the key that a quantity has in a step in place of the nomenclature's; None for that."""
        return None

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return results that phases may use and none of them gives."""
        return {}

    def limits(self, values: Mapping[str, Any]) -> list[Limit]:
        """Return limits beside those of memory."""
        return []

    def counts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many devices of each role the system has, by the role's name in the system."""
        return {name: 1.0 for name, spec in self.system if isinstance(spec, Device)}

    def energy(self, values: Mapping[str, Any], time: Any) -> Any | None:
        """Return the energy [J] where no energy step gives it; None where it is not known."""
        return None

    @property
    def even_counts(self) -> tuple[float, float]:
        """Return two counts of devices, few and many, each of which shares out the work evenly."""
        return 1.0, 2.0

    @property
    def nodes(self) -> float | None:
        """Return the nodes that the unit of time covers, None where there are none."""
        return None

    @property
    def edges(self) -> float | None:
        """Return the edges that the unit of time covers, None where there are none."""
        return None
