"""From micro-runs on this machine to its profile: measure, fit group by group, write down."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tomli_w

import perfmodel
from calibration.fit import Constant
from calibration.journal import Tell
from calibration.kernels._base import chosen_kernels
from calibration.machine_constants import DEVICE
from calibration.machine_fit import FittedGroup, assumed, fitted_groups
from calibration.machine_groups import GROUPS
from calibration.machine_profile import completed, earlier_profile, profile_table
from calibration.pipeline.process import keep_memory
from calibration.run import Progress, measure
from perfmodel.environment import this_machine
from perfmodel.errors import SpecError
from perfmodel.spec.catalog import THIS_MACHINE, own_profiles
from perfmodel.units import render

#: Relative deviation of the reference computation above which a machine is too busy to be calibrated well.
NOISY: Final = 0.10


def calibrate_machine(
    quick: bool, only: tuple[str, ...], out: str | None, tell: Tell, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure this machine, fit its constants, and write its profile; returns the JSON document.

    Parameters
    ----------
    quick : bool
        Within a minute; otherwise within ten.
    only : tuple of str
        Kernels to run, all where empty; constants of others are kept from the profile that is there.
    out : str, optional
        Where to write, instead of where ``--system this-machine`` looks.
    tell : callable
        Where to say what the user should know.
    progress : callable, optional
        Told how many visits are done, of how many.

    Raises
    ------
    SpecError
        An unknown kernel, a file that can't be written.
    """
    path = _target(out)
    kernels = chosen_kernels(only)
    earlier = earlier_profile(path, this_machine()) if only else None
    keep_memory()
    measured = measure(kernels, path.with_suffix(".samples.jsonl"), quick, progress, tell=tell)
    groups = fitted_groups(measured, earlier)
    guesses = assumed(measured, groups, earlier)
    table = profile_table(measured, groups, guesses)
    if earlier is not None:
        table = completed(table, earlier)
    _write_profile(path, table)
    if guesses:
        tell(_of_guesses(guesses))
    return {
        "schema": 1,
        "perfmodel": perfmodel.__version__,
        "inputs": {path.with_suffix(".samples.jsonl").name: measured.sha256},
        "profile": str(path),
        "seconds": measured.seconds,
        "noise_floor": measured.noise_floor,
        "disturbed": measured.disturbed,
        "noisy": measured.noise_floor > NOISY,
        "groups": [_group_report(fitted) for fitted in groups],
        "assumed": [{"entry": each.entry, "field": each.fields[0], "value": each.start} for each in guesses],
        "skipped": [{"kernel": kernel, "reason": reason} for kernel, reason in measured.skipped],
        "failed": [{"kernel": k, "point": dict(point), "reason": reason} for k, point, reason in measured.failed],
        "residual": table["residual"],
        "environment": measured.environment.as_dict(),
    }


def _of_guesses(guesses: Sequence[Constant]) -> str:
    """Say which constants were assumed, and which kernels would measure them."""
    fields = {each.fields[0] for each in guesses}
    missing = [
        kernel
        for group in GROUPS
        if any(constant.entry == DEVICE and constant.fields[0] in fields for constant in group.constants.values())
        for kernel in group.kernels
    ]
    values = ", ".join(f"{each.fields[0]} = {render(each.start, each.unit)}" for each in guesses)
    run = " ".join(f"--only {kernel}" for kernel in dict.fromkeys(missing))
    return f"assumed, since nothing has measured it on this machine: {values}; measure with: perfmodel calibrate {run}"


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
