"""Maxima and minima that are built without factoring are those that sympy builds with it."""

from __future__ import annotations

import subprocess
import sys

from perfmodel.model.source import numpy_source

FACTORED = """
import contextlib
import perfmodel.phases._comparisons

@contextlib.contextmanager
def usual():
    yield

perfmodel.phases._comparisons.quick_comparisons = usual
from perfmodel.model.source import numpy_source
print(numpy_source(), end="")
"""


def test_the_compiled_formulas_are_the_same_to_the_letter() -> None:
    told = subprocess.run([sys.executable, "-c", FACTORED], capture_output=True, text=True, check=True)
    assert told.stdout == numpy_source()
