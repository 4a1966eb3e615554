"""Two regressions of the logarithm of the time, of scikit-learn (the extra ``study``).

Gradient boosting, its settings chosen by cross-validation among many; and, since trees end at the edge of what they saw, a
ridge regression of the logs, their squares and products, which goes on.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Settings = Mapping[str, Any]

TRIES: Final = 32
FOLDS: Final = 5
_SEED: Final = 11
_SETTINGS: Final[Mapping[str, tuple[Any, ...]]] = {
    "n_estimators": (300, 600, 1000),
    "learning_rate": (0.03, 0.06, 0.1, 0.15),
    "max_depth": (2, 3, 4, 5, 6),
    "min_samples_leaf": (1, 3, 8),
    "subsample": (0.5, 0.8, 1.0),
    "max_features": (None, 0.5, 0.25),
    "loss": ("squared_error", "huber"),
}
_PENALTIES: Final = tuple(10.0**power for power in np.arange(-3.0, 4.01, 0.5))


def installed() -> bool:
    """Return whether scikit-learn can be imported."""
    return importlib.util.find_spec("sklearn") is not None


def _module(name: str) -> Any:
    return importlib.import_module(f"sklearn.{name}")


def chosen(inputs: Array, times: Array, tries: int = TRIES) -> dict[str, Any]:
    """Return the settings of gradient boosting with the smallest error left out, and that error.

    Parameters
    ----------
    inputs : array of shape (runs, features)
    times : array of shape (runs,)
        Of a mini-batch [s].
    tries : int
        Random settings that are tried.

    Returns
    -------
    dict
        ``settings``, and ``error``: mean absolute error of the log, cross-validated.
    """
    selection = _module("model_selection")
    search = selection.RandomizedSearchCV(
        _module("ensemble").GradientBoostingRegressor(random_state=_SEED),
        {name: list(values) for name, values in _SETTINGS.items()},
        n_iter=tries,
        scoring="neg_mean_absolute_error",
        cv=selection.KFold(FOLDS, shuffle=True, random_state=_SEED),
        random_state=_SEED,
        refit=False,
    )
    search.fit(inputs, np.log(times))
    return {"settings": dict(search.best_params_), "error": -float(search.best_score_)}


def boosted(inputs: Array, times: Array, settings: Settings, at: Array) -> Array:
    """Return the times that gradient boosting predicts [s]."""
    model = _module("ensemble").GradientBoostingRegressor(random_state=_SEED, **settings)
    model.fit(inputs, np.log(times))
    return np.asarray(np.exp(model.predict(at)))


def ridge(inputs: Array, times: Array, at: Array) -> Array:
    """Return the times that a ridge regression of squares and products predicts [s]."""
    preprocessing = _module("preprocessing")
    model = _module("pipeline").make_pipeline(
        preprocessing.StandardScaler(),
        preprocessing.PolynomialFeatures(2, include_bias=False),
        preprocessing.StandardScaler(),
        _module("linear_model").RidgeCV(_PENALTIES),
    )
    model.fit(inputs, np.log(times))
    return np.asarray(np.exp(model.predict(at)))
