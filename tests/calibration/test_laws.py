"""What every law promises, for laws found by scanning the folder: a new file is under contract as it is."""

from __future__ import annotations

import ast
import pathlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import calibration.laws
from calibration.law_fit import fit_law
from calibration.laws._base import Law, Points, all_laws, knees, law_named, nonnegative, power_guess, unit_text
from perfmodel.errors import SpecError
from perfmodel.units import UNITS, unit_factor

Array = NDArray[np.float64]

FOLDER = pathlib.Path(calibration.laws.__path__[0])
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))

each_law = pytest.mark.parametrize("law", all_laws().values(), ids=lambda law: law.name)

#: Physically sensible parameters of each law, and where it is measured.
TRUTHS: dict[str, tuple[float, ...]] = {
    "affine": (20e-6, 1e-9),
    "cache_capacity": (2e-9, 3e6, 7e-8),
    "cache_hierarchy": (1e-9, 3e4, 3e-9, 1e6, 1e-8, 3e7, 8e-8),
    "cache_levels": (1e-9, 1e5, 9e-9, 3e7, 8e-8),
    "closed_loop": (80e-6, 4e5, 2.5),
    "closed_loop_throughput": (12e3, 4e5, 2.5),
    "hockney": (5e-6, 1e-9, 3e4, 1e-5, 2e-10),
    "hockney_bandwidth": (20e-6, 12e9),
    "power": (3e-6, 0.7),
    "power_of_two_inputs": (3e-6, 0.7, 1.2),
    "product": (1e-3, 2e-7),
    "rows_of_elements": (1e-3, 1e-5, 2e-7),
    "saturating": (1e-3, 2e-8),
    "shared_over_devices": (2.0, 20.0),
    "two_costs": (1e-3, 1e-5, 2e-5),
    "universal_scalability": (1e4, 0.05, 0.002),
    "universal_scalability_time": (20.0, 0.05, 0.002),
}
OUTPUT_UNITS = {"any": "s", "cost": "s", "rate": "1/s"}


def input_unit(law: Law) -> str:
    return {"bytes": "B", "count": "1", "any": "B"}[law.input_kind]


def places(law: Law, count: int = 40) -> Array:
    if len(law.inputs) == 2:
        return np.array([column.ravel() for column in np.meshgrid(np.geomspace(10, 1000, 6), np.geomspace(8, 512, 6))])
    if law.input_kind == "count":
        return np.geomspace(1.0, 256.0, count)[None]
    return np.geomspace(1024.0, 1e9, count)[None]


def points(law: Law, noise: float = 0.0, seed: int = 0) -> Points:
    inputs = places(law)
    output = law.value(inputs, np.array(TRUTHS[law.name]))
    factors = np.exp(noise * np.random.default_rng(seed).standard_normal(output.size))
    units = (input_unit(law),) * len(law.inputs)
    return Points(inputs, output * factors, (*law.inputs, "y"), (*units, OUTPUT_UNITS[law.output_kind]))


def test_every_file_is_a_law() -> None:
    assert [path.stem for path in FILES] == list(all_laws())
    assert set(TRUTHS) == set(all_laws())


def test_no_law_is_a_polynomial() -> None:
    """Powers stand in the file of a power law and in closed loops alone, and no whole number is an exponent."""
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                assert not isinstance(node.right, ast.Constant), path.name
            assert not (isinstance(node, ast.Attribute) and node.attr in ("polyfit", "polyval", "Polynomial"))


@each_law
def test_names_stand_in_the_formula(law: Law) -> None:
    words = set(re.findall(r"[a-z]\w*", law.formula)) - {"max", "min"}
    assert words == {*law.inputs, *(parameter.name for parameter in law.parameters)}
    assert len({parameter.name for parameter in law.parameters}) == len(law.parameters)
    for parameter in law.parameters:
        assert parameter.meaning
        assert parameter.bounds[0] < parameter.bounds[1]


@each_law
def test_the_formula_is_what_is_computed(law: Law) -> None:
    """The text, read as Python at each point, gives the function's value."""
    inputs, truth = places(law), np.array(TRUTHS[law.name])
    names = dict(zip([own.name for own in law.parameters], map(float, truth), strict=True))
    for place, value in zip(inputs.T, law.value(inputs, truth), strict=True):
        scope = {**names, **dict(zip(law.inputs, map(float, place), strict=True)), "max": max, "min": min}
        assert eval(law.formula, {"__builtins__": {}}, scope) == pytest.approx(float(value), rel=1e-10)


@each_law
def test_units_of_parameters_make_the_formula_homogeneous(law: Law) -> None:
    """With inputs and output in other units, the same law holds with parameters changed by their units' factors."""
    units = [input_unit(law)] * len(law.inputs)
    output_unit = OUTPUT_UNITS[law.output_kind]
    found = law.parameter_units(units, output_unit)
    assert len(found) == len(law.parameters)
    for unit in found:
        assert unit_text(unit_factor(unit)[1]) == unit
    scaled_inputs = 1.0 if law.name.startswith("power") or "universal" in law.name else 7.0
    factors = [
        3.0**parameter.output_power * scaled_inputs ** sum(parameter.input_powers[: len(law.inputs)])
        for parameter in law.parameters
    ]
    inputs, truth = places(law), np.array(TRUTHS[law.name])
    np.testing.assert_allclose(
        law.value(scaled_inputs * inputs, truth * np.array(factors)), 3.0 * law.value(inputs, truth), rtol=1e-9
    )


@each_law
def test_guesses_lie_within_the_bounds(law: Law) -> None:
    data = points(law, 0.05)
    guesses = law.guess(data.inputs, data.output)
    assert guesses.ndim == 2
    assert guesses.shape[1] == len(law.parameters)
    assert np.isfinite(guesses).all()
    for column, parameter in zip(guesses.T, law.parameters, strict=True):
        assert (column >= 0).all() or parameter.bounds[0] < 0


@each_law
def test_without_noise_the_parameters_come_back(law: Law) -> None:
    found = fit_law(law, points(law))
    np.testing.assert_allclose(found.values, TRUTHS[law.name], rtol=0.2 if law.name == "hockney" else 1e-4)
    assert found.scatter < 1e-5
    assert not found.outliers.any()


@each_law
def test_two_wild_values_do_not_move_it(law: Law) -> None:
    data = points(law, 0.01)
    output = data.output.copy()
    output[[5, 21]] *= (6.0, 0.2)
    found = fit_law(law, Points(data.inputs, output, data.names, data.units))
    truth = law.value(data.inputs, np.array(TRUTHS[law.name]))
    assert set(np.flatnonzero(found.outliers)) == {5, 21}
    np.testing.assert_allclose(law.value(data.inputs, found.values), truth, rtol=0.03)


@each_law
def test_it_says_why_it_does_not_apply(law: Law) -> None:
    data = points(law)
    assert law.applies(data) is None
    more = Points(np.ones((3, 9)), np.ones(9), ("a", "b", "c", "y"), ("1", "1", "1", "s"))
    assert "input" in str(law.applies(more))
    same = Points(np.ones_like(data.inputs), data.output, data.names, data.units)
    assert "different values" in str(law.applies(same))
    few = np.arange(data.output.size) < len(law.parameters)
    assert "different" in str(law.applies(data.only(few)))
    if law.positive:
        zero = Points(data.inputs * (np.arange(data.output.size) > 0), data.output, data.names, data.units)
        assert "above 0" in str(law.applies(zero))
    if law.input_kind != "any":
        other = Points(data.inputs, data.output, data.names, ("s", data.units[-1]))
        assert "takes a" in str(law.applies(other))
    if law.output_kind != "any":
        turned = Points(
            data.inputs, data.output, data.names, (data.units[0], "s" if law.output_kind == "rate" else "B/s")
        )
        assert "is of" in str(law.applies(turned))


def test_an_unknown_law_names_the_nearest() -> None:
    with pytest.raises(SpecError, match="nearest valid choice: hockney"):
        law_named("hokney")


@given(st.dictionaries(st.sampled_from(sorted({base for _, base in UNITS.values()})), st.integers(-2, 2)))
def test_unit_text_reads_back(powers: dict[str, int]) -> None:
    factor, dimension = unit_factor(unit_text(powers))
    assert factor == 1
    assert dict(dimension) == {base: power for base, power in powers.items() if power}


@given(st.floats(0.0, 1e3), st.floats(1e-3, 1e3), st.floats(1e-6, 1e6))
def test_nonnegative_finds_a_line(fixed: float, slope: float, unit: float) -> None:
    x = unit * np.arange(1.0, 9.0)
    output = fixed + slope / unit * x
    (found_fixed, found_slope), error = nonnegative([np.ones(8), x], output)
    assert found_slope * unit == pytest.approx(slope, rel=1e-4, abs=1e-6 * fixed)
    assert found_fixed == pytest.approx(fixed, rel=1e-4, abs=1e-6 * slope)
    assert error < 1e-4


@given(st.floats(-4.0, 4.0), st.floats(1e-9, 1e9))
def test_power_guess_finds_a_power(exponent: float, scale: float) -> None:
    x = np.geomspace(1.0, 100.0, 8)
    found = power_guess(x[None], scale * x**exponent)
    assert found[0] == pytest.approx(scale, rel=1e-6)
    assert found[1] == pytest.approx(exponent, abs=1e-6)


@given(st.lists(st.floats(1e-3, 1e9), min_size=4, max_size=80, unique=True))
def test_knees_part_the_values(values: list[float]) -> None:
    places_ = knees(np.array(values), beside=2)
    assert 1 <= places_.size <= 24
    for place in places_:
        assert sum(value <= place for value in values) >= 2
        assert sum(value >= place for value in values) >= 2


@each_law
def test_the_folder_documents_it(law: Law) -> None:
    assert f"| `{law.name}` | `{law.formula}` |" in (FOLDER / "README.md").read_text(encoding="utf-8")
