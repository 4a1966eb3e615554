"""A fixed cost and a cost for each element of an n x f array: gathering or copying n rows of f values."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``fixed + per_element * n * f``."""
    return np.asarray(parameters[0] + parameters[1] * inputs[0] * inputs[1])


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    factors, _ = nonnegative([0 * output + 1, inputs[0] * inputs[1]], output)
    return factors[None, :]


LAW = Law(
    name="product",
    formula="fixed + per_element * n * f",
    meaning="a fixed cost and a cost for each of n * f elements",
    inputs=("n", "f"),
    parameters=(
        Parameter("fixed", "cost without elements"),
        Parameter("per_element", "cost of one element", input_powers=(-1, -1)),
    ),
    value=value,
    guess=guess,
)
