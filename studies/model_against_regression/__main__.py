"""Computes the answer again: ``python -m studies.model_against_regression``; ``--measure FOLDER`` measures a slice."""

import argparse
import pathlib

from studies._base import run
from studies.model_against_regression.measure import SLICES, assembled, measure
from studies.model_against_regression.study import STUDY
from studies.model_against_regression.table import save, save_profile

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", metavar="FOLDER", help=f"measure the next of {SLICES} slices, kept in this folder")
    folder = parser.parse_args().measure
    if folder is None:
        run(STUDY)
    elif measure(pathlib.Path(folder)):
        save(assembled(pathlib.Path(folder)))
        save_profile(pathlib.Path(folder) / "this-machine.toml")
        print("measured; compute with: python -m studies.model_against_regression")
    else:
        print("a slice is measured; run this again for the next one")
