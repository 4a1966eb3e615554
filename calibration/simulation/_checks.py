"""Checks that the simulations' settings share."""

from __future__ import annotations

from typing import Any

from perfmodel.errors import SpecError


def at_least(least: float, where: Any, *names: str) -> None:
    """Raise where one of the named attributes is below a least value."""
    for name in names:
        if not getattr(where, name) >= least:
            raise SpecError(f"{type(where).__name__}.{name}", f"must be at least {least:g}", getattr(where, name))


def above_zero(where: Any, *names: str) -> None:
    """Raise where one of the named attributes is not positive."""
    for name in names:
        if not getattr(where, name) > 0:
            raise SpecError(f"{type(where).__name__}.{name}", "must be above 0", getattr(where, name))


def one_of(choices: tuple[str, ...], where: Any, name: str) -> None:
    """Raise where the named attribute is none of the choices."""
    if getattr(where, name) not in choices:
        raise SpecError(f"{type(where).__name__}.{name}", f"must be one of {', '.join(choices)}", getattr(where, name))
