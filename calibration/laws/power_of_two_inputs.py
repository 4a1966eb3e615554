"""Powers of two inputs, such as edges and features."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, power_guess


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``scale * n ** exponent_n * f ** exponent_f``."""
    return np.asarray(parameters[0] * inputs[0] ** parameters[1] * inputs[1] ** parameters[2])


def guess(inputs: Array, output: Array) -> Array:
    """Return the plane through the logs."""
    return power_guess(inputs, output)[None, :]


LAW = Law(
    name="power_of_two_inputs",
    formula="scale * n ** exponent_n * f ** exponent_f",
    meaning="powers of two inputs, without scales of their own",
    inputs=("n", "f"),
    parameters=(
        Parameter("scale", "value where both inputs are one SI unit"),
        Parameter("exponent_n", "relative growth for relative growth of the first input", (-8.0, 8.0), 0),
        Parameter("exponent_f", "relative growth for relative growth of the second input", (-8.0, 8.0), 0),
    ),
    value=value,
    guess=guess,
    positive=True,
)
