"""Hockney's law where a rate is measured: half of the bandwidth is reached at latency times bandwidth bytes.

Source: R. W. Hockney, The communication challenge for MPP: Intel Paragon and Meiko CS-2, Parallel Computing 20 (1994),
389-398.
"""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``x / (latency + x / bandwidth)``."""
    latency, bandwidth = parameters
    return np.asarray(inputs[0] * bandwidth / (latency * bandwidth + inputs[0]))


def guess(inputs: Array, output: Array) -> Array:
    """Return the straight line through the times."""
    (latency, time_per_unit), _ = nonnegative([0 * output + 1, inputs[0]], inputs[0] / output)
    least = 1e-3 * float(np.min(1.0 / output))
    return np.array([[latency, 1.0 / max(time_per_unit, least)]])


LAW = Law(
    name="hockney_bandwidth",
    formula="x / (latency + x / bandwidth)",
    meaning="the rate of transfers that have a latency and a bandwidth",
    inputs=("x",),
    parameters=(
        Parameter("latency", "time of an empty transfer", output_power=-1, input_powers=(1,)),
        Parameter("bandwidth", "rate of a very large transfer"),
    ),
    value=value,
    guess=guess,
    output_kind="rate",
    positive=True,
)
