"""Random accesses to a working set of x bytes: a cache of c bytes holds c / x of them, the rest go on to the next."""

from __future__ import annotations

import itertools
import math

import numpy as np

from calibration.laws._base import Array, Law, Parameter, knees, nonnegative

_PLACES = 8  # of capacities that a first guess tries


def missed(size: Array, capacity: float) -> Array:
    """Return the share of random accesses that miss a cache.

    Parameters
    ----------
    size : array
        Working sets [byte].
    capacity : float
        [byte]

    Examples
    --------
    >>> missed(np.array([1.0, 2.0, 8.0]), 2.0).tolist()
    [0.0, 0.0, 0.75]
    """
    return np.asarray(np.maximum(1.0 - capacity / size, 0.0))


def cache_law(name: str, levels: int) -> Law:
    """Return the law of so many caches before the memory."""

    def value(inputs: Array, parameters: Array) -> Array:
        total = np.full_like(inputs[0], parameters[0])
        for level in range(levels):
            capacity, penalty = parameters[1 + 2 * level : 3 + 2 * level]
            total = total + penalty * missed(inputs[0], capacity)
        return np.asarray(total)

    def guess(inputs: Array, output: Array) -> Array:
        size = inputs[0]
        places = knees(size)
        if places.size > _PLACES and levels > 1:
            places = places[np.linspace(0, places.size - 1, _PLACES).round().astype(int)]
        found = []
        for capacities in itertools.combinations(places, levels):
            factors, _ = nonnegative(
                [0 * size + 1, *(missed(size, capacity) for capacity in capacities)], output, rounds=2
            )
            found.append([factors[0], *itertools.chain(*zip(capacities, factors[1:], strict=True))])
        return np.array(found)

    numbers = [""] if levels == 1 else [f"_{level + 1}" for level in range(levels)]
    terms = [f"penalty{number} * max(0, 1 - capacity{number} / x)" for number in numbers]
    return Law(
        name=name,
        formula=" + ".join(["hit", *terms]),
        meaning=f"random accesses to a working set of x bytes, {levels} cache{'s' * (levels > 1)} before the memory",
        inputs=("x",),
        parameters=(
            Parameter("hit", "cost of an access to the first cache"),
            *itertools.chain.from_iterable(_level(number) for number in numbers),
        ),
        value=value,
        guess=guess,
        input_kind="bytes",
        output_kind="cost",
        positive=True,
    )


def _level(number: str) -> tuple[Parameter, Parameter]:
    return (
        Parameter(f"capacity{number}", "size that this cache holds", (0.0, math.inf), 0, (1,)),
        Parameter(f"penalty{number}", "what a miss of this cache adds to an access"),
    )
