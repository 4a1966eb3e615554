"""Of plans that are as good as each other, the one that changes the least."""

from __future__ import annotations

import numpy as np

from perfmodel.search.evaluator import Evaluator
from perfmodel.search.grid import Point


def plainest(evaluator: Evaluator, point: Point) -> Point:
    """Return a plan as good as another in every objective, that changes less of the scenario's own plan."""
    grid = evaluator.grid
    best = evaluator.points([point]).values[0]
    for place, axis in enumerate(grid.axes):
        position = point[place]
        if position is None or axis.span is not None or axis.now not in axis.values:
            continue
        wanted = (*point[:place], axis.values.index(axis.now), *point[place + 1 :])
        if wanted == point or any((value is not None) != grid.exists(at, wanted) for at, value in enumerate(wanted)):
            continue
        batch = evaluator.points([wanted])
        if batch.feasible[0] and np.all(batch.values[0] <= best):
            point = wanted
    return point
