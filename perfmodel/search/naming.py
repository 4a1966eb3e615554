"""How a study writes plans: numbers with listed values by their position in the list, names and ranges by themselves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from perfmodel.search.axes import Axis
from perfmodel.search.grid import Grid, Point

_LISTED: Final = 100  # values of a parameter that a study writes down one by one


class Naming:
    """The parameters of a study.

    Attributes
    ----------
    names : tuple of str
        One for each axis of the grid.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.names = tuple(f"{axis.key} [position]" if by_position(axis) else axis.key for axis in grid.axes)
        self._labels = [{label(value): place for place, value in enumerate(axis.values)} for axis in grid.axes]

    def labels(self, place: int) -> list[str]:
        """Return the names that a parameter may have."""
        return list(self._labels[place])

    def written(self, point: Point) -> dict[str, Any]:
        """Return a plan as a study's parameters."""
        found: dict[str, Any] = {}
        for name, axis, position in zip(self.names, self._grid.axes, point, strict=True):
            if position is not None:
                found[name] = position if axis.ordered else label(axis.values[int(position)])
        return found

    def position(self, place: int, value: Any) -> int | float:
        """Return the position that a parameter's value stands for."""
        axis = self._grid.axes[place]
        if axis.span is not None:
            return float(value)
        return int(value) if axis.ordered else self._labels[place][value]

    def read(self, parameters: Mapping[str, Any]) -> Point | None:
        """Return the plan that parameters stand for, None where one of them is missing."""
        point: list[int | float | None] = []
        for place, name in enumerate(self.names):
            if not self._grid.exists(place, point):
                point.append(None)
            elif name not in parameters:
                return None
            else:
                point.append(self.position(place, parameters[name]))
        return tuple(point)


def by_position(axis: Axis) -> bool:
    """Return whether an axis is a list of numbers."""
    return axis.ordered and axis.span is None


def label(value: Any) -> str:
    """Return a name as a study writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def in_short(axis: Axis) -> list[str] | str:
    """Return a parameter's values, of a long list how many there are and their hash."""
    if axis.span is not None:
        return str(axis.span)
    written = [str(value) for value in axis.values]
    if len(written) <= _LISTED:
        return written
    return f"{len(written)} values, sha256 {hashlib.sha256(chr(0).join(written).encode()).hexdigest()[:16]}"
