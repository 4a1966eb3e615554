"""A fixed cost and one for each unit of two inputs that don't multiply: nodes and edges, requests and bytes."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``fixed + per_n * n + per_f * f``."""
    return np.asarray(parameters[0] + parameters[1] * inputs[0] + parameters[2] * inputs[1])


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    factors, _ = nonnegative([0 * output + 1, inputs[0], inputs[1]], output)
    return factors[None, :]


LAW = Law(
    name="two_costs",
    formula="fixed + per_n * n + per_f * f",
    meaning="a fixed cost and a cost for each unit of either input",
    inputs=("n", "f"),
    parameters=(
        Parameter("fixed", "cost at inputs of 0"),
        Parameter("per_n", "cost of one more unit of the first input", input_powers=(-1, 0)),
        Parameter("per_f", "cost of one more unit of the second input", input_powers=(0, -1)),
    ),
    value=value,
    guess=guess,
)
