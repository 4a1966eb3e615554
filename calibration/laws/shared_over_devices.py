"""A part that stays and a part that k devices share: Amdahl's law.

Source: G. M. Amdahl, Validity of the single processor approach to achieving large scale computing capabilities, AFIPS
Spring Joint Computer Conference (1967), 483-485.
"""

import numpy as np

from calibration.laws._base import Array, Law, Parameter, nonnegative


def value(inputs: Array, parameters: Array) -> Array:
    """Return ``serial + shared / k``."""
    return np.asarray(parameters[0] + parameters[1] / inputs[0])


def guess(inputs: Array, output: Array) -> Array:
    """Return nonnegative least squares."""
    factors, _ = nonnegative([0 * output + 1, 1 / inputs[0]], output)
    return factors[None, :]


LAW = Law(
    name="shared_over_devices",
    formula="serial + shared / k",
    meaning="a part that stays and a part that k devices share",
    inputs=("k",),
    parameters=(
        Parameter("serial", "cost that no device takes over"),
        Parameter("shared", "cost that the devices share, on one of them", input_powers=(1,)),
    ),
    value=value,
    guess=guess,
    input_kind="count",
    output_kind="cost",
    positive=True,
)
