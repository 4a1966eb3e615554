"""A power of the input: costs without a scale of their own, such as the surface of a partition."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, power_guess


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``scale * x ** exponent``."""
    return np.asarray(parameters[0] * inputs[0] ** parameters[1])


def guess(inputs: Array, output: Array) -> Array:
    """Return the straight line through the logs."""
    return power_guess(inputs, output)[None, :]


LAW = Law(
    name="power",
    formula="scale * x ** exponent",
    meaning="a power of the input, without a scale of its own",
    inputs=("x",),
    parameters=(
        Parameter("scale", "value at an input of one SI unit"),
        Parameter("exponent", "relative growth for relative growth of the input", (-8.0, 8.0), output_power=0),
    ),
    value=value,
    guess=guess,
    positive=True,
)
