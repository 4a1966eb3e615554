"""Arrays out of .npy files and .npz members, read in pieces and never unpickled."""

from __future__ import annotations

import dataclasses
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from perfmodel.errors import SpecError


@dataclasses.dataclass(frozen=True)
class Header:
    """Shape and type of a stored array, and the byte at which its values start."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def size(self) -> int:
        """Return the number of values."""
        size = 1
        for length in self.shape:
            size *= length
        return size


class Arrays:
    """The arrays of one .npz, or the one of an .npy under the name ``""``; a context manager.

    Raises
    ------
    SpecError
        Not such a file, a damaged one, or one that holds pickled objects.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        if zipfile.is_zipfile(path):
            self._zip = zipfile.ZipFile(path)
        elif _is_zipped(path):
            raise SpecError(str(path), "must be a whole .npz file", "a truncated one")
        members = [""] if self._zip is None else [name for name in self._zip.namelist() if name.endswith(".npy")]
        self.headers = {name.removesuffix(".npy"): self._header(name) for name in members}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._zip is not None:
            self._zip.close()

    def open(self, name: str) -> IO[bytes]:
        """Open the bytes of one array, header included."""
        return open(self.path, "rb") if self._zip is None else self._zip.open(f"{name}.npy")

    def pieces(self, name: str, first: int, last: int, size: int) -> Iterator[NDArray[Any]]:
        """Read the values from ``first`` to ``last``, in storage order, ``size`` at a time."""
        header = self.headers[name]
        width = header.dtype.itemsize
        try:
            with self.open(name) as file:
                file.seek(header.start + first * width)
                while first < last:
                    count = min(size, last - first)
                    data = file.read(count * width)
                    if len(data) < count * width:
                        raise SpecError(self._named(name), f"must hold {header.size} values", "a truncated array")
                    first += count
                    yield np.frombuffer(data, dtype=header.dtype)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise SpecError(self._named(name), "must be a whole array", error) from error

    def whole(self, name: str) -> NDArray[Any]:
        """Read all values, in storage order."""
        size = self.headers[name].size
        return next(self.pieces(name, 0, size, size), np.zeros(0, dtype=self.headers[name].dtype))

    def _named(self, name: str) -> str:
        return f"{self.path}: {name}" if name else str(self.path)

    def _header(self, member: str) -> Header:
        name = self._named(member.removesuffix(".npy"))
        try:
            with self.open(member.removesuffix(".npy")) as file:
                read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
                version = npy.read_magic(file)
                shape, fortran, dtype = read.get(version, npy.read_array_header_2_0)(file)
                header = Header(shape, fortran, dtype, file.tell())
        except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise SpecError(name, "must be a NumPy array", error) from error
        if header.dtype.hasobject:
            raise SpecError(name, "must hold numbers", "pickled Python objects, which are not loaded")
        return header


def _is_zipped(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"
