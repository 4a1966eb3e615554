"""An error says where, which rule, what it got and the nearest valid choice, in one printable sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel import errors
from perfmodel.errors import (
    MissingCalibration,
    ModelError,
    NoFeasiblePlan,
    PerfmodelError,
    SpecError,
    UnitError,
    UnknownKey,
    nearest,
    shown,
)


def test_the_sentence_has_all_four_parts() -> None:
    error = SpecError("plan.devices", "must be at least 1", "0", nearest="1")
    assert str(error) == "plan.devices: must be at least 1, got 0; nearest valid choice: 1"
    assert (error.where, error.rule, error.got, error.nearest) == ("plan.devices", "must be at least 1", "0", "1")


def test_without_a_nearest_choice_nothing_is_made_up() -> None:
    assert str(SpecError("file", "must be given", "nothing")) == "file: must be given, got nothing"


@given(st.text(), st.text(max_size=2000))
def test_one_printable_line_whatever_was_given(where: str, got: str) -> None:
    sentence = str(SpecError(where, "must be short", got, "x"))
    assert sentence.isprintable()
    assert len(sentence) < 500
    assert sentence.endswith("; nearest valid choice: x")


def test_what_can_be_mended_is_told_from_bugs() -> None:
    mendable = {SpecError, UnitError, UnknownKey, MissingCalibration, NoFeasiblePlan}
    assert all(issubclass(kind, PerfmodelError) for kind in mendable)
    assert issubclass(UnitError, SpecError)
    assert issubclass(UnknownKey, SpecError)
    assert issubclass(MissingCalibration, SpecError)
    assert not issubclass(ModelError, PerfmodelError)
    found = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert found == mendable | {PerfmodelError, ModelError}


@pytest.mark.parametrize(
    ("name", "choices", "expected"),
    [
        ("redit", ["reddit", "ogbn-mag"], "reddit"),
        ("REDDIT", ["reddit", "reddit2"], "reddit"),
        ("Reddit", ["REDDIT"], "REDDIT"),
        ("ogb-products", ["ogbn-papers100M", "ogbn-products", "reddit"], "ogbn-products"),
        ("chunck", ["chunk", "window"], "chunk"),
        ("lgnnic-doca", ["lgnnic-local", "lgnnic-doca-dma"], "lgnnic-doca-dma"),
        ("zzz", ["a", "b"], "a | b"),
        ("zzz", [f"option{number}" for number in range(13)], None),
        ("zzz", [], None),
        ("", ["a"], "a"),
    ],
)
def test_nearest(name: str, choices: list[str], expected: str | None) -> None:
    assert nearest(name, choices) == expected


def test_nearest_of_a_very_long_name_is_quick() -> None:
    assert nearest("x" * 1_000_000, ["chunk", "window"]) == "chunk | window"


def test_shown_survives_what_repr_does_not() -> None:
    loop: dict[str, object] = {}
    loop["again"] = loop
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    for value in (
        loop,
        deep,
        "x" * 10**6,
        10**4000,
        10**6000,
        [10**6000],
        object(),
        None,
        float("nan"),
        b"\0",
        {1: [2, {3}]},
    ):
        assert 0 < len(shown(value)) < 400
