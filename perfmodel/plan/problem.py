"""The fleet problem as numbers: what can be bought, and what each job takes of it in each period, choice by choice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Item:
    """What is bought by the unit: a type of device, or of what devices share (hosts, switches, ports).

    Attributes
    ----------
    name : str
    price : float
        Of a unit [USD].
    idle_power : float
        Of a unit in service, whatever it does [W].
    owned : int
        Units in service from the start, paid for already.
    maximum : float
        Units that there can be, the owned ones among them.
    earliest : int
        First period in which a unit ordered now can serve.
    needs : mapping of item to float
        Slots of other items that a unit takes.
    slots : float
        Slots that a unit offers.
    service : float
        Mini-batches' work that a unit may have in hand on average; infinite where nothing is served.
    """

    name: str
    price: float
    idle_power: float = 0.0
    owned: int = 0
    maximum: float = float("inf")
    earliest: int = 0
    needs: Mapping[int, float] = dataclasses.field(default_factory=dict)
    slots: float = float("inf")
    service: float = float("inf")


@dataclasses.dataclass(frozen=True)
class Choice:
    """One way to run a job in a period.

    Attributes
    ----------
    item : int
        The type of device.
    shared : bool
        Whether its units are shared with other jobs; else the job has units of its own.
    copies : int
        Units that each of the job's instances runs on.
    share : float
        Of a unit that a copy takes: 1, or a power of 1/2 where it is shared.
    served : mapping of item to float
        Mini-batches' work that an instance keeps in hand on average at shared items.
    power : float
        That an instance adds to what idle units draw [W].
    """

    item: int
    shared: bool
    copies: int
    share: float = 1.0
    served: Mapping[int, float] = dataclasses.field(default_factory=dict)
    power: float = 0.0

    @property
    def taken(self) -> float:
        """Return the units that an instance takes; shares are powers of 1/2, which fill whole units without a gap."""
        return self.copies * self.share


@dataclasses.dataclass(frozen=True)
class Problem:
    """Which fleet is cheapest.

    Attributes
    ----------
    items : tuple of Item
    durations : tuple of float
        Of the periods [s].
    counts : tuple by job of tuples by period of int
        Instances of each job.
    choices : tuple by job of tuples by period of tuples of Choice
    joule_price : float
        Of the energy that devices draw [USD/J].
    budget : float
        For devices and energy over all periods [USD].
    """

    items: tuple[Item, ...]
    durations: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    choices: tuple[tuple[tuple[Choice, ...], ...], ...]
    joule_price: float = 0.0
    budget: float = float("inf")

    def first(self, periods: int) -> Problem:
        """Return the problem of the first periods alone."""
        return dataclasses.replace(
            self,
            durations=self.durations[:periods],
            counts=tuple(row[:periods] for row in self.counts),
            choices=tuple(row[:periods] for row in self.choices),
        )


@dataclasses.dataclass(frozen=True)
class Solution:
    """The cheapest fleet.

    Attributes
    ----------
    units : tuple by period of tuples by item of int
        In service.
    runs : tuple by job of tuples by period of mappings of the choice's position to int
        Instances under each choice.
    cost, bound : float
        Of devices and energy, and what no fleet can be below [USD].
    nodes : int
        Of the solver's search tree.
    seconds : float
    """

    units: tuple[tuple[int, ...], ...]
    runs: tuple[tuple[Mapping[int, int], ...], ...]
    cost: float
    bound: float
    nodes: int
    seconds: float
