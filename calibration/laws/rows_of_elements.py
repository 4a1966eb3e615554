"""A fixed cost, a cost for each of n rows, and a cost for each element of a row: lookups that move f values each."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``fixed + n * (per_row + per_element * f)``."""
    return np.asarray(parameters[0] + inputs[0] * (parameters[1] + parameters[2] * inputs[1]))


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    factors, _ = nonnegative([0 * output + 1, inputs[0], inputs[0] * inputs[1]], output)
    return factors[None, :]


LAW = Law(
    name="rows_of_elements",
    formula="fixed + n * (per_row + per_element * f)",
    meaning="a fixed cost, a cost for each of n rows, and one for each of a row's f elements",
    inputs=("n", "f"),
    parameters=(
        Parameter("fixed", "cost without rows"),
        Parameter("per_row", "cost of one row without elements", input_powers=(-1, 0)),
        Parameter("per_element", "cost of one element", input_powers=(-1, -1)),
    ),
    value=value,
    guess=guess,
)
