"""From micro-runs on this machine to its profile: measure, fit group by group, write down."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import tomli_w
from numpy.typing import NDArray

import perfmodel
from calibration.fit import Constant, Fit, fit
from calibration.kernels._base import chosen_kernels
from calibration.machine_constants import DEVICE, GROUPS, SHARED_MEMORY, TCP, Group
from calibration.measurements import Measurements, Record
from calibration.pipeline.process import keep_memory
from calibration.run import measure
from perfmodel.cli.output import write_json, write_line, write_table
from perfmodel.environment import this_machine
from perfmodel.errors import SpecError
from perfmodel.model.compile import model_hash
from perfmodel.spec._base import build
from perfmodel.spec.catalog import THIS_MACHINE, own_profiles, parse_toml, read_bytes
from perfmodel.spec.profile import Profile
from perfmodel.units import render

Array = NDArray[np.float64]

#: What a phase's law is trusted to leave over where the points themselves are sharper [log].
LEAST_SCATTER: Final = 0.03
#: Relative deviation of the reference computation above which a machine is too busy to be calibrated well.
NOISY: Final = 0.10
#: Steps of a prediction that run the phase of another.
_SAME: Final = {"neighborhood_lookup": "sampling"}


@dataclasses.dataclass(frozen=True)
class FittedGroup:
    """A group with its constants' values.

    Attributes
    ----------
    group : Group
    found : Fit
    records : sequence of Record
    """

    group: Group
    found: Fit
    records: Sequence[Record]

    @property
    def errors(self) -> Array:
        """Return the absolute errors of the points as a share of the measured times."""
        return np.abs(np.expm1(self.found.residuals))


def fitted_groups(measured: Measurements, earlier: Mapping[str, Any] | None = None) -> list[FittedGroup]:
    """Fit every group whose kernels were measured; constants of earlier groups are known to later ones.

    Where the kernels of an earlier group were not run, its constants of the device are those of an earlier profile, and
    without one the values that a fit would start from.
    """
    values = {**_presumed(earlier), "cores": _memory_cores(measured)}
    found = []
    for group in GROUPS:
        records = [record for record in measured.samples if record.kernel in group.kernels]
        kernels = {record.kernel for record in records}
        chosen = group.chosen(records)
        if kernels == set(group.kernels) and len(chosen) > len(group.constants):
            fitted = _fitted(group, chosen, values)
            values.update(zip(group.constants, (float(value) for value in fitted.found.values), strict=True))
            found.append(fitted)
    return found


def _presumed(earlier: Mapping[str, Any] | None) -> dict[str, float]:
    kept = {
        field: float(parameter["value"])
        for parameter in (earlier or {}).get("parameters", ())
        if parameter["entry"] == DEVICE
        for field in parameter["fields"]
    }
    constants = [pair for group in GROUPS for pair in group.constants.items() if pair[1].entry == DEVICE]
    return {name: kept.get(constant.fields[0], constant.start) for name, constant in constants}


def _memory_cores(measured: Measurements) -> float:
    """Return the cores that the memory node shares with its workers: all but one."""
    return float(max((measured.environment.cores or 1) - 1, 1))


def _fitted(group: Group, records: Sequence[Record], known: Mapping[str, float]) -> FittedGroup:
    times = np.array([record.time for record in records])
    spread = np.array([record.spread if np.isfinite(record.spread) else 0.1 for record in records])
    error = np.hypot(LEAST_SCATTER, spread / np.sqrt(3.0))

    def predicted(values: Array) -> Array:
        named = {**known, **dict(zip(group.constants, (float(value) for value in values), strict=True))}
        return np.array([group.predict(record, named) for record in records])

    return FittedGroup(group, fit(predicted, times, error, list(group.constants.values()), loss="soft_l1"), records)


def profile_table(measured: Measurements, groups: Sequence[FittedGroup]) -> dict[str, Any]:
    """Return the profile of this machine, ready for a TOML file."""
    parameters = [
        _parameter(constant, float(value), interval)
        for fitted in groups
        for constant, value, interval in zip(
            fitted.group.constants.values(), fitted.found.values, fitted.found.intervals(), strict=True
        )
    ]
    facts = _facts(measured)
    size = len(parameters) + len(facts)
    covariance = np.zeros((size, size))
    start = 0
    for fitted in groups:
        end = start + fitted.found.values.size
        covariance[start:end, start:end] = fitted.found.covariance
        start = end
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
    return {**found, "rest": max(found.values(), default=floor)}


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
        ("cores", _memory_cores(measured), "", "cores but that of the compute node", system),
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


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def calibrate_machine(quick: bool, only: tuple[str, ...], out: str | None, as_json: bool) -> None:
    """Measure this machine, fit its constants, and write its profile.

    Parameters
    ----------
    quick : bool
        Within a minute; otherwise within ten.
    only : tuple of str
        Kernels to run, all where empty; constants of others are kept from the profile that is there.
    out : str, optional
        Where to write, instead of where ``--system this-machine`` looks.
    as_json : bool

    Raises
    ------
    SpecError
        An unknown kernel, a file that can't be written.
    """
    path = _target(out)
    kernels = chosen_kernels(only)
    earlier = earlier_profile(path, this_machine()) if only else None
    keep_memory()
    measured = measure(kernels, path.with_suffix(".samples.jsonl"), quick, progress=True)
    groups = fitted_groups(measured, earlier)
    table = profile_table(measured, groups)
    if earlier is not None:
        table = completed(table, earlier)
    _write_profile(path, table)
    document = {
        "schema": 1,
        "perfmodel": perfmodel.__version__,
        "inputs": {path.with_suffix(".samples.jsonl").name: measured.sha256},
        "profile": str(path),
        "seconds": measured.seconds,
        "noise_floor": measured.noise_floor,
        "groups": [_group_report(fitted) for fitted in groups],
        "skipped": [{"kernel": kernel, "reason": reason} for kernel, reason in measured.skipped],
        "failed": [{"kernel": k, "point": dict(point), "reason": reason} for k, point, reason in measured.failed],
        "residual": table["residual"],
        "environment": measured.environment.as_dict(),
    }
    if as_json:
        write_json(document)
    else:
        _write_report(document, path)


def _target(out: str | None) -> pathlib.Path:
    """Return the profile's file, after making sure that it can be written."""
    path = own_profiles() / f"{THIS_MACHINE}.toml" if out is None else pathlib.Path(out)
    try:
        if out is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() or not path.parent.is_dir():
            raise SpecError(f"--out {path}", "must be a file in a directory that exists", str(path.parent))
        if path.suffix != ".toml":
            raise SpecError(f"--out {path}", "must end in .toml", path.suffix or "no ending", f"{path}.toml")
        if not os.access(path.parent, os.W_OK):
            raise SpecError(str(path.parent), "must be writable", "a directory that is not", "--out FILE.toml")
    except OSError as error:
        raise SpecError(str(path), "must be writable", error.strerror, "--out FILE.toml") from None
    return path


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


def _write_profile(path: pathlib.Path, table: dict[str, Any]) -> None:
    """Write the profile in one go: a broken write leaves the one that was there."""
    draft = path.with_suffix(".draft")
    try:
        draft.write_text(tomli_w.dumps(table), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise SpecError(str(path), "must have room for the profile", error.strerror, "--out FILE.toml") from None


def _group_report(fitted: FittedGroup) -> dict[str, Any]:
    errors = fitted.errors
    return {
        "phase": fitted.group.phase,
        "kernels": list(fitted.group.kernels),
        "points": len(fitted.records),
        "median_error": float(np.median(errors)),
        "p90_error": float(np.quantile(errors, 0.9)),
        "constants": {
            f"{constant.entry} {constant.fields[0]}": {
                "value": float(value), "interval": list(interval), "unit": constant.unit, "meaning": constant.meaning,
            }
            for constant, value, interval in zip(
                fitted.group.constants.values(), fitted.found.values, fitted.found.intervals(), strict=True
            )
        },
    }  # fmt: skip


def _write_report(document: dict[str, Any], path: pathlib.Path) -> None:
    rows = [
        [group["phase"], key, render(own["value"], own["unit"]), _between(own), own["meaning"]]
        for group in document["groups"]
        for key, own in group["constants"].items()
    ]
    write_table(
        "constants", ["phase", "constant", "value", "90% interval", "meaning"], rows, numbers=(2,), wrapped=(4,)
    )
    errors = [
        [g["phase"], ", ".join(g["kernels"]), str(g["points"]), f"{g['median_error']:.1%}", f"{g['p90_error']:.1%}"]
        for g in document["groups"]
    ]
    write_table(
        "how well the laws meet the micro-runs", ["phase", "kernels", "points", "median", "90%"], errors, (2, 3, 4)
    )
    for skipped in document["skipped"]:
        write_line(f"left out: {skipped['kernel']}: {skipped['reason']}")
    for failed in document["failed"]:
        write_line(f"failed: {failed['kernel']} at {failed['point']}: {failed['reason']}")
    write_line(f"noise floor {document['noise_floor']:.1%}; {document['seconds']:.0f} s of measuring")
    if document["noise_floor"] > NOISY:
        write_line("something else was running: quiet the machine and calibrate again for narrower intervals")
    write_line(f"profile written to {path}")
    write_line("hold it against real runs: perfmodel validate machine")


def _between(own: dict[str, Any]) -> str:
    low, high = (render(bound, own["unit"]) for bound in own["interval"])
    return f"{low} to {high}"
