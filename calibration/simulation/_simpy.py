"""SimPy, or a sentence where it is not installed: predictions do without it."""

from __future__ import annotations

from perfmodel.errors import SpecError

try:
    import simpy
except ImportError:
    raise SpecError(
        "calibration.simulation", "simulates with SimPy", "an environment without it", "pip install 'perfmodel[test]'"
    ) from None

__all__ = ["simpy"]
