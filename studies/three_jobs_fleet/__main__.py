"""Computes the answer again: ``python -m studies.three_jobs_fleet``."""

from studies._base import run
from studies.three_jobs_fleet.study import STUDY

if __name__ == "__main__":
    run(STUDY)
