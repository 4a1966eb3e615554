"""Computes the answer again: ``python -m studies.search_against_others``."""

from studies._base import run
from studies.search_against_others.study import STUDY

if __name__ == "__main__":
    run(STUDY)
