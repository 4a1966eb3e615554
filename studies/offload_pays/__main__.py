"""Computes the answer again: ``python -m studies.offload_pays``."""

from studies._base import run
from studies.offload_pays.study import STUDY

if __name__ == "__main__":
    run(STUDY)
