"""Fits the constants of a published system and writes its profile: ``python -m calibration.published lgnnic|buddy|mdgnn``."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import pathlib
import sys
from typing import Any, Final

import numpy
import scipy
import tomli_w

import perfmodel
from perfmodel.spec.catalog import DATA

#: Published systems, and where their constants come from.
SYSTEMS: Final = {
    "lgnnic": "calibrated: LGNNIC (arXiv 2608.07733), Table 5; host rates by its section 5.3.1",
    "buddy": "calibrated: Buddy (arXiv 2605.04842), abstract and text of figures 5 to 7; host rates by the ratio of cores",
    "mdgnn": "calibrated: M-DGNN, sections 5.2 to 5.5; times to the scale of its Table 1",
}


def main() -> None:
    """Fit, and write the profile."""
    parser = argparse.ArgumentParser(prog="python -m calibration.published", description=__doc__)
    parser.add_argument("system", choices=sorted(SYSTEMS))
    parser.add_argument("--out", type=pathlib.Path, help="profile to write [default: the catalog's]")
    arguments = parser.parse_args()
    out = arguments.out or DATA / "profiles" / f"{arguments.system}.toml"
    published: Any = importlib.import_module(f"calibration.published.{arguments.system}")
    profile = published.fitted_profile(published.read_table())
    profile["made_by"] = {
        "command": f"python -m calibration.published {arguments.system}",
        "perfmodel": perfmodel.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }
    profile["data"] = {published.TABLE.name: hashlib.sha256(published.TABLE.read_bytes()).hexdigest()}
    profile["sources"] = {"*": SYSTEMS[arguments.system]}
    out.write_text(tomli_w.dumps(profile), encoding="utf-8")
    for parameter in profile["parameters"]:
        low, high = parameter["interval"]
        fields = ", ".join(parameter["fields"])
        print(f"{parameter['entry']} {fields} = {parameter['value']:.4g} {parameter['unit']} ({low:.3g} to {high:.3g})")
    print(f"{out} written", file=sys.stderr)


if __name__ == "__main__":
    main()
