"""Gunther's universal scalability law: throughput of n workers that queue for each other and keep each other informed.

Source: N. J. Gunther, Guerrilla Capacity Planning, Springer (2007), chapter 4.
"""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``single * n / (1 + contention * (n - 1) + coherence * n * (n - 1))``."""
    single, contention, coherence = parameters
    n = inputs[0]
    return np.asarray(single * n / (1.0 + contention * (n - 1.0) + coherence * n * (n - 1.0)))


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares for the time per unit of work and worker."""
    n = inputs[0]
    (work, queue, exchange), _ = nonnegative([0 * n + 1, n - 1, n * (n - 1)], n / output)
    work = max(work, 1e-3 * float(np.min(n / output)))
    return np.array([[1 / work, min(queue / work, 1.0), exchange / work]])


LAW = Law(
    name="universal_scalability",
    formula="single * n / (1 + contention * (n - 1) + coherence * n * (n - 1))",
    meaning="throughput of n workers with contention and coherence",
    inputs=("n",),
    parameters=(
        Parameter("single", "throughput of one worker", input_powers=(-1,)),
        Parameter("contention", "share of the work that is done one after the other", (0.0, 1.0), 0),
        Parameter("coherence", "share of the work spent on each other pair of workers", (0.0, 1.0), 0),
    ),
    value=value,
    guess=guess,
    input_kind="count",
    output_kind="rate",
    positive=True,
)
