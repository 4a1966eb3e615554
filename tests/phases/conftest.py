"""Compiled phases by name, and the protocol's simulation."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import types
from collections.abc import Callable

import numpy as np
import pytest

from perfmodel.model.compile import compiled


@pytest.fixture(scope="session")
def protocol() -> types.ModuleType:
    """Return the simulation's module, which lies beside this file."""
    path = pathlib.Path(__file__).with_name("protocol_simulation.py")
    specification = importlib.util.spec_from_file_location("protocol_simulation", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["protocol_simulation"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def value() -> Callable[..., float]:
    """Return a function that evaluates one compiled phase: ``value("sampling", workers=1, ...)``."""

    def evaluated(name: str, **arguments: float) -> float:
        phase = compiled()[name]
        assert set(arguments) == set(phase.arguments), set(arguments) ^ set(phase.arguments)
        return float(np.ravel(phase.function(*[arguments[argument] for argument in phase.arguments]))[0])

    return evaluated
