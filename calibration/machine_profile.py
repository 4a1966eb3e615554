"""The profile of the machine at hand: fitted constants, what was read off the machine, and what had to be assumed."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import perfmodel
from calibration.fit import Constant
from calibration.machine_constants import DEVICE, SHARED_MEMORY, TCP
from calibration.machine_fit import LEAST_SCATTER, FittedGroup, memory_cores
from calibration.measurements import Measurements
from calibration.snapshot_constants import GROUPS as SNAPSHOT_GROUPS
from perfmodel.errors import SpecError
from perfmodel.model.compile import model_hash
from perfmodel.spec._base import build
from perfmodel.spec.catalog import THIS_MACHINE, parse_toml, read_bytes
from perfmodel.spec.profile import Profile
from perfmodel.uncertainty import UNCALIBRATED_SPREAD

Array = NDArray[np.float64]

_REACH: Final = 1.6449  # standard deviations from the middle to either end of a 90 % interval
#: Steps of a prediction that run the phase of another.
_SAME: Final = {"neighborhood_lookup": "sampling", "ring_window": "routing"}


def profile_table(
    measured: Measurements, groups: Sequence[FittedGroup], guesses: Sequence[Constant] = ()
) -> dict[str, Any]:
    """Return the profile of this machine, ready for a TOML file.

    Parameters
    ----------
    measured : Measurements
    groups : sequence of FittedGroup
    guesses : sequence of Constant
        What the fits assumed of constants that were not measured.
    """
    parameters = [
        _parameter(constant, float(value), interval)
        for fitted in groups
        for constant, value, interval in zip(
            fitted.group.constants.values(), fitted.found.values, fitted.found.intervals(), strict=True
        )
    ]
    facts = [*(_guess(constant) for constant in guesses), *_facts(measured)]
    size = len(parameters) + len(facts)
    covariance = np.zeros((size, size))
    start = 0
    for fitted in groups:
        end = start + fitted.found.values.size
        covariance[start:end, start:end] = fitted.found.covariance
        start = end
    for place in range(start, start + len(guesses)):
        covariance[place, place] = UNCALIBRATED_SPREAD["assumed"] ** 2
    environment = measured.environment
    return {
        "name": THIS_MACHINE,
        "title": f"Measured on {environment.cpu_model or 'an unnamed processor'}, {environment.cores} cores",
        "sources": {"*": "calibrated: micro-runs on the machine at hand"},
        "parameters": parameters + facts,
        "covariance": [[_rounded(value) for value in row] for row in covariance],
        "residual": residuals(groups, measured.noise_floor),
        "made_by": {
            "command": "perfmodel calibrate" + " --quick" * bool(measured.settings["quick"]),
            "perfmodel": perfmodel.__version__,
            "model": model_hash(),
            "machine": environment.fingerprint_hash,
            "noise_floor": _rounded(measured.noise_floor),
            "versions": dict(environment.versions),
            "environment": {key: value for key, value in environment.as_dict().items() if value is not None},
        },
        "data": {"samples": measured.sha256},
    }


def residuals(groups: Sequence[FittedGroup], noise_floor: float) -> dict[str, float]:
    """Return what each step's law left over on its kernels' points [log], with the machine's noise on top."""
    by_phase: dict[str, list[Array]] = {}
    for fitted in groups:
        by_phase.setdefault(fitted.group.phase, []).append(fitted.found.residuals)
    floor = max(LEAST_SCATTER, noise_floor)
    found = {
        phase: _rounded(float(np.hypot(np.sqrt(np.mean(np.concatenate(parts) ** 2)), floor)))
        for phase, parts in by_phase.items()
        if phase not in ("workers", "aggregation")
    }
    found |= {step: found[phase] for step, phase in _SAME.items() if phase in found}
    others = [error for phase, error in found.items() if phase not in {group.phase for group in SNAPSHOT_GROUPS}]
    return {**found, "rest": max(others, default=floor)}


def _parameter(constant: Constant, value: float, interval: tuple[float, float]) -> dict[str, Any]:
    return {
        "entry": constant.entry,
        "fields": list(constant.fields),
        "value": _rounded(value),
        "unit": constant.unit,
        "interval": [_rounded(bound) for bound in interval],
        "bounds": list(constant.bounds),
        "meaning": constant.meaning,
    }


def _facts(measured: Measurements) -> list[dict[str, Any]]:
    """Return sizes of the machine: what was read off it, and its memory bandwidth from the largest copies."""
    environment = measured.environment
    copies = [
        2.0 * record.counts["bytes"] / record.time
        for record in measured.samples
        if record.kernel == "memory_copy"
        and record.point["destination"] == "warm"
        and float(record.point["bytes"]) >= 2**26
    ]
    system = "measured: the operating system's account"
    sizes = [
        ("memory", float(environment.memory or 0), "B", "main memory", system),
        ("cores", memory_cores(measured), "", "cores but that of the compute node", system),
        ("snapshots.cores", float(environment.cores or 0), "", "cores that processes with snapshots share", system),
    ]
    if copies:
        found = float(np.median(copies))
        sizes.append(("memory_bandwidth", found, "B/s", "copying on one core, read and write", "measured: memory_copy"))
    facts = [_fact(DEVICE, *size) for size in sizes if size[1] > 0]
    wire = ("bandwidth", 1e18, "B/s", "no wire between two cores", "analytic: copies are all there is")
    chunks = ("max_chunk", 2.0**30, "B", "slots and buffers of a gibibyte at most", "analytic: the pipeline's limit")
    return [*facts, _fact(SHARED_MEMORY, *wire), _fact(SHARED_MEMORY, *chunks), _fact(TCP, *chunks)]


def _fact(entry: str, field: str, value: float, unit: str, meaning: str, source: str) -> dict[str, Any]:
    return {
        "entry": entry, "fields": [field], "value": value, "unit": unit, "interval": [value, value],
        "bounds": [value, value], "meaning": meaning, "fitted": False, "source": source,
    }  # fmt: skip


def _guess(constant: Constant) -> dict[str, Any]:
    """Return a constant that was not measured at the value that a fit would start from."""
    reach = math.exp(_REACH * UNCALIBRATED_SPREAD["assumed"])
    source = "assumed: its kernel was not run, and what was fitted hangs on it"
    interval = [max(constant.start / reach, constant.bounds[0]), min(constant.start * reach, constant.bounds[1])]
    fields = list(constant.fields)
    return {
        "entry": constant.entry, "fields": fields, "value": constant.start, "unit": constant.unit, "interval": interval,
        "bounds": list(constant.bounds), "meaning": constant.meaning, "fitted": False, "source": source,
    }  # fmt: skip


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def earlier_profile(path: pathlib.Path, machine: str) -> dict[str, Any] | None:
    """Return the profile that new constants are to complete, None where there is none yet.

    Raises
    ------
    SpecError
        It was made on another machine, or is no profile.
    """
    if not path.exists():
        return None
    earlier = parse_toml(read_bytes(path), str(path))
    if earlier.get("made_by", {}).get("machine") != machine:
        rule = "must be of this machine to be completed by --only"
        raise SpecError(str(path), rule, "a profile of another", "perfmodel calibrate, without --only")
    build(Profile, earlier, str(path))
    return earlier


def completed(table: dict[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile with the constants that it lacks taken from an earlier one."""
    measured = {(p["entry"], field) for p in table["parameters"] for field in p["fields"]}
    kept = [
        index
        for index, p in enumerate(earlier["parameters"])
        if not any((p["entry"], field) in measured for field in p["fields"])
    ]
    own, other = np.array(table["covariance"]), np.array(earlier["covariance"])[np.ix_(kept, kept)]
    joint = np.zeros((len(own) + len(kept), len(own) + len(kept)))
    joint[: len(own), : len(own)], joint[len(own) :, len(own) :] = own, other
    return {
        **table,
        "parameters": table["parameters"] + [earlier["parameters"][index] for index in kept],
        "covariance": joint.tolist(),
        "residual": {**earlier["residual"], **table["residual"]},
    }
