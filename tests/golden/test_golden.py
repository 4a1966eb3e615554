"""Every golden prediction is still what the program says; what moved is shown, and by how much."""

from __future__ import annotations

import importlib.util
import json
import math
import pathlib
import types
from typing import Any

import pytest

TOLERANCE = 2e-3  # the file keeps three or four digits


@pytest.fixture(scope="module")
def golden() -> types.ModuleType:
    """Return the module that writes the golden predictions, which lies beside this file."""
    path = pathlib.Path(__file__).with_name("rewrite.py")
    specification = importlib.util.spec_from_file_location("golden_rewrite", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def moved(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for every number that moved."""
    lines = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and all(map(_number, [*old, *new])):
            same = all(math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(old, new, strict=True))
            change = ""
        elif _number(old) and _number(new):
            same = math.isclose(old, new, rel_tol=TOLERANCE)
            change = f" ({new / old - 1:+.2%})" if old else ""
        else:
            same, change = old == new, ""
        if not same:
            lines.append(f"{name}: {old} -> {new}{change}")
    return lines


def _number(value: object) -> bool:
    return isinstance(value, (int, float))


def test_predictions_stand(golden: types.ModuleType) -> None:
    kept = json.loads(golden.GOLDEN.read_text(encoding="utf-8"))
    found = golden.predictions()
    lines = [f"{name}: gone" for name in kept.keys() - found.keys()]
    lines += [f"{name}: not in {golden.GOLDEN.name} yet" for name in found.keys() - kept.keys()]
    for name in kept.keys() & found.keys():
        lines += [f"{name}: {line}" for line in moved(golden.numbers(kept[name]), golden.numbers(found[name]))]
    print("\n".join(sorted(lines)) or f"{len(found)} predictions, none moved")
    if lines:
        shown = "\n".join(sorted(lines)[:60])
        pytest.fail(f"{len(lines)} numbers moved; as meant? python -m tests.golden.rewrite\n{shown}", pytrace=False)


def test_what_moved_is_shown() -> None:
    assert moved({"a": 1.0, "b": [1.0, 2.0], "c": 0.0}, {"a": 1.1, "b": [1.0, 2.0], "c": 0.0}) == [
        "a: 1.0 -> 1.1 (+10.00%)"
    ]
    assert moved({"b": [1.0, 2.0]}, {"b": [1.0, 3.0], "d": 1}) == ["b: [1.0, 2.0] -> [1.0, 3.0]", "d: None -> 1"]
    assert moved({"a": 1.0}, {"a": 1.0005}) == []
