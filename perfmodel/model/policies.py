"""How phases add up to the time of a mini-batch: named policies, part of the plan and of every result.

Each policy works on symbols as on arrays; ``maximum`` says which. ``stages`` are times by the device that is busy,
``fetch`` names those up to the mini-batch's arrival where it is computed on, and ``batches`` is how many mini-batches
share the filling of the pipeline.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

Maximum = Callable[[Any, Any], Any]


def sequential(stages: Mapping[str, Any], batches: Any, maximum: Maximum, fetch: tuple[str, ...]) -> Any:
    """Return the sum of all stages: LGNNIC's report."""
    return sum(stages.values())


def pipelined(stages: Mapping[str, Any], batches: Any, maximum: Maximum, fetch: tuple[str, ...]) -> Any:
    """Return the slowest stage, and the filling of the pipeline spread over an epoch's mini-batches."""
    slowest = functools.reduce(maximum, stages.values())
    return slowest + (sum(stages.values()) - slowest) / batches


def overlapped(stages: Mapping[str, Any], batches: Any, maximum: Maximum, fetch: tuple[str, ...]) -> Any:
    """Return the larger of fetching the next mini-batch and training on this one, and the first fetch spread out."""
    fetching = sum(time for stage, time in stages.items() if stage in fetch)
    computing = sum(time for stage, time in stages.items() if stage not in fetch)
    slower = maximum(fetching, computing)
    return slower + (fetching + computing - slower) / batches


def bottleneck(stages: Mapping[str, Any], batches: Any, maximum: Maximum, fetch: tuple[str, ...]) -> Any:
    """Return the slowest stage: all are busy at once for so long that filling and draining don't count."""
    return functools.reduce(maximum, stages.values())


POLICIES: Mapping[str, Callable[[Mapping[str, Any], Any, Maximum, tuple[str, ...]], Any]] = {
    "sum": sequential,
    "pipelined": pipelined,
    "overlap": overlapped,
    "bottleneck": bottleneck,
}
