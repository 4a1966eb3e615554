"""What each family of scenarios runs: its phases in order, its limits, its energy. One file a family, found by scanning."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from perfmodel.model.families._base import Family
from perfmodel.spec.scenario import Scenario


@functools.cache
def families() -> Mapping[str, type[Family]]:
    """Find every family of the folder, by name."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}").FAMILY for name in sorted(modules)}


def family(scenario: Scenario) -> Family:
    """Return a scenario as its family sees it."""
    return families()[scenario.workload.family].of(scenario)
