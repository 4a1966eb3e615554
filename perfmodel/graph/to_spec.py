"""From a measured graph to a workload spec that can be written to a file and predicted with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfmodel.graph.measure import MeasuredGraph
from perfmodel.graph.profile import NodeClasses


def workload_table(
    measured: MeasuredGraph, name: str, batch: float, fanout: Sequence[int], semantics: str, feature_dimension: float
) -> dict[str, Any]:
    """Return a workload spec of a measured graph, degree classes and correction included.

    Parameters
    ----------
    measured : MeasuredGraph
    name : str
        Name of the workload and its graph.
    batch, fanout, semantics
        Sampling of the workload.
    feature_dimension : float
        Elements of a feature row: a graph file does not say.

    Returns
    -------
    dict
        Ready for ``load_scenario`` or a TOML file.
    """
    profile = measured.profile
    node_types = {
        node_type: {
            "nodes": classes.nodes,
            "feature_dimension": feature_dimension,
            "classes": _class_table(classes),
        }
        for node_type, classes in profile.node_types.items()
    }
    relations = [
        {
            "source": relation.source,
            "name": relation.name,
            "target": relation.target,
            "edges": profile.edges(relation),
            "source_slot": relation.source_slot,
            "target_slot": relation.target_slot,
        }
        for relation in profile.relations
    ]
    entered: dict[str, float] = {}  # training starts where most edges lead to, as in the measurement of clustering
    for relation in profile.relations:
        entered[relation.target] = entered.get(relation.target, 0.0) + profile.edges(relation)
    first = max(entered, key=lambda name: entered[name])
    counted = f"measured: {name}, sha256 {measured.sha256}"
    return {
        "name": name,
        "title": f"measured graph, {measured.nodes} nodes, {measured.edges} edges",
        "graph": {
            "name": name,
            "directed": not measured.symmetric,
            "node_types": node_types,
            "relations": relations,
            "reach": list(profile.reach),
            "sources": {"*": counted, **_feature_sources(node_types)},
        },
        "sampling": {
            "batch": float(batch),
            "fanout": list(fanout),
            "semantics": semantics,
            "seeds": {"node_type": first, "nodes": profile.node_types[first].nodes},
        },
        "sources": {
            "*": "assumed: default of the graph command",
            "sampling.seeds": "assumed: all nodes train, uniformly",
        },
    }


def _class_table(classes: NodeClasses) -> dict[str, Any]:
    total = float(classes.share.sum())
    return {
        "share": [float(share) / total for share in classes.share],
        "degree": {slot: [float(value) for value in degree] for slot, degree in classes.degree.items()},
    }


def _feature_sources(node_types: dict[str, Any]) -> dict[str, str]:
    return {f"node_types.{name}.feature_dimension": "assumed: set when the file was made" for name in node_types}
