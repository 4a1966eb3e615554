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

#: A machine whose caches keep everything from one mini-batch to the next: what a case says nothing of.
NEVER_DISPLACED = {"batch_time": 0.0, "displacement_time": np.inf, "receiver_displacement_time": np.inf} | dict.fromkeys(
    (
        "sampling_restart_time", "quantize_restart_time", "dequantize_restart_time", "training_restart_time",
        "indexing_restart_time", "quantize_call_time", "dequantize_call_time", "quantize_displaced_byte_time",
        "dequantize_displaced_byte_time", "link_displaced_byte_time", "gathered_bytes", "time_per_indexing",
        "time_per_indexed_node", "batch_nodes", "training_missed_byte_time",
    ),
    0.0,
) | {"outer_cache": np.inf, "activation_width": 4.0, "training_layers": 1.0}  # fmt: skip


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

    def evaluated(name: str, **given: float) -> float:
        phase = compiled()[name]
        arguments = {key: number for key, number in NEVER_DISPLACED.items() if key in phase.arguments} | given
        assert set(arguments) == set(phase.arguments), set(arguments) ^ set(phase.arguments)
        return float(np.ravel(phase.function(*[arguments[argument] for argument in phase.arguments]))[0])

    return evaluated
