"""Precisions that features are kept and sent in."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

#: Bytes of one element, and of the scale that each row carries.
PRECISIONS: Final = MappingProxyType(
    {
        "fp32": (4.0, 0.0),
        "fp16": (2.0, 0.0),
        "bf16": (2.0, 0.0),
        "fp8": (1.0, 4.0),
        "int8": (1.0, 4.0),
        "int4": (0.5, 4.0),
    }
)
Precision = Literal["fp32", "fp16", "bf16", "fp8", "int8", "int4"]
