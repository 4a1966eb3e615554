"""Analytical performance model for offloading graph neural network training, with search for the best plan.

Examples
--------
>>> import perfmodel as pm
>>> scenario = pm.load_scenario(workload="reddit", system="lgnnic-doca-dma")
>>> pm.predict(scenario).feasible
True
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "load_scenario": "perfmodel.spec.scenario",
    "Scenario": "perfmodel.spec.scenario",
    "predict": "perfmodel.estimate",
    "Estimate": "perfmodel.estimate",
    "evaluate": "perfmodel.evaluation",
    "evaluate_frame": "perfmodel.frame",
    "search": "perfmodel.search.run",
    "SearchResult": "perfmodel.search.result",
    "Space": "perfmodel.search.space",
    "plan_capacity": "perfmodel.plan.capacity",
    "CapacityPlan": "perfmodel.plan.result",
}
__all__ = ["__version__", *_LAZY]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that importing the package stays free."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
