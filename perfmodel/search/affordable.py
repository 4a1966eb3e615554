"""How long a sweep of a whole space would take, judged by a few of its blocks."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from perfmodel.search.evaluator import Evaluator, Failure
from perfmodel.search.grid import Block, Grid, Point, meshed
from perfmodel.search.sweep import chunks

#: Plans up to which a space is enumerated without being told to.
ENUMERABLE: Final = 100_000_000
_TRIED: Final = 3
_FEW: Final = 20_000  # blocks above which none is tried: binding them alone takes minutes


def sweep_seconds(evaluator: Evaluator, most_drawn: int | None = None) -> float:
    """Return about how many seconds a sweep would take, infinite where the space is too large.

    Parameters
    ----------
    evaluator : Evaluator
    most_drawn : int, optional
        Plans at a time, where that is fewer than usual.
    """
    grid = evaluator.grid
    if not grid.enumerable or grid.size > ENUMERABLE or grid.structures > _FEW:
        return float("inf")
    generator = np.random.default_rng(0)
    binding, calls, plans = [], [], []
    for _ in range(min(_TRIED, grid.structures)):
        outer = grid.outer_of(grid.random(generator))
        start = time.perf_counter()
        model = evaluator.model(outer, keep=False)
        binding.append(time.perf_counter() - start)
        if isinstance(model, Failure):
            continue
        block = _block(grid, outer)
        _, parts, shape = next(iter(chunks(block, most_drawn) if most_drawn else chunks(block)))
        start = time.perf_counter()
        evaluator.evaluate(model, meshed(block, parts))
        calls.append(time.perf_counter() - start)
        plans.append(int(np.prod(shape)))
    per_block = float(np.median(binding))
    if not calls:
        return per_block * grid.structures
    # a call costs so much however few its plans are; half of it is taken to grow with them
    per_plan = float(np.median(np.array(calls) / np.array(plans)))
    return (per_block + float(np.median(calls)) / 2) * grid.structures + per_plan * grid.size


def _block(grid: Grid, outer: Point) -> Block:
    known = dict(enumerate(outer))
    axes = tuple(axis for axis in grid.inner if all(known[grid.places[key]] in when for key, when in axis.when.items()))
    return Block(0, outer, axes)
