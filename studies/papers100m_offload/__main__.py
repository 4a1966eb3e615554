"""Computes the answer again: ``python -m studies.papers100m_offload``."""

from studies._base import run
from studies.papers100m_offload.study import STUDY

if __name__ == "__main__":
    run(STUDY)
