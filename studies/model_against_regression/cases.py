"""The configurations: what the regression learns from, what both are held against, and what lies outside.

All of them are of the validation's balanced design. ``between`` keeps to its ranges, with graphs and values that the
design lacks; ``outside`` leaves them by at least one factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from calibration.machine_validation import CONFIGURATIONS, SEED, design
from calibration.pipeline.configuration import Configuration, SyntheticGraph

HELD_OUT, BETWEEN, OUTSIDE, TRAINING = "held out", "between", "outside", "training"
#: Kinds that predictions are held against, and how often each configuration is run.
REPEATS: Final[Mapping[str, int]] = {HELD_OUT: 3, BETWEEN: 3, OUTSIDE: 2}
BATCHES: Final = 9
_TRAINING_SEED: Final = 7000  # and up: neither the validation's nor that of the model's development
_OTHERS: Final = 30

_BETWEEN_GRAPHS: Final = (
    SyntheticGraph(20_000, 17.0, 1.0, seed=201),
    SyntheticGraph(60_000, 13.0, 1.05, seed=202),
    SyntheticGraph(190_000, 9.0, 0.9, seed=203),
)
_LARGER_GRAPH: Final = SyntheticGraph(700_000, 9.0, 1.0, seed=204)
#: Factors that leave the design's range, with what they take there.
_BEYOND: Final[Mapping[str, Sequence[Any]]] = {
    "graph": (_LARGER_GRAPH,),
    "fanout": ((15, 10), (30,), (10, 8, 5)),
    "batch": (1200, 1536),
    "dimension": (400, 520),
    "hidden": (96, 160),
    "chunk": (4 << 10, 8 << 20),
}


def training() -> Iterator[Configuration]:
    """Yield configurations without end, one balanced design after the other; none is a held-out one."""
    held_out = set(held_against()[HELD_OUT])
    seed = _TRAINING_SEED
    while True:
        yield from (asked for asked in design(CONFIGURATIONS, seed) if asked not in held_out)
        seed += 1


def held_against() -> dict[str, list[Configuration]]:
    """Return the configurations that both predict, by kind.

    Examples
    --------
    >>> {kind: len(found) for kind, found in held_against().items()}
    {'held out': 60, 'between': 30, 'outside': 30}
    """
    return {HELD_OUT: design(CONFIGURATIONS, SEED), BETWEEN: _between(), OUTSIDE: _outside()}


def _between() -> list[Configuration]:
    rng = np.random.default_rng(31)
    found = []
    for asked in design(_OTHERS, 8101):
        fanout = tuple(int(rng.integers(max(2, each - 2), each + 3)) for each in asked.fanout)
        limit = 96 if asked.placement == "compute-node" else 768
        changes: dict[str, Any] = {
            "graph": _BETWEEN_GRAPHS[int(rng.integers(len(_BETWEEN_GRAPHS)))],
            "fanout": tuple(min(each, 20 if len(fanout) == 1 else 12) for each in fanout),
            "batch": _log_uniform(rng, 96, limit) if limit > 96 else 96,
            "dimension": _log_uniform(rng, 20, 260),
            "hidden": int(rng.integers(24, 49)),
            "classes": int(rng.integers(10, 31)),
            "chunk": 1024 * _log_uniform(rng, 32, 1024),
        }
        found.append(dataclasses.replace(asked, **changes))
    return found


def _outside() -> list[Configuration]:
    rng = np.random.default_rng(32)
    found = []
    for number, asked in enumerate(design(_OTHERS, 8102)):
        offloaded = dataclasses.replace(asked, placement="memory-node")
        names = [list(_BEYOND)[number % len(_BEYOND)]]
        if number % 2:  # every other one leaves the range by two factors
            names.append(list(_BEYOND)[(number + 1 + number // len(_BEYOND)) % len(_BEYOND)])
        changes = {name: _BEYOND[name][int(rng.integers(len(_BEYOND[name])))] for name in names}
        if changes.get("graph") is _LARGER_GRAPH and changes.get("dimension", asked.dimension) > 260:
            changes.pop("dimension")  # its features would fill the memory
        found.append(dataclasses.replace(offloaded, **changes))
    return found


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def outside_by(asked: Configuration) -> tuple[str, ...]:
    """Return the factors by which a configuration leaves the range of the training runs."""
    return tuple(name for name, values in _BEYOND.items() if getattr(asked, name) in values)
