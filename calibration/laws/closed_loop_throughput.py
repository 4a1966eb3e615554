"""Throughput of a closed loop: q requests are always in flight; Little's law turns the latency law into this one."""

import itertools

import numpy as np

from calibration.laws._base import TINY, Array, Law, Parameter, ends


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``((q * single) ** -sharpness + limit ** -sharpness) ** (-1 / sharpness)``."""
    single, limit, sharpness = parameters
    rest, busy = -np.log(np.maximum(inputs[0] * single, TINY)), -np.log(max(limit, TINY))
    return np.asarray(np.exp(np.clip(-np.logaddexp(sharpness * rest, sharpness * busy) / sharpness, -690.0, 690.0)))


def guess(inputs: Array, output: Array) -> Array:
    """Return the asymptotes at both ends, for soft and sharp knees."""
    low, high = ends(inputs[0], output)
    single, limit = np.median(output[low] / inputs[0][low]), np.median(output[high])
    return np.array(list(itertools.product((single, 1.4 * single), (limit, 1.3 * limit), (1.1, 1.5, 2.0, 4.0, 8.0))))


LAW = Law(
    name="closed_loop_throughput",
    formula="((q * single) ** -sharpness + limit ** -sharpness) ** (-1 / sharpness)",
    meaning="throughput with q requests in flight, from one at a time to saturation",
    inputs=("q",),
    parameters=(
        Parameter("single", "throughput of one request in flight", input_powers=(-1,)),
        Parameter("limit", "throughput at saturation"),
        Parameter("sharpness", "of the knee: 1 adds both times, large takes the larger", (1.0, 20.0), output_power=0),
    ),
    value=value,
    guess=guess,
    input_kind="count",
    output_kind="rate",
    positive=True,
)
