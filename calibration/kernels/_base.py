"""What a kernel is, and how the kernels of this folder are found."""

from __future__ import annotations

import abc
import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import calibration.kernels
from perfmodel.errors import ModelError, SpecError, nearest

#: Where a kernel is run: the inputs of one measurement, such as ``{"chunk": 65536, "window": 1}``.
Point = Mapping[str, float | int | str]
#: What one block of work gives: ``time`` [s] for the whole block, and counts of what was worked on.
Sample = Mapping[str, float]
Block = Callable[[], Sample]


class Kernel(abc.ABC):
    """One micro-run.

    Attributes
    ----------
    name : str
        Equals the file's name.
    isolates : str
        What alone takes the time that is measured, in one line.
    unit_of_work : str
        What a block is counted in: row, element, chunk, page, cell, batch.
    """

    name: ClassVar[str]
    isolates: ClassVar[str]
    unit_of_work: ClassVar[str]

    def unavailable(self) -> str:
        """Return why this machine can't run the kernel, empty where it can."""
        return ""

    def left_out(self) -> str:
        """Return which points this machine can't run and why, empty where it can run all; ``points`` lacks them."""
        return ""

    def release(self) -> None:  # noqa: B027
        """Let go of what is kept from point to point, such as a graph or an open file; called when all is measured."""

    @abc.abstractmethod
    def points(self, quick: bool) -> Sequence[Point]:
        """Return where the kernel is run; fewer points where ``quick``."""

    @abc.abstractmethod
    def prepared(self, point: Point) -> contextlib.AbstractContextManager[Block]:
        """Set a point up; the block within runs the work once and returns its sample.

        Whatever was started or written is gone when the context is left, also after an exception.
        """


@functools.cache
def all_kernels() -> Mapping[str, Kernel]:
    """Find every kernel of the folder, by name."""
    found: dict[str, Kernel] = {}
    for module in pkgutil.iter_modules(calibration.kernels.__path__):
        if not module.name.startswith("_"):
            kernel = importlib.import_module(f"calibration.kernels.{module.name}").KERNEL
            if kernel.name != module.name:
                raise ModelError(f"calibration/kernels/{module.name}.py holds a kernel called {kernel.name}")
            found[kernel.name] = kernel
    return MappingProxyType(dict(sorted(found.items())))


def chosen_kernels(only: Sequence[str]) -> Sequence[Kernel]:
    """Return the kernels of these names, all where none is named.

    Raises
    ------
    SpecError
        An unknown name.
    """
    known = all_kernels()
    for name in only:
        if name not in known:
            raise SpecError("--only", f"must be one of {', '.join(known)}", repr(name), nearest(name, list(known)))
    return [kernel for name, kernel in known.items() if not only or name in only]
