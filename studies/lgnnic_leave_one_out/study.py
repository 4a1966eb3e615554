"""Fits LGNNIC's table without some of its rows, predicts those, and varies what the fit takes as given."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from calibration.fit import Constant
from calibration.published import lgnnic, ogbn_mag
from calibration.published.lgnnic import Published
from calibration.published.lgnnic_constants import CONSTANTS
from calibration.validation import Row, by_quantity, summary
from perfmodel.spec.scenario import Scenario
from studies._base import Answer, Study, markdown, percent

MIB: Final = 2.0**20
HEAP_LIMITS: Final = (16, 24, 28, 30, 32, 34, 36, 40, 48, 64)  # [MiB]
HEAP_KEYS: Final = ("system.memory_node.heap_limit", "system.compute_node.heap_limit")
#: What one may take for the constants that only ogbn-products fixes, where its rows are left out.
GUESSES: Final[Mapping[str, Mapping[str, float]]] = {
    "seeds in proportion to degree, no clustering": {"sampling.seeds.degree_bias": 1.0, "common_reach": 1e15},
    "seeds uniform, no clustering": {"sampling.seeds.degree_bias": 0.0, "common_reach": 1e15},
    "seeds uniform, no clustering, no cache misses": {
        "sampling.seeds.degree_bias": 0.0, "common_reach": 1e15, "sampling.time_per_miss": 1e-12,
    },
}  # fmt: skip
CHI_SQUARE_90: Final = 2.706  # of one degree of freedom
PROBE: Final = 1.5  # times a constant's first guess: does any row move?


class Varied(Published):
    """A row of the table with something changed that the fit takes as given."""

    changes: Mapping[str, Any]

    def scenario(self, profile: Mapping[str, Any] | str | None = None) -> Scenario:
        """Return the row as a scenario, changed."""
        return super().scenario(profile).replace(self.changes)


def varied(rows: Sequence[Published], changes: Mapping[str, Any]) -> list[Published]:
    """Return rows with something changed; changes of a dataset's graph apply to its rows only."""
    found: list[Published] = []
    for row in rows:
        new = Varied(*row)
        new.changes = {
            key: value for key, value in changes.items() if "node_types" not in key or row.dataset == "ogbn-mag"
        }
        found.append(new)
    return found


def folds(rows: Sequence[Published]) -> dict[str, dict[str, list[Published]]]:
    """Return the rows left out, by kind of fold and by what is left out."""
    datasets = dict.fromkeys(row.dataset for row in rows)
    fanouts = dict.fromkeys(row.fanout for row in rows)
    return {
        "dataset": {name: [row for row in rows if row.dataset == name] for name in datasets},
        "fanout": {",".join(map(str, fanout)): [row for row in rows if row.fanout == fanout] for fanout in fanouts},
    }


def fold(left_out: Sequence[Published]) -> Answer:
    """Fit without some rows and predict them."""
    profile, still = fitted_without(left_out)
    rows = lgnnic.compared(left_out, profile)
    return {
        **_scores(rows),
        "constants": [_constant(profile, index, index in still) for index in range(len(CONSTANTS))],
        "rows": [_plain(row) for row in rows],
        "with_prior": _scores(lgnnic.compared(left_out, with_prior(profile, still))),
    }


def fitted_without(left_out: Sequence[Published]) -> tuple[dict[str, Any], set[int]]:
    """Fit the other rows; returns the profile, and the constants that none of them depends on."""
    kept = [row for row in lgnnic.read_table() if row not in set(left_out)]
    still = unmoved(kept)
    return lgnnic.fitted_profile(kept, held(still)), still


def unmoved(rows: Sequence[Published]) -> set[int]:
    """Return the places of the constants that no row depends on."""
    model = lgnnic.TableModel(rows, CONSTANTS)
    start = np.array([constant.start for constant in CONSTANTS])
    at_start = model(start)
    probes = start * np.where(np.eye(start.size) > 0, PROBE, 1.0)
    return {index for index, probe in enumerate(probes) if np.all(model(probe) == at_start)}


def held(still: set[int]) -> list[Constant]:
    """Return the constants, some of them held at their first guess: the optimizer would let them drift."""
    return [
        dataclasses.replace(constant, bounds=(constant.start * (1 - 1e-9), constant.start * (1 + 1e-9)))
        if index in still
        else constant
        for index, constant in enumerate(CONSTANTS)
    ]


def with_prior(profile: Mapping[str, Any], still: set[int]) -> dict[str, Any]:
    """Give constants that no row depends on the spread that makes their bounds a 90 % interval."""
    covariance = np.array(profile["covariance"])
    for index in still:
        low, high = CONSTANTS[index].bounds
        covariance[index], covariance[:, index] = 0.0, 0.0
        covariance[index, index] = (np.log(high / low) / (2 * lgnnic.NORMAL_REACH)) ** 2
    return {**profile, "covariance": covariance.tolist()}


def _constant(profile: Mapping[str, Any], index: int, still: bool) -> Answer:
    found = profile["parameters"][index]
    bounds = CONSTANTS[index].bounds
    return {
        "constant": f"{found['entry'].split('/')[1]} {found['fields'][0]}",
        "value": found["value"],
        "unit": found["unit"],
        "interval": None if still else list(found["interval"]),
        "at_bound": not bounds[0] * 1.001 < found["value"] < bounds[1] / 1.001,
    }


def _scores(rows: Sequence[Row]) -> Answer:
    return {**by_quantity(rows), "all": summary(rows)}


def _plain(row: Row) -> Answer:
    kept = ("dataset", "mechanism", "fanout", "precision", "quantity", "measured", "predicted", "interval", "ape")
    plain = row.to_dict()
    return {name: plain[name] for name in (*kept, "inside_interval")}


def guessed(name: str) -> Answer:
    """Predict ogbn-products' rows by a fit to the others, with another guess of what only they fix."""
    left_out = [row for row in lgnnic.read_table() if row.dataset == "ogbn-products"]
    profile, _ = fitted_without(left_out)
    guess = GUESSES[name]
    parameters = [{**found, "value": guess.get(found["fields"][0], found["value"])} for found in profile["parameters"]]
    changed = {**profile, "parameters": parameters}
    return _scores(lgnnic.compared(left_out, changed))


def variations() -> dict[str, dict[str, Any]]:
    """Return what the fit takes as given, each changed in turn."""
    found: dict[str, dict[str, Any]] = {
        f"heap limit {size} MiB": dict.fromkeys(HEAP_KEYS, size * MIB) for size in HEAP_LIMITS
    }
    found["copy to the GPU from pinned memory"] = {"system.gpu_link": "pcie-gen4-x16-pinned"}
    for constant, interval in zip(ogbn_mag.constants(), ogbn_mag.fitted().intervals(), strict=True):
        field = constant.fields[0]
        label = " ".join(part for part in field.split(".") if part not in ("node_types", "degrees", "cv"))
        for value in interval:
            key = f"ogbn-mag spread of {label} {value:.3g}"
            found[key] = {f"workload.graph.{field}": float(f"{value:.4g}")}
    return found


def variation(changes: Mapping[str, Any]) -> Answer:
    """Fit the whole table with something changed."""
    rows = varied(lgnnic.read_table(), changes)
    fit = lgnnic.fitted(rows)
    size = len(rows)
    errors = np.abs(np.expm1(fit.residuals))
    return {
        "cost": fit.cost,
        "median_ape": {"transfer": np.median(errors[:size]), "execution": np.median(errors[size:])},
        "mean_ape": {"transfer": np.mean(errors[:size]), "execution": np.mean(errors[size:])},
        "logs": np.log(fit.values).tolist(),
        "deviations": np.sqrt(np.diag(fit.covariance)).tolist(),
    }


def compute() -> Answer:
    """Fit every fold and every variation; several minutes on two cores."""
    rows = lgnnic.read_table()
    by_kind = folds(rows)
    given = {"as fitted": {}, **variations()}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {
            kind: {name: pool.submit(fold, left) for name, left in parts.items()} for kind, parts in by_kind.items()
        }
        guesses = {name: pool.submit(guessed, name) for name in GUESSES}
        varying = {name: pool.submit(variation, changes) for name, changes in given.items()}
        found = {kind: {name: job.result() for name, job in jobs.items()} for kind, jobs in running.items()}
        outcome = {name: job.result() for name, job in varying.items()}
        answer: Answer = {"guesses": {name: job.result() for name, job in guesses.items()}}
    answer["in_sample"] = _scores(lgnnic.compared(rows, lgnnic.fitted_profile(rows)))
    answer["folds"] = {kind: {"folds": parts, "total": _total(parts)} for kind, parts in found.items()}
    answer["variations"] = _variations(outcome)
    answer["rows"] = len(rows)
    return answer


def _total(parts: Mapping[str, Answer]) -> Answer:
    rows = [_row(plain) for part in parts.values() for plain in part["rows"]]
    return _scores(rows)


def _row(plain: Mapping[str, Any]) -> Row:
    names = ("dataset", "mechanism", "fanout", "precision")
    measured = float(plain["measured"])
    resolution = next(
        row.resolution[lgnnic.QUANTITIES.index(plain["quantity"])]
        for row in _by_inputs()[tuple(plain[name] for name in names)]
    )
    low, high = plain["interval"]
    inputs = {name: plain[name] for name in names}
    return Row(inputs, plain["quantity"], measured, plain["predicted"], (low, high), resolution)


@functools.cache
def _by_inputs() -> dict[tuple[str, ...], list[Published]]:
    found: dict[tuple[str, ...], list[Published]] = {}
    for row in lgnnic.read_table():
        found.setdefault((row.dataset, row.mechanism, " ".join(map(str, row.fanout)), row.precision), []).append(row)
    return found


def _variations(outcome: Mapping[str, Answer]) -> dict[str, Answer]:
    """Compare each variation's fit with the one as it stands."""
    base = outcome["as fitted"]
    degrees = 2 * len(lgnnic.read_table()) - len(CONSTANTS)
    scale = 2 * base["cost"] / degrees
    found: dict[str, Answer] = {}
    for name, fit in outcome.items():
        shift = (np.array(fit["logs"]) - np.array(base["logs"])) / np.maximum(base["deviations"], 1e-12)
        moved = int(np.argmax(np.abs(shift)))
        chi_square = 2 * (fit["cost"] - base["cost"]) / scale
        found[name] = {
            "cost": fit["cost"],
            "chi_square_change": chi_square,
            "within_90": bool(chi_square <= CHI_SQUARE_90),
            "median_ape": fit["median_ape"],
            "mean_ape": fit["mean_ape"],
            "most_moved": f"{CONSTANTS[moved].entry.split('/')[1]} {CONSTANTS[moved].fields[0]}",
            "moved_by": float(np.exp(fit["logs"][moved] - base["logs"][moved])),
            "moved_by_errors": float(shift[moved]),
        }
    return found


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "errors": _error_table(answer),
        "constants": _constant_table(answer),
        "guesses": _guess_table(answer),
        "misses": _miss_table(answer),
        "variations": _variation_table(answer),
    }


def _error_table(answer: Answer) -> str:
    rows = [_error_row("nothing (the fit's own rows)", answer["in_sample"], None)]
    for kind, found in answer["folds"].items():
        rows += [_error_row(name, part, part["with_prior"]) for name, part in found["folds"].items()]
        rows.append(_error_row(f"**every {kind} in turn**", found["total"], None))
    header = [
        "left out", "rows", "transfer: median", "mean", "max", "inside 90 %", "execution: median", "mean", "max",
        "inside 90 %", "all inside, with bounds as prior",
    ]  # fmt: skip
    return markdown(header, rows)


def _error_row(name: str, scores: Answer, prior: Answer | None) -> list[str]:
    cells = [name, str(scores["all"]["n"])]
    for quantity in lgnnic.QUANTITIES:
        part = scores[quantity]
        cells += [percent(part[key], 1) for key in ("median_ape", "mean_ape", "max_ape")]
        cells.append(percent(part["coverage_90"]))
    return [*cells, "" if prior is None else percent(prior["all"]["coverage_90"])]


def _constant_table(answer: Answer) -> str:
    rows = []
    for kind, found in answer["folds"].items():
        for name, part in found["folds"].items():
            for constant in part["constants"]:
                loose = constant["interval"] is not None and constant["interval"][1] > 10 * constant["interval"][0]
                if constant["interval"] is None or constant["at_bound"] or loose:
                    rows.append([kind, name, constant["constant"], _value(constant), _state(constant)])
    return markdown(["fold", "left out", "constant", "value", "what fixes it"], rows, numbers_from=5)


def _value(constant: Answer) -> str:
    return f"{constant['value']:.3g} {constant['unit']}".strip()


def _state(constant: Answer) -> str:
    if constant["interval"] is None:
        return "no row that is left: it keeps its first guess"
    low, high = constant["interval"]
    where = "the fit stops at its bound" if constant["at_bound"] else "loosely known"
    return f"{where}: {low:.2g} to {high:.2g}"


def _guess_table(answer: Answer) -> str:
    first = answer["folds"]["dataset"]["folds"]["ogbn-products"]
    named = {"the fit's first guesses (bias 0.9, reach 2,000, 1.8 us a miss)": first, **answer["guesses"]}
    header = ["what is taken for them", "transfer: median", "mean", "max", "execution: median", "mean", "max"]
    rows = [
        [name]
        + [
            percent(scores[quantity][key], 1)
            for quantity in lgnnic.QUANTITIES
            for key in ("median_ape", "mean_ape", "max_ape")
        ]
        for name, scores in named.items()
    ]
    return markdown(header, rows)


def _miss_table(answer: Answer) -> str:
    rows = []
    for kind, found in answer["folds"].items():
        for name, part in found["folds"].items():
            worst = sorted(part["rows"], key=lambda row: -row["ape"])[:2]
            rows += [
                [
                    kind, name, f"{row['dataset']} {row['mechanism']} {row['fanout'].replace(' ', ',')} {row['precision']}",
                    row["quantity"], f"{row['measured']:g}", f"{row['predicted']:.3g}",
                    f"{row['interval'][0]:.3g} to {row['interval'][1]:.3g}", percent(row["ape"]),
                ]
                for row in worst
            ]  # fmt: skip
    header = ["fold", "left out", "row", "quantity", "measured [s]", "predicted [s]", "90 % interval [s]", "error"]
    return markdown(header, rows, numbers_from=4)


def _variation_table(answer: Answer) -> str:
    base = answer["variations"]["as fitted"]
    names = ["as fitted", *(name for name in answer["variations"] if name != "as fitted")]
    rows = []
    for name in sorted(names, key=_variation_order):
        found = answer["variations"][name]
        moved = "" if found is base else f"{found['most_moved']} x {found['moved_by']:.2f}"
        rows.append(
            [
                name, f"{found['cost']:.1f}", f"{found['chi_square_change']:+.1f}", "yes" if found["within_90"] else "no",
                percent(found["median_ape"]["transfer"], 1), percent(found["median_ape"]["execution"], 1), moved,
                f"{found['moved_by_errors']:+.1f}",
            ]
        )  # fmt: skip
    header = [
        "what is taken as given", "cost", "chi-square", "within 90 %", "median error, transfer", "execution",
        "constant that moves most", "by standard errors",
    ]  # fmt: skip
    return markdown(header, rows)


def _variation_order(name: str) -> tuple[int, int, str]:
    parts = name.split()
    limit = int(parts[2]) if name.startswith("heap limit") else 0
    return (name != "as fitted") + 2 * name.startswith("copy") + 4 * name.startswith("ogbn"), limit, name


STUDY = Study("lgnnic_leave_one_out", compute, tables)
