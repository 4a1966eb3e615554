"""Rounding feature rows to a narrower precision and widening them back.

Scaled precisions (fp8, int8, int4) keep a 4-byte scale for each row: its largest magnitude over the largest that the
precision holds. A row of theirs with a NaN or an infinity arrives without a finite number. All work goes block by block
through a scratch area that stays in the core's cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

from perfmodel.errors import SpecError, nearest

Features = NDArray[np.float32]
Bytes = NDArray[np.uint8]

_BLOCK = 1 << 15  # elements of the scratch area: 128 KiB of fp32
_LEAST_SCALE = np.finfo(np.float32).tiny  # below it a scale is too coarse itself: elements would leave their range


@dataclasses.dataclass(frozen=True)
class _Format:
    """How elements of a precision are stored; ``largest`` is 0 where rows carry no scale."""

    stored: DTypeLike
    largest: float = 0.0
    is_integer: bool = False
    per_byte: int = 1


_FORMATS: Mapping[str, _Format] = MappingProxyType(
    {
        "fp32": _Format(np.float32),
        "fp16": _Format(np.float16),
        "bf16": _Format(ml_dtypes.bfloat16),
        "fp8": _Format(ml_dtypes.float8_e4m3fn, largest=448.0),
        "int8": _Format(np.int8, largest=127.0, is_integer=True),
        "int4": _Format(np.uint8, largest=7.0, is_integer=True, per_byte=2),
    }
)


def _format(precision: str) -> _Format:
    if precision not in _FORMATS:
        raise SpecError("precision", f"must be one of {', '.join(_FORMATS)}", precision, nearest(precision, _FORMATS))
    return _FORMATS[precision]


def encoded_bytes(rows: int, dimension: int, precision: str) -> int:
    """Return the bytes of so many rows as they are sent [B].

    Examples
    --------
    >>> encoded_bytes(1000, 100, "int8"), encoded_bytes(10, 5, "int4")
    (104000, 70)
    """
    form = _format(precision)
    row = -(-dimension // form.per_byte) * np.dtype(form.stored).itemsize
    return rows * (row + (4 if form.largest else 0))


class Codec:
    """Rounds and widens rows of one width; keeps its scratch area between calls.

    Parameters
    ----------
    dimension : int
        Elements of a row.
    precision : str
        fp32, fp16, bf16, fp8, int8 or int4.

    Examples
    --------
    >>> codec = Codec(4, "int8")
    >>> sent = codec.encode(np.array([[1.0, -2.0, 0.5, 127.0]], dtype=np.float32))
    >>> codec.decode(sent, 1).tolist()
    [[1.0, -2.0, 0.0, 127.0]]
    """

    def __init__(self, dimension: int, precision: str) -> None:
        self._form = _format(precision)
        self.dimension, self.precision = dimension, precision
        self._rows = max(1, _BLOCK // max(dimension, 1))
        self._width = -(-dimension // self._form.per_byte)
        self._scratch = np.zeros((self._rows, self._width * self._form.per_byte), dtype=np.float32)
        self._whole = np.zeros(self._scratch.shape, dtype=np.int8)

    def encode(self, features: Features, out: Bytes | None = None) -> Bytes:
        """Return rows as sent: all scales, where there are any, then all elements.

        Parameters
        ----------
        features : array of shape (rows, dimension)
        out : array of shape (encoded_bytes,), optional
            Where to write.
        """
        rows = features.shape[0]
        out = np.empty(encoded_bytes(rows, self.dimension, self.precision), np.uint8) if out is None else out
        scales, elements = self._parts(out, rows)
        convert = self._encoder()
        for first in range(0, rows, self._rows):
            last = min(first + self._rows, rows)
            convert(features[first:last], elements[first:last], None if scales is None else scales[first:last])
        return out

    def decode(self, sent: Bytes, rows: int, out: Features | None = None) -> Features:
        """Return rows as fp32, of shape (rows, dimension)."""
        out = np.empty((rows, self.dimension), np.float32) if out is None else out
        scales, elements = self._parts(sent, rows)
        for first in range(0, rows, self._rows):
            last = min(first + self._rows, rows)
            block = out[first:last]
            if self._form.per_byte == 2:
                self._unpack(elements[first:last], block)
            else:
                np.copyto(block, elements[first:last], casting="unsafe")
            if scales is not None:
                np.multiply(block, scales[first:last, None], out=block)
        return out

    def _parts(self, sent: Bytes, rows: int) -> tuple[NDArray[np.float32] | None, NDArray[Any]]:
        scales = sent[: 4 * rows].view(np.float32) if self._form.largest else None
        elements = sent[4 * rows if self._form.largest else 0 :].view(self._form.stored)
        return scales, elements.reshape(rows, self._width)

    def _encoder(self) -> Callable[[Features, NDArray[Any], NDArray[np.float32] | None], None]:
        return self._cast if not self._form.largest else self._scaled

    def _cast(self, block: Features, elements: NDArray[Any], scales: NDArray[np.float32] | None) -> None:
        np.copyto(elements, block, casting="unsafe")

    def _scaled(self, block: Features, elements: NDArray[Any], scales: NDArray[np.float32] | None) -> None:
        assert scales is not None  # a scaled format has them
        work = self._scratch[: block.shape[0], : self.dimension]
        np.abs(block, out=work)
        np.max(work, axis=1, out=scales)
        scales /= np.float32(self._form.largest)
        np.maximum(scales, _LEAST_SCALE, out=scales)
        np.divide(block, scales[:, None], out=work)
        if self._form.is_integer:
            np.rint(work, out=work)
        if self._form.per_byte == 2:
            self._pack(self._scratch[: block.shape[0]], elements)
        else:
            np.copyto(elements, work, casting="unsafe")

    def _pack(self, work: Features, elements: Bytes) -> None:
        """Put two elements into each byte, the first in the low half; a row of odd length ends with a zero."""
        whole = self._whole[: work.shape[0]]
        np.copyto(whole, work, casting="unsafe")
        halves = whole.view(np.uint8)
        np.bitwise_and(halves[:, ::2], 15, out=elements)
        np.bitwise_or(elements, halves[:, 1::2] << 4, out=elements)

    def _unpack(self, elements: Bytes, block: Features) -> None:
        whole = self._whole[: block.shape[0]]
        signed = elements.view(np.int8)
        np.right_shift(np.left_shift(signed, 4), 4, out=whole[:, ::2])
        np.right_shift(signed, 4, out=whole[:, 1::2])
        np.copyto(block, whole[:, : self.dimension], casting="unsafe")
