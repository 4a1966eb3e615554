"""Latency of a closed loop: q requests are always in flight, and the device serves at most so many per second.

The asymptotes are the two bounds of operational analysis (latency at rest; Little's law at saturation); the sharpness
says how soon requests begin to wait for each other.

Source: P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, ACM Computing Surveys 10
(1978), 225-261, for the bounds.
"""

import itertools

import numpy as np

from calibration.laws._base import TINY, Array, Law, Parameter, ends


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``(latency ** sharpness + (q / throughput) ** sharpness) ** (1 / sharpness)``."""
    latency, throughput, sharpness = parameters
    rest, busy = np.log(max(latency, TINY)), np.log(inputs[0]) - np.log(max(throughput, TINY))
    return np.asarray(np.exp(np.clip(np.logaddexp(sharpness * rest, sharpness * busy) / sharpness, -690.0, 690.0)))


def guess(inputs: Array, output: Array) -> Array:
    """Return the asymptotes at both ends, for soft and sharp knees."""
    low, high = ends(inputs[0], output)
    rest, limit = np.median(output[low]), np.median(inputs[0][high] / output[high])
    return np.array(list(itertools.product((rest, 0.7 * rest), (limit, 1.3 * limit), (1.1, 1.5, 2.0, 4.0, 8.0))))


LAW = Law(
    name="closed_loop",
    formula="(latency ** sharpness + (q / throughput) ** sharpness) ** (1 / sharpness)",
    meaning="latency with q requests in flight, from rest to saturation",
    inputs=("q",),
    parameters=(
        Parameter("latency", "latency at rest"),
        Parameter("throughput", "requests per time at saturation", output_power=-1, input_powers=(1,)),
        Parameter("sharpness", "of the knee: 1 adds both, large takes the larger", (1.0, 20.0), output_power=0),
    ),
    value=value,
    guess=guess,
    input_kind="count",
    output_kind="cost",
    positive=True,
)
