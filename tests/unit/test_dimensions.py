"""The dimension check: every phase passes it, and what adds, compares or rounds unlike things does not."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from perfmodel.errors import ModelError
from perfmodel.model.dimensions import check_condition, dimension, dimension_of_unit
from perfmodel.phases._base import all_phases, symbol, symbols
from perfmodel.symbols import NOMENCLATURE

tensor_bytes, chunk, bandwidth, latency, window, cores = symbols(
    "tensor_bytes chunk link_bandwidth link_latency window cores"
)
nodes, edges = symbols("sampled_nodes sampled_edges")


@pytest.mark.parametrize("name", all_phases())
def test_every_phase_gives_its_unit_and_compares_like_with_like(name: str) -> None:
    phase = all_phases()[name]
    assert dimension(phase.expression) == dimension_of_unit(phase.unit)
    for condition in (*phase.regimes, *phase.valid_when):
        check_condition(condition.relation)


@pytest.mark.parametrize("name", NOMENCLATURE)
def test_every_quantity_is_in_si(name: str) -> None:
    dimension_of_unit(NOMENCLATURE[name].unit)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (tensor_bytes / bandwidth, {"second": Fraction(1)}),
        (tensor_bytes / bandwidth + 2 * latency, {"second": Fraction(1)}),
        (sympy.ceiling(tensor_bytes / chunk), {}),
        (sympy.ceiling(tensor_bytes / chunk) * chunk, {"byte": Fraction(1)}),
        (sympy.Max(tensor_bytes, chunk), {"byte": Fraction(1)}),
        (sympy.Max(tensor_bytes, 0), {"byte": Fraction(1)}),
        (sympy.sqrt(tensor_bytes * chunk), {"byte": Fraction(1)}),
        (sympy.Piecewise((tensor_bytes, tensor_bytes > chunk), (0, True)), {"byte": Fraction(1)}),
        (nodes / edges, {"edge": Fraction(-1), "node": Fraction(1)}),
        (sympy.exp(latency / latency * window), {}),
        (sympy.Integer(0), {}),
    ],
)
def test_dimensions_of_expressions(expression: sympy.Expr, expected: dict[str, Fraction]) -> None:
    assert dimension(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        tensor_bytes + latency,
        tensor_bytes + 1,
        tensor_bytes + window,
        nodes + edges,
        sympy.ceiling(tensor_bytes),
        sympy.floor(latency),
        sympy.exp(latency),
        sympy.log(tensor_bytes),
        sympy.Max(tensor_bytes, latency),
        sympy.Min(tensor_bytes, window),
        sympy.Max(tensor_bytes, 1),
        sympy.Piecewise((tensor_bytes, window > 1), (latency, True)),
        sympy.Piecewise((tensor_bytes, tensor_bytes > latency), (0, True)),
        sympy.Piecewise((tensor_bytes, tensor_bytes > 1), (0, True)),
        tensor_bytes**window,
        window**latency,
        sympy.sin(window),
    ],
    ids=str,
)
def test_refuses_unlike_terms(expression: sympy.Expr) -> None:
    with pytest.raises(ModelError):
        dimension(expression)


@pytest.mark.parametrize("name", all_phases())
def test_any_argument_in_another_unit_is_caught_or_moves_the_result(name: str) -> None:
    """A phase in which one quantity had another dimension can't give the same unit."""
    phase = all_phases()[name]
    for argument in phase.arguments:
        try:
            found = dimension(phase.expression, {argument: "USD"})
        except ModelError:
            continue
        assert found != dimension_of_unit(phase.unit), argument


@pytest.mark.parametrize("relation", [tensor_bytes > latency, (window > 1) & (tensor_bytes > cores), tensor_bytes > 1])
def test_refuses_conditions_of_unlike_sides(relation: sympy.Basic) -> None:
    with pytest.raises(ModelError):
        check_condition(relation)


def test_accepts_conditions_of_like_sides() -> None:
    check_condition((window > 1) & (tensor_bytes > chunk) | sympy.Not(latency > 0))


def test_refuses_units_with_a_factor() -> None:
    with pytest.raises(ModelError, match="GB is not an SI unit"):
        dimension_of_unit("GB")


def test_refuses_a_name_that_the_nomenclature_lacks() -> None:
    with pytest.raises(ModelError, match="not in perfmodel/symbols"):
        symbol("speed_of_light")
