"""Computes the answer again: ``python -m studies.loader_on_this_machine``."""

from studies._base import run
from studies.loader_on_this_machine.study import STUDY

if __name__ == "__main__":
    run(STUDY)
