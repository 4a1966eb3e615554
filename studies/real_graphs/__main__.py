"""Computes the answer again: ``python -m studies.real_graphs``."""

from studies._base import run
from studies.real_graphs.study import STUDY

if __name__ == "__main__":
    run(STUDY)
