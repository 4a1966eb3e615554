"""M-DGNN's quantities from the model: times, shares and energies of any system, dataset, depth and number of devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.published.mdgnn_table import Configuration, Published
from perfmodel.model.bound import Outcome, bind
from perfmodel.spec.scenario import Scenario, load_scenario

Array = NDArray[np.float64]
#: Steps of the paper's phases; what is left is its Other.
GRAPH_PHASE = ("flash", "graph", "pool")
RECURRENT_PHASE = ("recurrence",)


def scenario(system: str, configuration: Configuration, profile: Mapping[str, Any] | str | None = None) -> Scenario:
    """Return a configuration on one of the paper's systems."""
    changes = {"plan.frame_length": configuration.layers, "plan.devices": configuration.csds}
    return load_scenario(f"dgnn-{configuration.dataset}", f"mdgnn-{system}", None, profile, changes)


class Quantities:
    """Evaluates rows; what was loaded and run once is not run again.

    Parameters
    ----------
    profile : mapping or str, optional
        Laid over the catalog.
    constants : callable of a scenario to mapping, optional
        Values of keys to lay over a scenario, floats or arrays of one shape.
    """

    def __init__(
        self,
        profile: Mapping[str, Any] | str | None = None,
        constants: Callable[[Scenario], Mapping[str, Any]] = lambda scenario: {},
    ) -> None:
        self.scenario = functools.cache(functools.partial(self._scenario, profile))
        self.outcome = functools.cache(self._outcome)
        self._constants = constants

    @staticmethod
    def _scenario(profile: Mapping[str, Any] | str | None, system: str, configuration: Configuration) -> Scenario:
        return scenario(system, configuration, profile)

    def _outcome(self, system: str, configuration: Configuration) -> Outcome:
        found = self.scenario(system, configuration)
        return bind(found).run(self._constants(found))

    def with_constants(self, constants: Callable[[Scenario], Mapping[str, Any]]) -> Quantities:
        """Return an evaluator of the same scenarios with other constants."""
        other = Quantities(None, constants)
        other.scenario = self.scenario
        return other

    def row(self, row: Published) -> Any:
        """Return a row's number, a float or an array."""
        values = [self._one(row, configuration) for configuration in row.configurations]
        if row.kind in ("peak", "upper bound"):
            return functools.reduce(np.maximum, values)
        return sum(values) / len(values)

    def _one(self, row: Published, configuration: Configuration) -> Any:
        if row.quantity == "RNN share of runtime":
            return self._share(row.system, configuration, RECURRENT_PHASE)
        if row.quantity == "control plane share of runtime":
            return self._share(row.system, configuration, ("control",))
        if row.quantity == "flash I/O share of the GNN phase":
            phases = self.outcome(row.system, configuration).phases
            whole = sum(phases.get(name, 0.0) for name in GRAPH_PHASE)
            return phases.get("flash", 0.0) / whole
        own = self.outcome(row.system, configuration)
        other = self.outcome(row.baseline, configuration._replace(csds=row.baseline_csds))
        if row.quantity == "end-to-end energy reduction":
            return 1.0 - own.energy / other.energy
        return other.time / own.time

    def _share(self, system: str, configuration: Configuration, names: tuple[str, ...]) -> Any:
        found = self.outcome(system, configuration)
        return sum(found.phases.get(name, 0.0) for name in names) / found.time
