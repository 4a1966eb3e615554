"""Fits the constants of a published system and writes its profile: ``python -m calibration.published lgnnic``."""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import sys

import numpy
import scipy
import tomli_w

import perfmodel
from calibration.published import lgnnic
from perfmodel.spec.catalog import DATA


def main() -> None:
    """Fit, and write the profile."""
    parser = argparse.ArgumentParser(prog="python -m calibration.published", description=__doc__)
    parser.add_argument("system", choices=["lgnnic"])
    parser.add_argument("--out", type=pathlib.Path, default=DATA / "profiles" / "lgnnic.toml", help="profile to write")
    arguments = parser.parse_args()
    rows = lgnnic.read_table()
    profile = lgnnic.fitted_profile(rows)
    profile["made_by"] = {
        "command": "python -m calibration.published lgnnic",
        "perfmodel": perfmodel.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }
    profile["data"] = {lgnnic.TABLE.name: hashlib.sha256(lgnnic.TABLE.read_bytes()).hexdigest()}
    profile["sources"] = {"*": "calibrated: LGNNIC (arXiv 2608.07733), Table 5; host rates by its section 5.3.1"}
    arguments.out.write_text(tomli_w.dumps(profile), encoding="utf-8")
    for parameter in profile["parameters"]:
        low, high = parameter["interval"]
        fields = ", ".join(parameter["fields"])
        print(f"{parameter['entry']} {fields} = {parameter['value']:.4g} {parameter['unit']} ({low:.3g} to {high:.3g})")
    print(f"{arguments.out} written", file=sys.stderr)


if __name__ == "__main__":
    main()
