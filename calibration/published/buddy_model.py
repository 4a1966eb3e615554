"""Buddy's scenarios with their uncertain constants: times, and what they are made of, for sweeps of one number."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perfmodel.estimate import draws_of
from perfmodel.model.bound import Bound, Outcome, bind
from perfmodel.spec.scenario import Scenario, load_scenario

Array = NDArray[np.float64]

APPLICATIONS = ("histogram", "quicksilver", "sparse-transpose", "sssp", "triangle-counting")
SYSTEMS: Mapping[str, str] = {"none": "buddy-none", "x86": "buddy-x86", "dpu": "buddy-dpu"}
#: Threads and buffers that are tried: all cores of a BlueField-3, and twice as many buffers.
THREADS = np.arange(1.0, 17.0)
BUFFERS = np.arange(1.0, 33.0)


class Case(NamedTuple):
    """One application on one system."""

    application: str
    system: str


class Buddy:
    """The model as the published ratios ask for it.

    Parameters
    ----------
    profile : str or mapping, optional
        Laid over the catalog's.
    constants : array, optional
        Values of the profile's constants, in its order, in place of draws of them; results have one column then.
    changes : callable of Case, optional
        What a case has in place of the catalog's, by dotted key.
    """

    def __init__(
        self,
        profile: str | Mapping[str, Any] | None = None,
        constants: Array | None = None,
        changes: Callable[[Case], Mapping[str, Any]] | None = None,
    ) -> None:
        self.profile, self.constants, self.changes = profile, constants, changes
        self._scenario = functools.cache(self._loaded)

    def at(self, constants: Array) -> Buddy:
        """Return the same scenarios with other values of the profile's constants."""
        other = copy.copy(self)
        other.constants = constants
        return other

    def _loaded(self, case: Case) -> Scenario:
        changes = None if self.changes is None else self.changes(case)
        return load_scenario(case.application, SYSTEMS[case.system], profile=self.profile, changes=changes)

    def scenario(self, case: Case) -> Scenario:
        """Return the scenario of a case."""
        return self._scenario(case)

    def bound(self, case: Case) -> Bound:
        """Return the scenario of a case, ready to run."""
        return bind(self.scenario(case))

    def given(self, case: Case) -> Mapping[str, float]:
        """Return the constants in use by the keys they set, none where they are drawn."""
        if self.constants is None:
            return {}
        return {key: float(self.constants[p.index]) for p in self.scenario(case).uncertain for key in p.keys}

    def value(self, case: Case, key: str) -> float:
        """Return one number of a case."""
        return float({**self.bound(case).values, **self.given(case)}[key])

    def outcome(self, case: Case, key: str = "", values: Any = (), other: bool = False) -> Outcome:
        """Run a case over values of one number; results have a row for each of them and a column for each draw.

        Parameters
        ----------
        case : Case
        key : str
            Dotted key of the number, empty for none.
        values : array of shape (values,)
        other : bool
            Whether what the fit left over is drawn apart from that of other runs.
        """
        given: dict[str, Any] = dict(self.given(case))
        noise: Mapping[str, Any] = {}
        if self.constants is None:
            draws = draws_of(self.scenario(case))
            draws = draws.apart() if other else draws
            given, noise = dict(draws.values), draws.noise
        if key:
            given[key] = np.asarray(values, dtype=float)[:, None]
        return self.bound(case).run(given, noise)

    def times(self, case: Case, key: str = "", values: Any = (), other: bool = False) -> Array:
        """Return the time of a run [s]; shape (values, draws), or (draws,) without a key."""
        time = np.asarray(self.outcome(case, key, values, other).time, dtype=float)
        return np.atleast_1d(time) if not key else np.broadcast_to(time, (len(values), time.shape[-1]))

    def loads(self, case: Case) -> Array:
        """Return what the agent loads from its DRAM in a run [B]; shape (draws,)."""
        bound, outcome = self.bound(case), self.outcome(case)
        rate = bound.values["system.agent.memory_bandwidth"] * bound.values["system.agent.memory_efficiency"]
        return np.atleast_1d(np.asarray(outcome.phases["agent_memory"] * rate / 4.0, dtype=float))

    def sent(self, case: Case) -> float:
        """Return what all processes of a node send in a run [B]."""
        values = self.bound(case).values
        return float(values["workload.messages"] * values["workload.message_size"] * values["plan.processes"])
