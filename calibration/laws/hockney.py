"""Hockney's message time with a knee, where the protocol changes from eager to rendezvous or a rate limit sets in.

Source: R. W. Hockney, The communication challenge for MPP: Intel Paragon and Meiko CS-2, Parallel Computing 20 (1994),
389-398, gives the straight line; the knee is that of message-passing libraries.
"""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, knees, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return the straight line up to the knee, and from there on a step and another line."""
    latency, time_per_byte, knee, step, time_per_byte_beyond = parameters
    size = inputs[0]
    below, above = np.minimum(size, knee), np.maximum(size - knee, 0.0)
    return np.asarray(latency + time_per_byte * below + step * (size > knee) + time_per_byte_beyond * above)


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares for every knee between measured sizes."""
    size = inputs[0]
    found = []
    for knee in knees(size, beside=2):
        below, above = np.minimum(size, knee), np.maximum(size - knee, 0.0)
        factors, _ = nonnegative([0 * size + 1, below, 1.0 * (size > knee), above], output, rounds=2)
        found.append([factors[0], factors[1], knee, factors[2], factors[3]])
    return np.array(found)


LAW = Law(
    name="hockney",
    formula="latency + time_per_byte * min(x, knee) + (x > knee) * (step + time_per_byte_beyond * (x - knee))",
    meaning="a latency and a bandwidth, with another protocol or another limit beyond a size",
    inputs=("x",),
    parameters=(
        Parameter("latency", "time of an empty message"),
        Parameter("time_per_byte", "time of one more byte below the knee", input_powers=(-1,)),
        Parameter("knee", "size above which the other protocol holds", (0.0, np.inf), 0, (1,), located=True),
        Parameter("step", "time that the other protocol adds"),
        Parameter("time_per_byte_beyond", "time of one more byte above the knee", input_powers=(-1,)),
    ),
    value=value,
    guess=guess,
    input_kind="bytes",
    output_kind="cost",
    positive=True,
)
