"""What repeated measurements say of the noise: pure error, the weight of each row, and whether a law fits within it.

The spread of a few repetitions is itself uncertain, so each point's variance is drawn toward that of all points, as if
some more repetitions had shown the typical spread (an empirical Bayes estimate).

Source: G. K. Smyth, Linear models and empirical Bayes methods, Statistical Applications in Genetics and Molecular
Biology 3 (2004), article 3, for the moderated variance; G. E. P. Box and N. R. Draper, Empirical Model-Building, Wiley
(1987), section 3.2, for lack of fit against pure error.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calibration.law_fit import LawFit
from calibration.laws._base import Array, Points

_PRIOR: Final = 4.0  # degrees of freedom that the typical spread counts for
_LEAST: Final = 1e-9  # relative; repetitions that agree to the last digit tell nothing


@dataclasses.dataclass(frozen=True)
class Noise:
    """Pure error.

    Attributes
    ----------
    errors : array of shape (rows,)
        Standard deviation of each row's log; ones where nothing was repeated.
    typical : float or None
        That of a typical point; None where nothing was repeated.
    degrees : int
        Of freedom that repetitions leave.
    which : array of int of shape (rows,)
        Point of each row.
    """

    errors: Array
    typical: float | None
    degrees: int
    which: NDArray[np.intp]


def measured_noise(points: Points) -> Noise:
    """Return what the rows that share a point say of the noise.

    Parameters
    ----------
    points : Points
        Positive output.

    Returns
    -------
    Noise

    Examples
    --------
    >>> inputs = np.array([[1.0, 1.0, 2.0, 2.0]])
    >>> output = np.exp([0.0, 0.02, 1.0, 1.02])
    >>> noise = measured_noise(Points(inputs, output, ("x", "time"), ("1", "s")))
    >>> noise.degrees, round(noise.typical, 3)
    (2, 0.021)
    """
    _, which = np.unique(points.inputs, axis=1, return_inverse=True)
    which = which.reshape(-1).astype(np.intp)
    counts = np.bincount(which)
    logs = np.log(points.output)
    own = logs - (np.bincount(which, logs) / counts)[which]
    squares, degrees = np.bincount(which, own**2), counts - 1
    repeated = degrees > 0
    ones = np.ones_like(points.output)
    if not repeated.any():
        return Noise(ones, None, 0, which)
    freedom = degrees[repeated]
    # the median over points, so that a wild value spoils one point's variance and not all of them
    typical = float(np.median(squares[repeated] / stats.chi2.median(freedom)))
    if typical <= _LEAST**2:
        return Noise(ones, float(np.sqrt(typical)), int(degrees.sum()), which)
    variance = (_PRIOR * typical + squares) / (_PRIOR + degrees)
    return Noise(np.sqrt(variance)[which], float(np.sqrt(typical)), int(degrees.sum()), which)


@dataclasses.dataclass(frozen=True)
class LackOfFit:
    """How far a law lies from the points' means, against the noise.

    Attributes
    ----------
    ratio : float
        Variance of the means about the law over that of the rows about their means.
    p_value : float
        Chance of such a ratio where the law is right.
    """

    ratio: float
    p_value: float


def lack_of_fit(fitted: LawFit, noise: Noise) -> LackOfFit | None:
    """Return the F test of lack of fit; None where too little was repeated to say.

    Parameters
    ----------
    fitted : LawFit
    noise : Noise

    Returns
    -------
    LackOfFit or None
    """
    kept = ~fitted.outliers
    left, which = (fitted.residuals / noise.errors)[kept], noise.which[kept]
    present, place = np.unique(which, return_inverse=True)
    counts = np.bincount(place)
    means = np.bincount(place, left) / counts
    above, below = present.size - fitted.values.size, left.size - present.size
    pure = float(((left - means[place]) ** 2).sum())
    if above < 1 or below < 1 or noise.typical is None or noise.typical <= _LEAST or pure <= 0.0:
        return None
    ratio = float((counts * means**2).sum()) / above / (pure / below)
    return LackOfFit(ratio, float(stats.f.sf(ratio, above, below)))
