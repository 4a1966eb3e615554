"""Computes the answer again: ``python -m studies.buddy``."""

from studies._base import run
from studies.buddy.study import STUDY

if __name__ == "__main__":
    run(STUDY)
