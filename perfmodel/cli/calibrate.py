"""``perfmodel calibrate``: constants of this machine from micro-runs, or a law fitted to the user's own measurements."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any, Final

import click

from perfmodel.cli.options import json_option
from perfmodel.cli.output import progress_bar, warn, write_json, write_line, write_table
from perfmodel.errors import SpecError

if TYPE_CHECKING:
    from calibration.from_measurements import Calibration

_MOST_RESIDUALS: Final = 40  # points in the view of residuals
#: What a written fit keeps of the document.
_KEPT: Final = (
    "schema", "perfmodel", "law", "formula", "meaning", "interval_level", "cross_validation_error", "extrapolation_error",
    "rows", "points", "scatter", "noise", "inputs", "columns", "parameters", "versions",
)  # fmt: skip
_HALF_WIDTH: Final = 20  # letters on either side of its axis


@click.command("calibrate")
@click.option("--from", "source", metavar="FILE.csv", help="Fit a law to these measurements.")
@click.option("--law", metavar="LAW|auto", help="Law to fit; auto chooses by cross-validation [default: auto].")
@click.option(
    "--at", multiple=True, metavar="X,...", help='Predict here: "4 KiB,1 MiB", or pairs "a=1e6;b=10,a=2e6;b=10".'
)
@click.option("--quick", is_flag=True, help="Shorter micro-runs on this machine, wider intervals.")
@click.option("--only", multiple=True, metavar="KERNEL", help="Run only this micro-run. May be repeated.")
@click.option("--out", metavar="FILE", help="Write the profile, or the fit, as TOML.")
@json_option
def command(
    source: str | None,
    law: str | None,
    at: tuple[str, ...],
    quick: bool,
    only: tuple[str, ...],
    out: str | None,
    as_json: bool,
) -> None:
    """Measure this machine, or fit a law to measurements with --from.

    The file's header names each column and its unit, the last column is the measured one; rows may repeat a point, and
    cells without a value may be empty or NA.

    \b
    transfer_bytes [B],time [us]
    4096,12.1
    1048576,96.4
    \b
    perfmodel calibrate --from transfers.csv --law auto --at "16 MiB,64 MiB"
    """  # noqa: D301
    if source is None:
        _refuse(law is not None, "--law", "fits measurements: name their file", "--from FILE.csv --law LAW")
        _refuse(bool(at), "--at", "predicts with a fitted law: name the measurements' file", "--from FILE.csv --at X")
        document = _measured(quick, only, out)
        if as_json:
            write_json(document)
        else:
            _write_machine(document)
        return
    _refuse(quick, "--quick", "measures this machine and can't go with --from", "--from FILE.csv alone")
    _refuse(bool(only), "--only", "measures this machine and can't go with --from", "--from FILE.csv alone")
    if out is not None:
        _check_out(out, source)
    from calibration.from_measurements import calibrate_table
    from calibration.measurement_table import read_measurements

    chosen = law is None or law == "auto"
    places = [place for text in at for place in text.split(",")]
    found = calibrate_table(read_measurements(source), "auto" if chosen else str(law), places)
    if out is not None:
        _write_toml(out, found)
    if as_json:
        write_json(found.to_dict(chosen))
    else:
        _write(found, chosen, out)
    for warning in found.warnings():
        warn(warning)


def _measured(quick: bool, only: tuple[str, ...], out: str | None) -> dict[str, Any]:
    from calibration.machine import calibrate_machine

    with progress_bar("measuring") as progress:
        return calibrate_machine(quick, only, out, warn, progress)


def _write_machine(document: dict[str, Any]) -> None:
    from perfmodel.units import render

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
    write_line(
        f"noise floor {document['noise_floor']:.1%}; {document['seconds']:.0f} s of measuring, in which the core was slowed"
        f" for {document['disturbed']:.0%} of the time; only undisturbed blocks count"
    )
    if document["noisy"]:
        write_line("something else was running: quiet the machine and calibrate again for narrower intervals")
    write_line(f"profile written to {document['profile']}")
    write_line("hold it against real runs: perfmodel validate machine")


def _between(own: dict[str, Any]) -> str:
    from perfmodel.units import render

    low, high = (render(bound, own["unit"]) for bound in own["interval"])
    return f"{low} to {high}"


def _refuse(wrong: bool, option: str, rule: str, instead: str) -> None:
    if wrong:
        raise SpecError(option, rule, "no --from" if "--from" not in rule else "both", instead)


def _check_out(out: str, source: str) -> None:
    """Raise where nothing can be written, before minutes are spent."""
    if not out.strip() or "\0" in out:
        raise SpecError("--out", "must be the path of a file", repr(out), "fit.toml")
    path = pathlib.Path(out)
    try:
        if path.is_dir():
            raise SpecError(f"--out {out}", "must be a file", "a directory", str(path / "fit.toml"))
        if not path.parent.is_dir():
            raise SpecError(f"--out {out}", "must lie in a directory that exists", f"{path.parent}", path.name)
        if path.is_fifo():  # it would wait for a reader
            raise SpecError(f"--out {out}", "must be a file", "a pipe", "fit.toml")
        if path.exists() and pathlib.Path(source).exists() and path.samefile(source):
            raise SpecError("--out", "must not be the measurements themselves", repr(out), "fit.toml")
    except OSError as error:
        raise SpecError(f"--out {out}", "must be the path of a file", error.strerror or error, "fit.toml") from None


def _write_toml(out: str, found: Calibration) -> None:
    import tomli_w

    document = found.to_dict(chosen=False)
    document["versions"] = _versions()
    table = {key: document[key] for key in _KEPT if document[key] is not None}
    try:
        pathlib.Path(out).write_text(tomli_w.dumps(table), encoding="utf-8")
    except OSError as error:
        raise SpecError(f"--out {out}", "must be writable", error.strerror or error) from None


def _versions() -> dict[str, str]:
    import platform

    import numpy as np
    import scipy

    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


def _write(found: Calibration, chosen: bool, out: str | None) -> None:
    table = found.table
    write_line(f"{found.law.name}: {found.law.meaning}{' (chosen by cross-validation)' if chosen else ''}")
    write_line(found.formula)
    rows = []
    for name, own in found.parameters().items():
        low, high = (_number(end, own["unit"]) for end in own["interval"])
        rows.append([name, _number(own["value"], own["unit"]), f"{low} to {high}", own["meaning"]])
    write_table("", ["parameter", "value", "90% interval", "meaning"], rows, numbers=(1,), wrapped=(3,))
    write_line(f"{len(table.lines)} rows at {table.points.distinct} points; {_errors(found)}")
    if found.lack is not None:
        lack = found.lack
        write_line(f"lack of fit against noise: F = {lack.ratio:.2f}, p = {lack.p_value:.2g}")
    if chosen:
        _write_candidates(found)
    _write_predictions(found)
    _write_residuals(found)
    if out is not None:
        write_line(f"fit written to {out}")


def _errors(found: Calibration) -> str:
    import numpy as np

    parts = []
    left = found.validation
    if left.cross_validation_error is not None:
        parts.append(f"mean error on points left out {left.cross_validation_error:.2%}")
    if left.extrapolation_error is not None:
        parts.append(f"on the largest left out {left.extrapolation_error:.2%}")
    parts.append(f"scatter about the law {found.fit.scatter * float(np.median(found.noise.errors)):.2%}")
    if found.noise.typical is not None:
        parts.append(f"noise between repetitions {found.noise.typical:.2%}")
    return ", ".join(parts)


def _write_candidates(found: Calibration) -> None:
    rows = []
    for one in found.candidates:
        errors = (one.cross_validation_error, one.extrapolation_error)
        shares = ["-" if error is None else f"{error:.2%}" for error in errors]
        mark = "chosen" if one.law is found.law else (one.why_not or "")
        rows.append([one.law.name, str(len(one.law.parameters)), *shares, mark])
    header = ["law", "parameters", "error left out", "largest left out", ""]
    write_table("laws", header, rows, numbers=(1, 2, 3), wrapped=(4,))


def _write_predictions(found: Calibration) -> None:
    if not found.predictions:
        return
    units = found.table.points.units
    rows: list[list[str]] = []
    for one in found.predictions:
        inputs = [_number(value, unit) for value, unit in zip(one.inputs.values(), units, strict=False)]
        low, high = (_number(end, units[-1]) for end in one.interval)
        rows.append([*inputs, _number(one.value, units[-1]), f"{low} to {high}"])
    names = [column.name for column in found.table.columns]
    write_table("predictions", [*names, "90% interval"], rows, numbers=range(len(names)))


def _write_residuals(found: Calibration) -> None:
    """Write what is left at each point, as a number and as a place on a line."""
    points = residual_view(found)
    widest = max(abs(error) for _, error in points) or 1.0
    rows = []
    for label, error in points:
        place = round(_HALF_WIDTH * error / widest)
        line = [" "] * (2 * _HALF_WIDTH + 1)
        line[_HALF_WIDTH], line[_HALF_WIDTH + place] = "|", "*"
        rows.append([label, f"{error:+.2%}", "".join(line).rstrip()])
    names = ", ".join(column.name for column in found.table.columns[:-1])
    write_table("predicted over measured", [names, "error", f"-{widest:.2%} to +{widest:.2%}"], rows, numbers=(1,))


def residual_view(found: Calibration) -> list[tuple[str, float]]:
    """Return label and median error of each point, or of some points spread evenly where there are many.

    Parameters
    ----------
    found : Calibration

    Returns
    -------
    list of (str, float)
        Predicted over measured, less 1.
    """
    import numpy as np

    points = found.table.points
    places, which = np.unique(points.inputs, axis=1, return_inverse=True)
    errors = found.law.value(points.inputs, found.fit.values) / points.output - 1.0
    order = np.argsort(which.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(which.reshape(-1)[order], prepend=-1))
    middles = np.array([float(np.median(part)) for part in np.split(errors[order], starts[1:])])
    shown = np.unique(np.linspace(0, middles.size - 1, min(middles.size, _MOST_RESIDUALS)).round().astype(int))
    units = points.units
    return [
        (
            ", ".join(_number(value, unit) for value, unit in zip(places[:, index], units, strict=False)),
            float(middles[index]),
        )
        for index in shown
    ]


def _number(value: Any, unit: str) -> str:
    from perfmodel.units import render

    if unit != "1":
        return render(float(value), unit)
    return f"{float(value):.4g}"
