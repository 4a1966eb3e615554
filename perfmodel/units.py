"""The unit table: text with a unit at the door, bare SI floats inside.

The table is closed: a unit that isn't in it is an error, never a guess. ``GB`` is 10**9 and ``GiB`` is 2**30; ``b`` is
a bit and ``B`` a byte. Base dimensions are those of the field: byte, flop, second, joule, node, edge, message, USD.

Examples
--------
>>> parse("25 GB/s", "B/s")
25000000000.0
>>> render(25e9, "B/s")
'25 GB/s'
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from perfmodel.errors import UnitError, nearest, shown

Dimension = Mapping[str, int]

_DECIMAL: Final = {
    prefix: Fraction(10**power) for prefix, power in zip("kKMGTPE", (3, 3, 6, 9, 12, 15, 18), strict=True)
}
_BINARY: Final = {prefix + "i": Fraction(2**power) for prefix, power in zip("KMGTP", (10, 20, 30, 40, 50), strict=True)}
_SMALL: Final = {prefix: Fraction(1, 10**power) for prefix, power in zip("muµnp", (3, 6, 6, 9, 12), strict=True)}
_ONE: Final = Fraction(1)


def _table() -> dict[str, tuple[Fraction, str]]:
    """Return every unit: symbol -> (factor, base dimension)."""
    units: dict[str, tuple[Fraction, str]] = {
        "B": (_ONE, "byte"),
        "byte": (_ONE, "byte"),
        "bytes": (_ONE, "byte"),
        "b": (_ONE / 8, "byte"),
        "bit": (_ONE / 8, "byte"),
        "s": (_ONE, "second"),
        "min": (_ONE * 60, "second"),
        "h": (_ONE * 3600, "second"),
        "d": (_ONE * 86400, "second"),
        "flop": (_ONE, "flop"),
        "FLOP": (_ONE, "flop"),
        "J": (_ONE, "joule"),
        "Wh": (_ONE * 3600, "joule"),
        "kWh": (_ONE * 3600000, "joule"),
        "USD": (_ONE, "USD"),
    }
    for name in ("node", "edge", "message"):
        units[name] = units[name + "s"] = (_ONE, name)
    for prefix, factor in {**_DECIMAL, **_BINARY}.items():
        units[prefix + "B"] = (factor, "byte")
        units[prefix + "b"] = units[prefix + "bit"] = (factor / 8, "byte")
    for prefix, factor in _DECIMAL.items():
        units[prefix + "flop"] = units[prefix + "FLOP"] = (factor, "flop")
        if prefix != "K":
            units[prefix + "J"] = (factor, "joule")
    for prefix, factor in _SMALL.items():
        units[prefix + "s"] = (factor, "second")
        units[prefix + "J"] = (factor, "joule")
    return units


UNITS: Final[Mapping[str, tuple[Fraction, str]]] = MappingProxyType(_table())
_RATES: Final = {"FLOPS": ("flop", _ONE), "W": ("joule", _ONE), "Hz": ("", _ONE), "bps": ("byte", _ONE / 8)}
_NUMBER: Final = re.compile(
    r"\s*([-+]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?|[-+]?(?:nan|inf(?:inity)?))\s*(.*)", re.I | re.A
)
_LONGEST: Final = 200  # letters of a number with its unit


@functools.lru_cache(maxsize=1024)
def unit_factor(unit: str) -> tuple[Fraction, Dimension]:
    """Return the SI factor and the dimension of a unit such as ``GB/s`` or ``s/edge``.

    Raises
    ------
    UnitError
        Where a part of the unit is not in the table.
    """
    factor, dimension = _ONE, dict[str, int]()
    text = unit.strip().replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}")
    if text in ("", "1"):
        return _ONE, MappingProxyType({})
    if text == "%":
        return _ONE / 100, MappingProxyType({})
    for position, side in enumerate(text.split("/")):
        sign = 1 if position == 0 else -1
        for part in filter(None, re.split(r"[*·]", side.strip())):
            part_factor, part_dimension = _part(part.strip(), unit)
            factor *= part_factor**sign
            for base, power in part_dimension.items():
                dimension[base] = dimension.get(base, 0) + sign * power
    return factor, MappingProxyType({base: power for base, power in sorted(dimension.items()) if power})


def _part(part: str, unit: str) -> tuple[Fraction, dict[str, int]]:
    if part == "1":
        return _ONE, {}
    if part in UNITS:
        factor, base = UNITS[part]
        return factor, {base: 1}
    for rate, (base, factor) in _RATES.items():
        prefix = part[: -len(rate)]
        if part.endswith(rate) and (prefix == "" or prefix in _DECIMAL or (rate == "W" and prefix in _SMALL)):
            scale = {**_DECIMAL, **_SMALL}.get(prefix, _ONE)
            return factor * scale, {base: 1, "second": -1} if base else {"second": -1}
    known = [*UNITS, *_RATES, "GFLOPS", "TFLOPS", "Gbps", "kW", "GHz", "MHz"]
    raise UnitError("unit", "must be in the unit table", repr(unit), nearest=nearest(part, known))


def parse(value: str | float, unit: str, where: str = "value") -> float:
    """Turn a number, or text with a unit, into a float in the SI form of ``unit``.

    Parameters
    ----------
    value : str or float
        ``"25 GB/s"``, ``"1 MiB"``, ``"10 us"``, or a bare number, which is taken to be in ``unit``.
    unit : str
        The unit that the quantity is kept in.
    where : str
        Named in the error.

    Returns
    -------
    float
        In ``unit`` [unit].

    Raises
    ------
    UnitError
        Unknown unit, other dimension, not a number, NaN.

    Examples
    --------
    >>> parse("512 KiB", "B"), parse("10 us", "s"), parse("200 Gb/s", "B/s")
    (524288.0, 1e-05, 25000000000.0)
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnitError(where, f"must be a number or a text in {unit or 'no unit'}", shown(value))
    own_factor, dimension = unit_factor(unit)
    match = None
    if not isinstance(value, str):
        number, given = _float(value, unit, where), unit
    else:
        match = _NUMBER.fullmatch(value) if len(value) <= _LONGEST else None
        if match is None:
            raise UnitError(where, f"must be a number with a unit such as {example(unit)}", shown(value))
        number, given = float(match[1].replace("_", "")), match[2].strip() or unit
    if math.isnan(number):
        raise UnitError(where, "must be a number", "NaN")
    try:
        factor, given_dimension = unit_factor(given)
    except UnitError:
        raise UnitError(where, f"must be in {unit or 'no unit'}", shown(value), example(unit)) from None
    if dict(given_dimension) != dict(dimension):
        raise UnitError(where, f"must be in {unit or 'no unit'}", shown(value), example(unit))
    if match is None or "inf" in match[1].casefold():
        return number
    try:
        return float(Fraction(match[1].replace("_", "")) * factor / own_factor)
    except OverflowError:
        raise UnitError(where, "must be below 1.8e308", shown(value)) from None


def _float(value: float, unit: str, where: str) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        raise UnitError(where, "must be below 1.8e308", shown(value)) from None


def example(unit: str) -> str:
    """Return a value that ``unit`` accepts, for error sentences."""
    return {"B": "1 MiB", "B/s": "25 GB/s", "s": "10 us"}.get(unit, f"1 {unit}".strip())


def render(value: float, unit: str) -> str:
    """Write a value with the prefix that reads best.

    Examples
    --------
    >>> render(1048576, "B"), render(2.6e-6, "s/node"), render(0.25, "s")
    ('1 MiB', '2.6 us/node', '250 ms')
    """
    head, slash, rest = unit.partition("/")
    if not math.isfinite(value) or value == 0:
        return f"{value:g} {unit}".strip()
    if head == "B" and not slash and value >= 1024 and value % 1024 == 0:
        power, prefix = max((float(f), p) for p, f in _BINARY.items() if f <= value)
        return f"{value / power:.4g} {prefix}B"
    scales: dict[str, float] = {"": 1.0}
    if head in ("B", "flop", "J", "W"):
        scales |= {p: float(f) for p, f in _DECIMAL.items() if p != "K"}
    elif head == "s":
        scales |= {p: float(f) for p, f in _SMALL.items() if p != "µ"}
    scale, prefix = max(
        ((f, p) for p, f in scales.items() if f <= abs(value) * (1 + 1e-12)),
        default=min((f, p) for p, f in scales.items()),
    )
    return f"{value / scale:.4g} {prefix}{head}{slash}{rest}".strip()
