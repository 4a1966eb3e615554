"""The larger of a floor and a cost per unit: a stage that waits for another until it has become the bottleneck."""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, ends, knees


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``max(floor, per_unit * x)``."""
    return np.asarray(np.maximum(parameters[0], parameters[1] * inputs[0]))


def guess(inputs: Array, output: Array) -> Array:
    """Return the median floor below and the median slope above every place where the knee may lie."""
    x = inputs[0]
    low, high = ends(x, output)
    found = []
    for knee in knees(x):
        found.append([np.median(output[x <= knee]), np.median(output[x > knee] / x[x > knee])])
    found.append([np.median(output[low]), np.median(output[high] / x[high])])
    found.append([np.median(output), np.median(output) / x.max()])
    return np.array(found)


LAW = Law(
    name="saturating",
    formula="max(floor, per_unit * x)",
    meaning="a floor until the cost per unit becomes the bottleneck",
    inputs=("x",),
    parameters=(
        Parameter("floor", "cost below the knee"),
        Parameter("per_unit", "cost of a unit above the knee", input_powers=(-1,)),
    ),
    value=value,
    guess=guess,
    output_kind="cost",
)
