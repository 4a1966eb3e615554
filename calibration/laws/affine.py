"""A fixed cost and a cost for each unit: launching and streaming, seeking and reading."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``fixed + per_unit * x``."""
    return np.asarray(parameters[0] + parameters[1] * inputs[0])


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    factors, _ = nonnegative([0 * output + 1, inputs[0]], output)
    return factors[None, :]


LAW = Law(
    name="affine",
    formula="fixed + per_unit * x",
    meaning="a fixed cost and a cost for each unit of the input",
    inputs=("x",),
    parameters=(
        Parameter("fixed", "cost at an input of 0"),
        Parameter("per_unit", "cost of one more unit of the input", input_powers=(-1,)),
    ),
    value=value,
    guess=guess,
)
