"""Families of scenarios: which specs of workload, system and plan go together. One file a family, found by scanning."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Mapping

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.spec._base import NamedSpec
from perfmodel.spec.families._base import FamilyPlan, FamilySystem, FamilyWorkload

#: The family of a file that names none.
FIRST = "sampled-training"


@dataclasses.dataclass(frozen=True)
class FamilySpecs:
    """The specs of one family.

    Attributes
    ----------
    name : str
        As files write it: the module's name with hyphens.
    workload, system, plan : classes
    default_plan : str
        The catalog's plan for systems that name none.
    """

    name: str
    workload: type[FamilyWorkload]
    system: type[FamilySystem]
    plan: type[FamilyPlan]
    default_plan: str

    def of(self, kind: str) -> type[NamedSpec]:
        """Return the spec of one kind: ``workloads``, ``systems`` or ``plans``."""
        specs: dict[str, type[NamedSpec]] = {"workloads": self.workload, "systems": self.system, "plans": self.plan}
        return specs[kind]


@functools.cache
def families() -> Mapping[str, FamilySpecs]:
    """Find every family of the folder, by name.

    Examples
    --------
    >>> "sampled-training" in families()
    True
    """
    found: dict[str, FamilySpecs] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{__name__}.{info.name}")
            name = info.name.replace("_", "-")
            found[name] = FamilySpecs(name, module.Workload, module.System, module.Plan, module.DEFAULT_PLAN)
    return dict(sorted(found.items()))


def family_of(table: Mapping[str, object], where: str) -> FamilySpecs:
    """Return the family that a workload's, system's or plan's table belongs to.

    Raises
    ------
    SpecError
        Where it names one that does not exist.
    """
    name = table.get("family", FIRST)
    if not isinstance(name, str) or name not in families():
        rule = f"must be one of {', '.join(families())}"
        raise SpecError(f"{where}: family", rule, shown(name), nearest(str(name), families()))
    return families()[name]
