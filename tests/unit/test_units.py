"""The unit table against pint, exact arithmetic and hand numbers.

pint knows prefixes, bits, bytes and times, but counts information as pure numbers in bits: a byte is 8 bits and adds to
1. So pint is asked for ratios between two units of the same kind, never whether a dimension fits; that is tested by hand.
pint has no flop, USD, node, edge or message: for those the decimal prefixes are checked by themselves.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.errors import SpecError, UnitError
from perfmodel.units import UNITS, example, parse, render, unit_factor

REGISTRY = pint.UnitRegistry(non_int_type=Fraction)
#: What our symbol is called there; pint reads B as bel or byte by version, b as barn, d as day, h as hour.
INFORMATION = {"B": "byte", "byte": "byte", "bytes": "byte", "b": "bit", "bit": "bit"}
NAMES = {"s": "second", "min": "minute", "h": "hour", "d": "day", "J": "joule", "Wh": "watt_hour"}
PREFIXES = {
    "": "", "k": "kilo", "K": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "E": "exa",
    "Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi", "Pi": "pebi",
    "m": "milli", "u": "micro", "µ": "micro", "n": "nano", "p": "pico",
}  # fmt: skip
BASE = {"byte": "byte", "second": "second", "joule": "joule"}


def pint_name(unit: str) -> str | None:
    """Return pint's word for a unit of ours, None where it has none."""
    known = INFORMATION | NAMES
    for symbol in sorted(known, key=len, reverse=True):
        prefix = unit.removesuffix(symbol)
        if unit.endswith(symbol) and prefix in PREFIXES and (unit in known or prefix):
            return PREFIXES[prefix] + known[symbol] if unit not in known else known[unit]
    return None


@pytest.mark.parametrize("unit", sorted(unit for unit, (_, base) in UNITS.items() if base in BASE))
def test_every_factor_is_pints(unit: str) -> None:
    name = pint_name(unit)
    assert name is not None
    factor, base = UNITS[unit]
    assert REGISTRY.Quantity(Fraction(1), name).to(BASE[base]).magnitude == factor


@pytest.mark.parametrize(
    ("unit", "their"),
    [
        ("GB/s", "gigabyte/second"), ("Gb/s", "gigabit/second"), ("Gbps", "gigabit/second"), ("GiB/s", "gibibyte/second"),
        ("MiB/ms", "mebibyte/millisecond"), ("us/KiB", "microsecond/kibibyte"), ("pJ/bit", "picojoule/bit"),
        ("mW", "milliwatt"), ("kW", "kilowatt"), ("kHz", "kilohertz"), ("kWh", "kilowatt_hour"), ("bps", "bit/second"),
    ],
)  # fmt: skip
def test_rates_are_pints(unit: str, their: str) -> None:
    found, dimension = unit_factor(unit)
    target = "*".join(f"{BASE[base]}**{power}" for base, power in dimension.items())
    assert REGISTRY.Quantity(Fraction(1), their).to(target).magnitude == found


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("1 GB", "B", 1_000_000_000.0), ("1 GiB", "B", 1_073_741_824.0), ("1 MB", "B", 1e6), ("1 MiB", "B", 1_048_576.0),
        ("1 KB", "B", 1000.0), ("1 kB", "B", 1000.0), ("1 KiB", "B", 1024.0),
        ("8 b", "B", 1.0), ("8 Gb/s", "B/s", 1e9), ("100 Gbps", "B/s", 12.5e9), ("1 Gib", "B", 134_217_728.0),
        ("10 us", "s", 1e-05), ("10 µs", "s", 1e-05), ("10 \u03bcs", "s", 1e-05), ("0.1 ms", "s", 1e-4), ("3 ns", "s", 3e-9),
        ("0.3 ms", "s", 0.0003), ("1.1 GB", "B", 1.1e9), ("2.5 min", "s", 150.0), ("1 h", "s", 3600.0),
        ("19.5 TFLOPS", "flop/s", 19.5e12), ("19.5 TFLOP", "flop", 19.5e12), ("1.935 TB/s", "B/s", 1.935e12),
        ("50%", "", 0.5), ("200 W", "W", 200.0), ("0.12 USD/kWh", "USD/J", 0.12 / 3.6e6), ("0.25 us/edge", "s/edge", 2.5e-7),
        ("4 pJ/b", "J/B", 3.2e-11), ("1_000 B", "B", 1000.0), ("1e3B", "B", 1000.0), ("+.5 s", "s", 0.5), ("7", "s", 7.0),
        (7, "s", 7.0), (0.5, "B/s", 0.5), ("inf B/s", "B/s", math.inf), (math.inf, "B/s", math.inf),
    ],
)  # fmt: skip
def test_hand_numbers_are_exact(text: str | float, unit: str, number: float) -> None:
    """Equal to the last bit: the decimal text is scaled exactly and rounded once."""
    assert parse(text, unit) == number


@given(st.integers(1, 10**6), st.sampled_from(sorted(unit for unit, (_, base) in UNITS.items() if base == "byte")))
def test_numbers_are_rounded_once(count: int, unit: str) -> None:
    assert parse(f"{count}e-3 {unit}", "B") == float(Fraction(count, 1000) * UNITS[unit][0])


@given(
    st.floats(1e-11, 1e20, allow_nan=False) | st.integers(0, 2**60).map(float),
    st.sampled_from(["B", "B/s", "s", "flop/s", "J", "W", "s/edge", "s/B", "USD", ""]),
)
def test_render_reads_back(value: float, unit: str) -> None:
    """Four digits are shown, so what is read back is within half of the fourth."""
    assert parse(render(value, unit), unit) == pytest.approx(value, rel=5.1e-4)


@given(st.integers(0, 2**50))
def test_render_of_round_binary_sizes_reads_back_exactly(count: int) -> None:
    size = float(count % 1000 * 2 ** (10 * (count % 5)))
    assert parse(render(size, "B"), "B") == size


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1 GB", "B/s"), ("1 GB/s", "B"), ("1 s", "B"), ("1 B", ""), ("1 node", "edge"), ("1 W", "J"), ("1 J", "W"),
        ("1 flop", "flop/s"), ("1 s/B", "B/s"), ("1 GB/s/s", "B/s"), ("1 %", "B"), ("1 message", "B"), ("1 USD", "J"),
    ],
)  # fmt: skip
def test_another_dimension_is_refused(text: str, unit: str) -> None:
    """pint takes ``1 byte + 1``, and a byte for a pure number; the table doesn't."""
    with pytest.raises(UnitError) as caught:
        parse(text, unit, "here")
    assert caught.value.where == "here"
    assert text in str(caught.value)
    assert parse(caught.value.nearest, unit) > 0


@pytest.mark.parametrize(
    "unit", ["gb", "GBs", "KIB", "mB", "Kib/S", "sec", "Bytes", "m/s", "GB per s", "日本", "\0", "B" * 500]
)
def test_an_unknown_unit_is_refused(unit: str) -> None:
    with pytest.raises(UnitError):
        parse(f"1 {unit}", "B")
    with pytest.raises(UnitError):
        unit_factor(unit)


@pytest.mark.parametrize("value", ["nan", "NaN s", float("nan"), "-nan s"])
def test_nan_is_refused(value: str | float) -> None:
    with pytest.raises(UnitError, match="must be a number, got NaN"):
        parse(value, "s")


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "s", "ten s", "1,000 s", "0x10 s", "1e s", "--1 s", "1/2 s", "1 s\n", "٣ s", "９ s", "∞ s", "1 e3 s", "1__0 s",
        None, True, [], {}, b"1 s", 1 + 2j, "9" * 100_000, "1" + "0" * 400, "1e400 s", 10**400, "1e-99999999 s", "s" * 10**6,
        "1e308 d",
    ],
)  # fmt: skip
def test_absurd_input_is_a_sentence(value: object) -> None:
    """Whatever comes, the error is one short sentence with the four parts."""
    with pytest.raises(UnitError) as caught:
        parse(value, "s", "plan.wait")  # type: ignore[arg-type]
    assert isinstance(caught.value, SpecError)
    assert str(caught.value).startswith("plan.wait: must be")
    assert "got" in str(caught.value)
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """Nothing else is raised, and what is taken is a number."""
    with contextlib.suppress(UnitError):
        assert not math.isnan(parse(text, "B/s"))


def test_examples_of_every_unit_parse() -> None:
    from perfmodel.symbols import NOMENCLATURE

    for unit in {quantity.unit for quantity in NOMENCLATURE.values()}:
        assert parse(example(unit), unit) > 0
