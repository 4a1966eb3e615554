"""Computes the answer again: ``python -m studies.extrap_side_by_side``."""

from studies._base import run
from studies.extrap_side_by_side.study import STUDY

if __name__ == "__main__":
    run(STUDY)
