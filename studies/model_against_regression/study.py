"""Predicts the same runs with the calibrated model and with regressions over end-to-end runs, and compares errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.machine_validation import ordered
from calibration.validation import Row
from perfmodel.model.bound import bind
from studies._base import Answer, Study, between, figure, markdown, percent
from studies.model_against_regression import regression
from studies.model_against_regression.cases import BETWEEN, HELD_OUT, OUTSIDE, TRAINING, outside_by
from studies.model_against_regression.features import table
from studies.model_against_regression.table import FOLDER, Measured, configuration, load

Array = NDArray[np.float64]

MODEL, BOOSTING, RIDGE = "model", "boosting", "ridge"
_TITLES: Final = {MODEL: "perfmodel, calibrated", BOOSTING: "gradient boosting", RIDGE: "ridge, squares and products"}
KINDS: Final = (HELD_OUT, BETWEEN, OUTSIDE)
#: Shares of the training runs, by time, that the regressions are also fitted to.
SHARES: Final = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
_RESAMPLES: Final = 4000


def compute() -> Answer:
    """Fit the regressions and predict; without scikit-learn their part stays as last computed."""
    measured = load()
    runs = {kind: measured.of(kind) for kind in KINDS}
    predictions = {kind: {MODEL: modelled(rows)} for kind, rows in runs.items()}
    if regression.installed():
        learned = regressions(measured)
        for kind in KINDS:
            predictions[kind] |= learned["predictions"][kind]
        curve, settings = learned["curve"], learned["settings"]
    else:
        kept = STUDY.answer()
        for kind in KINDS:
            predictions[kind] |= {name: [row[name] for row in kept["runs"][kind]] for name in (BOOSTING, RIDGE)}
        curve, settings = kept["curve"], kept["boosting"]
    found = {
        kind: [_run(row, predictions[kind], place) for place, row in enumerate(rows)] for kind, rows in runs.items()
    }
    return {
        "conditions": dict(measured.conditions),
        "training_runs": len(measured.of(TRAINING)),
        "runs": found,
        "errors": {kind: summary(rows) for kind, rows in found.items()},
        "outside": {name: _by_factor(found[OUTSIDE], name) for name in _factors(found[OUTSIDE])},
        "curve": curve,
        "boosting": settings,
    }


def modelled(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the times that the calibrated model predicts [s]."""
    profile = str(FOLDER / "profile.toml")
    return [float(bind(configuration(row).scenario(profile)).run({}).time) for row in rows]


def inputs(rows: Sequence[Mapping[str, Any]]) -> Array:
    """Return what the regressions see of rows."""
    profile = str(FOLDER / "profile.toml")  # its numbers are not looked at, though a scenario needs some
    asked = [configuration(row) for row in rows]
    return table(asked, [each.scenario(profile) for each in asked])[1]


def regressions(measured: Measured) -> Answer:
    """Return the regressions' predictions, their errors by training time, and the settings that were chosen."""
    rows = measured.of(TRAINING)
    seen, times = inputs(rows), np.array([row["time"] for row in rows])
    at = {kind: inputs(measured.of(kind)) for kind in KINDS}
    target = np.array([row["time"] for row in measured.of(HELD_OUT)])
    seconds = np.cumsum([row["seconds"] for row in rows])
    curve = []
    for share in SHARES:
        count = int(np.searchsorted(seconds, share * seconds[-1] * (1 - 1e-9))) + 1
        found = regression.chosen(seen[:count], times[:count])
        errors = {
            BOOSTING: regression.boosted(seen[:count], times[:count], found["settings"], at[HELD_OUT]) / target - 1,
            RIDGE: regression.ridge(seen[:count], times[:count], at[HELD_OUT]) / target - 1,
        }
        medians = {name: float(np.median(np.abs(error))) for name, error in errors.items()}
        curve.append({"runs": count, "seconds": float(seconds[count - 1]), **medians})
    predictions = {
        kind: {
            BOOSTING: regression.boosted(seen, times, found["settings"], places).tolist(),
            RIDGE: regression.ridge(seen, times, places).tolist(),
        }
        for kind, places in at.items()
    }
    return {"predictions": predictions, "curve": curve, "settings": found}


def _run(row: Mapping[str, Any], predictions: Mapping[str, Sequence[float]], place: int) -> Answer:
    asked = configuration(row)
    inputs_of = {
        **asked.inputs(),
        "measured": row["time"],
        "spread": row["spread"],
        "outside_by": list(outside_by(asked)),
    }
    kept = {name: value for name, value in inputs_of.items() if name not in ("aggregation", "loader")}
    return {**kept, **{name: values[place] for name, values in predictions.items()}}


def summary(rows: Sequence[Answer]) -> Answer:
    """Return each predictor's errors on some runs, and how the model's compare with those of the regressions."""
    measured = np.array([row["measured"] for row in rows])
    errors = {name: np.abs(np.array([row[name] for row in rows]) / measured - 1) for name in (MODEL, BOOSTING, RIDGE)}
    found: Answer = {"runs": len(rows), "spread": float(np.median([row["spread"] for row in rows]))}
    for name, own in errors.items():
        totals = [Row({}, "total", row["measured"], row[name], (0.0, 0.0)) for row in rows]
        share, pairs = ordered(totals)
        found[name] = {
            "median": float(np.median(own)), "p90": float(np.quantile(own, 0.9)), "largest": float(own.max()),
            "ordered": share, "pairs": pairs,
        }  # fmt: skip
    for name in (BOOSTING, RIDGE):
        found[f"model_closer_than_{name}"] = int((errors[MODEL] < errors[name]).sum())
        found[f"median_over_that_of_{name}"] = _interval(errors[MODEL], errors[name])
    return found


def _interval(ours: Array, theirs: Array) -> list[float]:
    """Return the ratio of the median errors, and its 90 % interval over resampled runs."""
    rng = np.random.default_rng(5)
    picked = rng.integers(ours.size, size=(_RESAMPLES, ours.size))
    ratios = np.median(ours[picked], axis=1) / np.median(theirs[picked], axis=1)
    low, high = np.quantile(ratios, [0.05, 0.95])
    return [float(np.median(ours) / np.median(theirs)), float(low), float(high)]


def _factors(rows: Sequence[Answer]) -> list[str]:
    return sorted({name for row in rows for name in row["outside_by"]})


def _by_factor(rows: Sequence[Answer], factor: str) -> Answer:
    own = [row for row in rows if factor in row["outside_by"]]
    medians = {
        name: float(np.median([abs(row[name] / row["measured"] - 1) for row in own]))
        for name in (MODEL, BOOSTING, RIDGE)
    }
    return {"runs": len(own), **medians}


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "errors": _errors(answer), "curve": _curve(answer), "outside": _outside(answer), "conditions": _conditions(answer),
    }  # fmt: skip


def _errors(answer: Answer) -> str:
    rows = []
    for kind in KINDS:
        found = answer["errors"][kind]
        for name in (MODEL, BOOSTING, RIDGE):
            own = found[name]
            against = "" if name == MODEL else f"{found[f'model_closer_than_{name}']} of {found['runs']}"
            ratio = "" if name == MODEL else _ratio(found[f"median_over_that_of_{name}"])
            errors = [percent(own[each], 1) for each in ("median", "p90", "largest")]
            rows.append([kind, _TITLES[name], *errors, percent(own["ordered"], 1), against, ratio])
    header = [
        "runs", "predicted by", "median error", "90th percentile", "largest", "pairs ordered", "the model is closer in",
        "model's median over this one's",
    ]  # fmt: skip
    return markdown(header, rows, numbers_from=2)


def _ratio(found: Sequence[float]) -> str:
    return f"{figure(found[0], 2)} ({between(found[1:])})"


def _curve(answer: Answer) -> str:
    rows = [
        [str(each["runs"]), figure(each["seconds"]), percent(each[BOOSTING], 1), percent(each[RIDGE], 1)]
        for each in answer["curve"]
    ]
    return markdown(["training runs", "seconds", "gradient boosting", "ridge"], rows, numbers_from=0)


def _outside(answer: Answer) -> str:
    rows = [
        [name, str(found["runs"]), *(percent(found[each], 1) for each in (MODEL, BOOSTING, RIDGE))]
        for name, found in answer["outside"].items()
    ]
    return markdown(["outside by", "runs", *(_TITLES[name] for name in (MODEL, BOOSTING, RIDGE))], rows)


def _conditions(answer: Answer) -> str:
    conditions = answer["conditions"]
    spread = answer["errors"][HELD_OUT]["spread"]
    rows = [
        ["machine", f"{conditions['cpu_model']}, {conditions['cores']} cores"],
        ["calibration", f"{figure(conditions['calibration_seconds'])} s"],
        ["training runs", f"{answer['training_runs']} configurations, {figure(conditions['training_seconds'])} s"],
        ["noise floor of the calibration", percent(conditions["noise_floor"], 1)],
        ["median range of a held-out run's three repeats", percent(spread, 1)],
        [
            "settings of gradient boosting",
            ", ".join(f"{k} {v}" for k, v in sorted(answer["boosting"]["settings"].items())),
        ],
        ["its error left out of the training runs", percent(answer["boosting"]["error"], 1)],
    ]
    return markdown(["", ""], rows)


STUDY = Study("model_against_regression", compute, tables)
