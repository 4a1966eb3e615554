"""What a phase is, and how the phases of this folder are found."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Mapping

import sympy

import perfmodel.phases
from perfmodel.errors import ModelError
from perfmodel.phases._comparisons import quick_comparisons
from perfmodel.symbols import NOMENCLATURE


@dataclasses.dataclass(frozen=True)
class Condition:
    """A regime or a limit of validity: a relation, and what it means when it holds."""

    relation: sympy.Basic
    meaning: str


@dataclasses.dataclass(frozen=True)
class Phase:
    """One formula with its origin.

    Attributes
    ----------
    name : str
        The phase; equals the file's name.
    result : str
        Name of what the expression gives, for other phases to use.
    unit : str
        Unit of the result.
    expression : sympy.Expr
        Over the symbols of the nomenclature and the results of other phases.
    meaning : str
        What the phase does, in one line.
    source : str
        Key into ``sources.bib``.
    assumption : str
        What is taken for granted.
    valid_when : tuple of Condition
        Where one of these fails, the estimate warns with its meaning.
    regimes : tuple of Condition
        Who is the bottleneck when.
    """

    name: str
    result: str
    unit: str
    expression: sympy.Expr
    meaning: str
    source: str
    assumption: str = ""
    valid_when: tuple[Condition, ...] = ()
    regimes: tuple[Condition, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the names that the expression needs, sorted."""
        return tuple(sorted(str(symbol) for symbol in self.expression.free_symbols))


@functools.cache
def symbol(name: str) -> sympy.Symbol:
    """Return the one symbol of a quantity.

    Raises
    ------
    ModelError
        Where the nomenclature lacks the name.
    """
    if name not in NOMENCLATURE:
        raise ModelError(f"{name} is not in perfmodel/symbols")
    return sympy.Symbol(name, nonnegative=True)


def symbols(names: str) -> list[sympy.Symbol]:
    """Return the symbols of several quantities, named in one text."""
    return [symbol(name) for name in names.split()]


@functools.cache
@quick_comparisons()
def all_phases() -> Mapping[str, Phase]:
    """Find every phase of the folder, by name."""
    found: dict[str, Phase] = {}
    for module in pkgutil.iter_modules(perfmodel.phases.__path__):
        if not module.name.startswith("_"):
            phase = importlib.import_module(f"perfmodel.phases.{module.name}").PHASE
            if phase.name != module.name:
                raise ModelError(f"phases/{module.name}.py holds a phase called {phase.name}")
            found[phase.name] = phase
    return dict(sorted(found.items()))
