"""Measures the answer again: ``python -m studies.search_on_this_machine``, on a calibrated and quiet machine."""

from studies._base import run
from studies.search_on_this_machine.study import STUDY

if __name__ == "__main__":
    run(STUDY)
