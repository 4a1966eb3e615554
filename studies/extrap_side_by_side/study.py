"""Recovers five known laws from 25 noisy points and predicts at eight times the largest one, with both programs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from calibration.law_choice import choose
from calibration.law_fit import fit_law
from calibration.noise import measured_noise
from studies._base import Answer, Study, markdown, percent
from studies.extrap_side_by_side import theirs
from studies.extrap_side_by_side.cases import CASES, NOISE, REACH, SEEDS, Case

OURS: Final = "perfmodel"
THEIRS: Final = "Extra-P"
CLOSE: Final = 0.05  # an extrapolation that is counted as good


def compute() -> Answer:
    """Fit every case and seed; without Extra-P its part stays as last computed."""
    kept = None if theirs.installed() else STUDY.answer()[THEIRS]
    return {
        "noise": NOISE,
        "reach": REACH,
        "seeds": SEEDS,
        OURS: {case.name: ours(case) for case in CASES},
        THEIRS: kept or {case.name: extra_p(case) for case in CASES},
    }


def ours(case: Case) -> Answer:
    """Return what the laws make of a case: which are chosen, and how far off they are at the far point."""
    true = float(case.true(case.far)[0])
    chosen: dict[str, int] = {}
    errors, inside = [], 0
    for seed in range(SEEDS):
        points = case.measured(seed)
        noise = measured_noise(points)
        law, _ = choose(points, noise.errors)
        value, low, high = fit_law(law, points, noise.errors).predict(case.far)
        errors.append(abs(float(value[0]) / true - 1.0))
        inside += bool(low[0] <= true <= high[0])
        chosen[law.name] = chosen.get(law.name, 0) + 1
    return {**_summary(errors), "recovered": chosen.get(case.law_name, 0), "inside_interval": inside, "chosen": chosen}


def extra_p(case: Case) -> Answer:
    """Return what Extra-P makes of a case, for each of its settings."""
    true = float(case.true(case.far)[0])
    found: Answer = {}
    for name, setting in theirs.settings(case).items():
        functions = [theirs.model(case.measured(seed), setting) for seed in range(SEEDS)]
        errors = [abs(theirs.value(function, case) / true - 1.0) for function in functions]
        recovered = sum(theirs.recovered(function, case) for function in functions)
        found[name] = {**_summary(errors), "recovered": recovered}
    return found


def _summary(errors: list[float]) -> dict[str, Any]:
    return {
        "median_error": float(np.median(errors)),
        "max_error": float(np.max(errors)),
        "close": sum(error <= CLOSE for error in errors),
    }


def best_setting(settings: Answer) -> str:
    """Return the setting that recovers most, the smaller error where two recover as many: known in hindsight only."""
    return min(
        settings,
        key=lambda name: (-settings[name]["recovered"], settings[name]["median_error"], name != "default", name),
    )


def tables(answer: Answer) -> dict[str, str]:
    """Return the side-by-side table and that of Extra-P's settings."""
    return {"side-by-side": _side_by_side(answer), "settings": _settings(answer)}


def _side_by_side(answer: Answer) -> str:
    rows = []
    for case in CASES:
        own, other = answer[OURS][case.name], answer[THEIRS][case.name]
        best = best_setting(other)
        shown = {OURS: own, f"{THEIRS}, default": other["default"], f"{THEIRS}, {best}": other[best]}
        for program, found in shown.items():
            counted = f"{found['recovered']} of {answer['seeds']}"
            rows.append([case.name, program, counted, *_errors(found, answer["seeds"])])
    header = ["law", "program, setting", "recovered", "median error at 8x", "largest", "within 5 %"]
    return markdown(header, rows, numbers_from=2)


def _settings(answer: Answer) -> str:
    rows = [
        [case.name, name, f"{found['recovered']} of {answer['seeds']}", *_errors(found, answer["seeds"])]
        for case in CASES
        for name, found in sorted(answer[THEIRS][case.name].items())
    ]
    header = ["law", "setting", "recovered", "median error at 8x", "largest", "within 5 %"]
    return markdown(header, rows, numbers_from=2)


def _errors(found: Answer, seeds: int) -> list[str]:
    return [percent(found["median_error"], 1), percent(found["max_error"], 1), f"{found['close']} of {seeds}"]


STUDY = Study("extrap_side_by_side", compute, tables)
