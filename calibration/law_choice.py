"""Chooses a law by cross-validation among those that apply: points are left out at random, and the largest ones together.

A law that only interpolates loses where the largest points are left out. Among the laws that come as near as the best
one to within one and a half standard errors, the one with the fewest parameters is taken. That error is what the noise of the
points left out gives the difference of two laws; a set of largest points counts as one draw, as all its points share the
parameters' errors.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.law_fit import quick_values
from calibration.laws._base import TINY, Array, Law, Points, all_laws
from perfmodel.errors import SpecError

Rows = NDArray[np.bool_]

_PARTS: Final = 5  # that points are left out in, at random
_REPEATS: Final = 2
_LARGEST: Final = (0.2, 0.4)  # shares of the points, from the largest on, that are left out together
_WORST: Final = math.log(2.0)  # a point that is missed by more than a factor of two is simply missed
_CLIP: Final = 5.0  # standard deviations of noise from which on a point is simply missed, in comparisons
_NORMAL: Final = 1.4826  # standard deviation of normal values over their median absolute one
_STANDARD_ERRORS: Final = 2.0  # at 1, a needless parameter is taken in one case of ten
_EXACT: Final = 1e-6  # noise below which data count as noiseless


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One law and how it does on points that it was not fitted to.

    Attributes
    ----------
    law : Law
    random : array of shape (left out,)
        Logs of predicted over measured, over the rows' errors, for points left out at random; each point ``_REPEATS`` times.
    largest : tuple of arrays
        Likewise, for each set of largest points.
    cross_validation_error, extrapolation_error : float or None
        Mean absolute log error of points left out at random, and of the largest; none counts for more than a factor of two.
    why_not : str or None
        Why it does not apply.
    """

    law: Law
    random: Array
    largest: tuple[Array, ...]
    cross_validation_error: float | None
    extrapolation_error: float | None
    why_not: str | None = None

    @property
    def noise(self) -> float:
        """Return the scatter of the points left out at random; outliers don't move it."""
        return max(_NORMAL * float(np.median(np.abs(self.random))), _EXACT)

    def loss(self, noise: float) -> float:
        """Return the sum of squares over all points left out, in units of the noise."""
        squares = [_clipped(part, noise) ** 2 for part in (self.random, *self.largest)]
        return float(squares[0].sum() / _REPEATS + sum(part.sum() for part in squares[1:]))


def choose(points: Points, error: Array, laws: Sequence[Law] | None = None) -> tuple[Law, list[Candidate]]:
    """Choose a law.

    Parameters
    ----------
    points : Points
    error : array of shape (rows,)
        Standard deviation of each row's log, up to a common factor.
    laws : sequence of Law, optional
        All laws by default.

    Returns
    -------
    Law, list of Candidate
        The choice, and all candidates: those that apply from the smallest error on, then the others.

    Raises
    ------
    SpecError
        No law applies.

    Examples
    --------
    >>> size = np.array([np.arange(1.0, 13.0)])
    >>> points = Points(size, 3.0 + 2.0 * size[0], ("size", "time"), ("B", "s"))
    >>> choose(points, np.ones(12))[0].name
    'affine'
    """
    candidates = [evaluate(law, points, error) for law in (laws or list(all_laws().values()))]
    fitting = [one for one in candidates if one.why_not is None]
    others = [one for one in candidates if one.why_not is not None]
    if not fitting:
        raise SpecError("--law auto", "some law must apply to the data", _reasons(others))
    noise = min(one.noise for one in fitting)
    best = min(fitting, key=lambda one: float((_clipped(one.random, noise) ** 2).sum()))
    close = [one for one in fitting if _as_good(one, best, noise)]
    chosen = min(close, key=lambda one: (len(one.law.parameters), one.loss(noise)))
    fitting.sort(key=lambda one: one.cross_validation_error or 0.0)
    return chosen.law, [*fitting, *others]


def evaluate(law: Law, points: Points, error: Array) -> Candidate:
    """Return a law with its errors on points left out."""
    reason = law.applies(points)
    if reason is not None:
        return Candidate(law, np.empty(0), (), None, None, reason)
    random = [_missed(law, points, error, left) for left in random_folds(points)]
    largest = [_missed(law, points, error, left) for left in largest_folds(points)]
    rows = [error[left] for left in random_folds(points)], [error[left] for left in largest_folds(points)]
    within, beyond = (_mean_error(parts, own) for parts, own in zip((random, largest), rows, strict=True))
    return Candidate(law, np.concatenate(random), tuple(largest), within, beyond)


def _mean_error(missed: Sequence[Array], error: Sequence[Array]) -> float | None:
    if not missed:
        return None
    shares = np.concatenate([np.abs(part * own) for part, own in zip(missed, error, strict=True)])
    return float(np.minimum(shares, _WORST).mean())


def _missed(law: Law, points: Points, error: Array, left: Rows) -> Array:
    """Return the log errors, over the rows' own, of a fit without some rows."""
    kept = points.only(~left)
    if kept.distinct < len(law.parameters):  # nothing to fit: as bad as can be
        return np.asarray(_WORST / error[left])
    values = quick_values(law, kept, error[~left])
    predicted = law.value(points.inputs[:, left], values)
    return np.asarray(np.log(np.maximum(predicted, TINY) / points.output[left]) / error[left])


def random_folds(points: Points) -> Iterator[Rows]:
    """Return which rows to leave out, time after time: rows of one point together, every row ``_REPEATS`` times.

    Parameters
    ----------
    points : Points

    Yields
    ------
    array of bool of shape (rows,)
    """
    _, which = np.unique(points.inputs, axis=1, return_inverse=True)
    which = which.reshape(-1)
    count = int(which.max()) + 1
    random = np.random.default_rng(0)
    for _ in range(_REPEATS):
        part = random.permutation(count) % _PARTS
        for number in range(min(_PARTS, count)):
            yield np.asarray(part[which] == number)


def largest_folds(points: Points) -> Iterator[Rows]:
    """Return which rows hold the largest points, by the sum of the ranks of their inputs.

    Parameters
    ----------
    points : Points

    Yields
    ------
    array of bool of shape (rows,)
    """
    rank = np.sum([np.unique(column, return_inverse=True)[1].reshape(-1) for column in points.inputs], axis=0)
    for share in _LARGEST:
        left = np.asarray(rank > np.quantile(np.unique(rank), 1.0 - share))
        if left.any() and not left.all():
            yield left


def _clipped(missed: Array, noise: float) -> Array:
    return np.asarray(np.clip(missed / noise, -_CLIP, _CLIP))


def _as_good(one: Candidate, best: Candidate, noise: float) -> bool:
    """Return whether the standard errors cover the difference of two laws."""
    if not _covered(one.random, best.random, noise, _REPEATS):
        return False
    sets = list(zip(one.largest, best.largest, strict=True))
    return not sets or any(_covered(own, other, noise, 1) for own, other in sets)


def _covered(one: Array, best: Array, noise: float, repeats: int) -> bool:
    own, other = _clipped(one, noise), _clipped(best, noise)
    worse = float((own**2 - other**2).sum()) / repeats
    return worse <= _STANDARD_ERRORS * 2.0 * math.sqrt(float(((own - other) ** 2).sum()) / repeats)


def _reasons(candidates: Sequence[Candidate]) -> str:
    return "; ".join(f"{one.law.name} {one.why_not}" for one in candidates[:3]) + "; ..."
