"""The nomenclature: every quantity once, with its unit, its meaning and the spec key it comes from.

A phase is written over these names. ``key`` says where the number is found in a scenario; ``{where}`` stands for the
role of the device that runs the phase (``memory_node``, ``compute_node``, ``gpu``), ``{batch}`` for the mini-batch that it
works on (``batch``, ``neighborhood``, ``frontier``), ``{item}`` for the tensor, node type or relation at hand,
``{kind}`` for a tensor's kind and ``{precision}`` for the precision that features are sent in, where the device has
numbers for it; else the key without it holds. A quantity without a key is the result of another phase.

Each file of this folder holds the quantities that one family of scenarios brings in; all are one nomenclature.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from perfmodel.errors import ModelError
from perfmodel.symbols._quantity import Quantity


def _all() -> Iterator[Quantity]:
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            yield from importlib.import_module(f"{__name__}.{module.name}").QUANTITIES


def _by_name() -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for quantity in _all():
        if quantity.name in found:
            raise ModelError(f"{quantity.name} is in the nomenclature twice")
        found[quantity.name] = quantity
    return found


NOMENCLATURE: Final[Mapping[str, Quantity]] = MappingProxyType(_by_name())


__all__ = ["NOMENCLATURE", "Quantity"]
