"""Growth: what a job's workload is in each period, as changes of its scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfmodel.errors import SpecError
from perfmodel.spec.fleet import YEAR, Growth, Periods
from perfmodel.spec.scenario import Scenario


def factors(rate: float | Sequence[float], periods: Periods) -> NDArray[np.float64]:
    """Return the factor of each period on the first value, at the period's start.

    Parameters
    ----------
    rate : float or sequence of float
        A factor a year, compounded, or the factors themselves.
    periods : Periods

    Returns
    -------
    array of shape (periods,)

    Examples
    --------
    >>> from perfmodel.spec.fleet import Periods
    >>> factors(4.0, Periods(count=3, length=31557600.0 / 2)).tolist()
    [1.0, 2.0, 4.0]
    """
    if isinstance(rate, (int, float)):
        years = np.arange(periods.number) * (periods.length / YEAR)
        found = np.asarray(float(rate) ** years)
    else:
        found = np.asarray(rate, dtype=np.float64)
    if not np.all(np.isfinite(found)) or np.any(found > 1e12):
        raise SpecError("growth", "must stay below 1e12 times the first value", f"{rate} over {periods.number} periods")
    return found


def counts(count: float, growth: Growth, periods: Periods) -> tuple[int, ...]:
    """Return the jobs of a kind in each period, rounded up."""
    return tuple(int(np.ceil(count * factor * (1.0 - 1e-12))) for factor in factors(growth.jobs, periods))


def grown(scenario: Scenario, growth: Growth, periods: Periods, where: str) -> tuple[Mapping[str, Any], ...]:
    """Return the changes of a scenario in each period.

    Parameters
    ----------
    scenario : Scenario
        Of the first values.
    growth : Growth
    periods : Periods
    where : str
        Named in errors.

    Raises
    ------
    SpecError
        Where a workload has nothing of what is to grow.
    """
    nodes = factors(growth.nodes, periods)
    edges = nodes if growth.edges is None else factors(growth.edges, periods)
    features = factors(growth.features, periods)
    values = {key: (_value(scenario, key, where), factors(rate, periods)) for key, rate in growth.values.items()}
    graph = getattr(scenario.workload, "graph", None)
    still = bool(np.all(nodes == 1.0) and np.all(edges == 1.0) and np.all(features == 1.0))
    if not still and not hasattr(graph, "node_types"):
        rule = "must leave out nodes, edges and features: its workload has no graph; use growth.values"
        raise SpecError(f"{where}.growth", rule, scenario.workload.name, 'values = { "workload.messages" = 1.2 }')
    found: list[dict[str, Any]] = []
    for t in range(periods.number):
        changes = {key: first * series[t] for key, (first, series) in values.items() if series[t] != 1.0}
        if not still and (nodes[t], edges[t], features[t]) != (1.0, 1.0, 1.0):
            changes |= _graph(scenario, float(nodes[t]), float(edges[t]), float(features[t]))
        found.append(changes)
    return tuple(found)


def _value(scenario: Scenario, key: str, where: str) -> float:
    node: Any = scenario
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else getattr(node, part, None)
    if not key.startswith("workload.") or isinstance(node, bool) or not isinstance(node, (int, float)):
        rule = "must be a number of the workload, as --set names it"
        raise SpecError(f"{where}.growth.values", rule, key, "workload.sampling.batch")
    return float(node)


def _graph(scenario: Scenario, nodes: float, edges: float, features: float) -> dict[str, Any]:
    """Return a graph that has grown: degrees keep their distribution around a mean that moves with edges over nodes."""
    table, degree = scenario.workload.graph.model_dump(), edges / nodes
    types: dict[str, Any] = {}
    for name, spec in table["node_types"].items():
        slots = {
            slot: known if known["largest"] is None else {**known, "largest": known["largest"] * max(degree, 1.0)}
            for slot, known in spec["degrees"].items()
        }
        types[name] = {
            **spec,
            "nodes": spec["nodes"] * nodes,
            "feature_dimension": spec["feature_dimension"] * features,
            "degrees": slots,
            "classes": _classes(spec["classes"], degree),
        }
    changes: dict[str, Any] = {
        "workload.graph.node_types": types,
        "workload.graph.relations": [{**each, "edges": each["edges"] * edges} for each in table["relations"]],
    }
    seeds = getattr(getattr(scenario.workload, "sampling", None), "seeds", None)
    if seeds is not None:
        changes["workload.sampling.seeds.nodes"] = seeds.nodes * nodes
    return changes


def _classes(classes: Mapping[str, Any] | None, degree: float) -> Mapping[str, Any] | None:
    """Return measured classes with every degree in proportion."""
    if classes is None:
        return None
    return {**classes, "degree": {slot: [one * degree for one in row] for slot, row in classes["degree"].items()}}
