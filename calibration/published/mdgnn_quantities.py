"""M-DGNN's quantities from the model: times, shares and energies of any system, dataset, depth and number of devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration.published.mdgnn_table import Configuration, Published
from perfmodel.estimate import draws_of
from perfmodel.model.bound import Outcome, bind
from perfmodel.spec.scenario import Scenario, load_scenario

Array = NDArray[np.float64]
Changes = Callable[[str, str], Mapping[str, Any]]
#: Steps of the paper's phases; what is left is its Other.
GRAPH_PHASE = ("flash", "block_reads", "copy", "graph", "pool", "neighbors")
FLASH = ("flash", "block_reads")
RECURRENT_PHASE = ("recurrence",)


class Shape(NamedTuple):
    """Depth and devices of a configuration."""

    layers: int
    csds: int


class Quantities:
    """Evaluates rows; each system and dataset runs once, over all depths and devices that the rows name.

    Parameters
    ----------
    rows : sequence of Published
        What will be asked for.
    profile : mapping or str, optional
        Laid over the catalog.
    changes : callable of a system and a dataset to a mapping, optional
        What their scenario has in place of the catalog's, by dotted key.
    """

    def __init__(
        self,
        rows: Sequence[Published],
        profile: Mapping[str, Any] | str | None = None,
        changes: Changes | None = None,
    ) -> None:
        self._shapes: dict[tuple[str, str], dict[Shape, int]] = {}
        for row in rows:
            for configuration in row.configurations:
                self._ask(row.system, configuration)
                if row.baseline:
                    self._ask(row.baseline, configuration._replace(csds=row.baseline_csds))
        self._profile, self._changes = profile, changes
        self._constants: Array | None = None
        self.scenario = functools.cache(self._scenario)
        self._outcome = functools.cache(self._run)

    def at(self, constants: Array | None) -> Quantities:
        """Return the same scenarios with values of the profile's constants, by its order, in place of draws of them."""
        other = object.__new__(Quantities)
        other.__dict__.update(self.__dict__)
        other._constants = constants
        other._outcome = functools.cache(other._run)
        return other

    def scenarios(self) -> list[Scenario]:
        """Return every scenario that rows are of."""
        return [self.scenario(system, dataset) for system, dataset in self._shapes]

    @property
    def residual(self) -> float:
        """Return what the profile's fit left over, as a standard deviation [log]."""
        profiles = self.scenarios()[0].profiles
        return max((float(profile.residual.get("rest", 0.0)) for profile in profiles.values()), default=0.0)

    def _ask(self, system: str, configuration: Configuration) -> None:
        shapes = self._shapes.setdefault((system, configuration.dataset), {})
        shapes.setdefault(Shape(configuration.layers, configuration.csds), len(shapes))

    def _scenario(self, system: str, dataset: str) -> Scenario:
        changes = {} if self._changes is None else self._changes(system, dataset)
        return load_scenario(f"dgnn-{dataset}", f"mdgnn-{system}", None, self._profile, changes)

    def _run(self, system: str, dataset: str) -> Outcome:
        """Return an outcome with a row for each depth and number of devices, and a column for each draw."""
        found = self.scenario(system, dataset)
        shapes = np.array(list(self._shapes[system, dataset]), dtype=float)
        given: dict[str, Any] = {}
        if self._constants is None:
            given = dict(draws_of(found).values)
        else:
            given = {key: float(self._constants[p.index]) for p in found.uncertain for key in p.keys}
        given |= {"plan.frame_length": shapes[:, :1], "plan.devices": shapes[:, 1:]}
        return bind(found).run(given)

    def _at(self, system: str, configuration: Configuration) -> tuple[Outcome, int]:
        shape = Shape(configuration.layers, configuration.csds)
        return self._outcome(system, configuration.dataset), self._shapes[system, configuration.dataset][shape]

    def row(self, row: Published) -> Array:
        """Return a row's number, for each draw; the first is the point estimate."""
        values = np.stack(np.broadcast_arrays(*(self._one(row, configuration) for configuration in row.configurations)))
        return np.asarray(values.max(axis=0) if row.kind in ("peak", "upper bound") else values.mean(axis=0))

    def time(self, system: str, configuration: Configuration) -> Array:
        """Return the time of a frame [s], for each draw."""
        return self._of(*self._at(system, configuration), "time")

    def energy(self, system: str, configuration: Configuration) -> Array:
        """Return the energy of a frame [J], for each draw."""
        return self._of(*self._at(system, configuration), "energy")

    def phases(self, system: str, configuration: Configuration, names: Sequence[str]) -> Array:
        """Return the time of some steps [s], as many as the system has of them."""
        outcome, index = self._at(system, configuration)
        parts = [_pick(outcome.phases[name], index) for name in names if name in outcome.phases]
        return np.asarray(sum(parts)) if parts else np.zeros(1)

    @staticmethod
    def _of(outcome: Outcome, index: int, name: str) -> Array:
        return _pick(getattr(outcome, name), index)

    def _one(self, row: Published, configuration: Configuration) -> Array:
        if row.quantity == "RNN share of runtime":
            return self._share(row.system, configuration, RECURRENT_PHASE)
        if row.quantity == "control plane share of runtime":
            return self._share(row.system, configuration, ("control",))
        if row.quantity == "flash I/O share of the GNN phase":
            return self.phases(row.system, configuration, FLASH) / self.phases(row.system, configuration, GRAPH_PHASE)
        baseline = configuration._replace(csds=row.baseline_csds)
        if row.quantity == "end-to-end energy reduction":
            return 1.0 - self.energy(row.system, configuration) / self.energy(row.baseline, baseline)
        return self.time(row.baseline, baseline) / self.time(row.system, configuration)

    def _share(self, system: str, configuration: Configuration, names: tuple[str, ...]) -> Array:
        return self.phases(system, configuration, names) / self.time(system, configuration)


def _pick(values: Any, index: int) -> Array:
    """Return one configuration's row of a result, which may be the same for all."""
    found = np.atleast_1d(np.asarray(values, dtype=float))
    return np.asarray(found[index] if found.ndim > 1 and found.shape[0] > 1 else np.ravel(found))
