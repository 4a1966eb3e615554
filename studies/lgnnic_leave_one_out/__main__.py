"""Computes the answer again: ``python -m studies.lgnnic_leave_one_out``."""

from studies._base import run
from studies.lgnnic_leave_one_out.study import STUDY

if __name__ == "__main__":
    run(STUDY)
