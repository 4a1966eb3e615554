"""What a search knows of each family of scenarios: its default space, its own results. One file a family, found by scanning."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from perfmodel.search.families._base import SearchFamily
from perfmodel.spec.scenario import Scenario

__all__ = ["SearchFamily", "search_families", "search_family"]


@functools.cache
def search_families() -> Mapping[str, type[SearchFamily]]:
    """Find every family of the folder, by name."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}").FAMILY for name in sorted(modules)}


def search_family(scenario: Scenario) -> SearchFamily:
    """Return a scenario as a search sees it; a family without a file of its own has what its plan's spec tells."""
    return search_families().get(scenario.workload.family, SearchFamily)(scenario)
