"""Computes the answer again: ``python -m studies.mdgnn``."""

from studies._base import run
from studies.mdgnn.study import STUDY

if __name__ == "__main__":
    run(STUDY)
