"""Gunther's universal scalability law where a time is measured: fixed work on n workers.

Source: N. J. Gunther, Guerrilla Capacity Planning, Springer (2007), chapter 4.
"""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``work * (1 + contention * (n - 1) + coherence * n * (n - 1)) / n``."""
    work, contention, coherence = parameters
    n = inputs[0]
    return np.asarray(work * (1.0 / n + contention * (n - 1.0) / n + coherence * (n - 1.0)))


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    n = inputs[0]
    (work, queue, exchange), _ = nonnegative([1 / n, (n - 1) / n, n - 1], output)
    work = max(work, 1e-3 * float(output.max()))
    return np.array([[work, min(queue / work, 1.0), min(exchange / work, 1.0)]])


LAW = Law(
    name="universal_scalability_time",
    formula="work * (1 + contention * (n - 1) + coherence * n * (n - 1)) / n",
    meaning="time of fixed work on n workers with contention and coherence",
    inputs=("n",),
    parameters=(
        Parameter("work", "time on one worker"),
        Parameter("contention", "share of the work that is done one after the other", (0.0, 1.0), 0),
        Parameter("coherence", "share of the work spent on each other pair of workers", (0.0, 1.0), 0),
    ),
    value=value,
    guess=guess,
    input_kind="count",
    output_kind="cost",
    positive=True,
)
