"""What the regressions see of a configuration: all of its fields, and what a practitioner would derive from them.

Counts of the mini-batch are those that perfmodel expects from the graph's degrees: more than a practitioner has at hand.
Nothing of the calibration is in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.pipeline.configuration import Configuration
from perfmodel.model.bound import bind
from perfmodel.spec.precision import PRECISIONS
from perfmodel.spec.scenario import Scenario

Array = NDArray[np.float64]

_MOST_HOPS: Final = 3
_COUNTS: Final = (
    "batch.nodes", "batch.edges", "batch.expanded", "batch.elements", "training.product_flop", "training.passed_elements",
    "training.read_elements", "training.written_elements", "training.saved_bytes",
)  # fmt: skip


def table(asked: Sequence[Configuration], scenarios: Sequence[Scenario]) -> tuple[list[str], Array]:
    """Return names and values, of shape (configurations, features); sizes as logarithms, choices as 0 and 1."""
    rows = [features(each, scenario) for each, scenario in zip(asked, scenarios, strict=True)]
    return list(rows[0]), np.array([list(row.values()) for row in rows])


def features(asked: Configuration, scenario: Scenario) -> dict[str, float]:
    """Return what the regressions see of one configuration."""
    return {**_fields(asked), **_derived(asked, scenario)}


def _fields(asked: Configuration) -> dict[str, float]:
    graph = asked.graph
    sizes = {
        "graph nodes": graph.nodes, "mean degree": graph.mean_degree, "graph edges": graph.nodes * graph.mean_degree,
        "dimension": asked.dimension, "hidden": asked.hidden, "classes": asked.classes, "batch": asked.batch,
        "chunk": asked.chunk, "window": asked.window, "table bytes": 4.0 * graph.nodes * asked.dimension,
        **{f"fanout {hop}": 1 + (asked.fanout[hop] if hop < len(asked.fanout) else 0) for hop in range(_MOST_HOPS)},
    }  # fmt: skip
    choices = {
        "spread of degrees": graph.spread, "hops": len(asked.fanout), "bytes of an element": PRECISIONS[asked.precision][0],
        **{name: asked.precision == name for name in PRECISIONS},
        "tcp": asked.mechanism == "tcp", "offloaded": asked.placement == "memory-node", "workers": asked.workers,
        "any worker": asked.workers > 0,
    }  # fmt: skip
    logs = {name: math.log(value) for name, value in sizes.items()}
    return logs | {name: float(value) for name, value in choices.items()}


def _derived(asked: Configuration, scenario: Scenario) -> dict[str, float]:
    bound = bind(scenario)
    sizes = {f"sent {kind}": float(size) for kind, size in bound.run({}).bytes.items()}
    sizes |= {
        "sent bytes": sum(sizes.values()),
        "chunks": sum(math.ceil(size / asked.chunk) for size in sizes.values()),
        **{name: float(bound.values[name]) for name in _COUNTS},
    }
    return {f"log {name}": math.log(max(value, 1.0)) for name, value in sizes.items()}
