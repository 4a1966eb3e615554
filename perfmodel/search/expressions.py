"""Expressions over the names of results, such as ``time * energy`` or ``max(phases.transfer, phases.training)``."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from perfmodel.errors import SpecError, shown

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int]] = {
    "min": (np.minimum, 2), "max": (np.maximum, 2), "log": (np.log, 1), "sqrt": (np.sqrt, 1), "abs": (np.abs, 1),
}  # fmt: skip
_LONGEST = 1000


@dataclasses.dataclass(frozen=True)
class Expression:
    """An expression as it was written, and its tree.

    Attributes
    ----------
    text : str
    names : tuple of str
        Of the results that it needs.
    """

    text: str
    names: tuple[str, ...]
    _tree: ast.expr

    @staticmethod
    def of(text: str, where: str) -> Expression:
        """Parse an expression.

        Raises
        ------
        SpecError
            Where it is anything but names, numbers, ``+ - * / **``, ``min``, ``max``, ``log``, ``sqrt`` and ``abs``.

        Examples
        --------
        >>> Expression.of("time * bytes.total", "--objective").names
        ('time', 'bytes.total')
        """
        try:
            if not text.strip() or len(text) > _LONGEST:
                raise SyntaxError
            tree = ast.parse(text.strip(), mode="eval").body
            names = tuple(dict.fromkeys(_names(tree, where, text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise SpecError(where, "must be an expression of results", shown(text), "time") from None
        return Expression(text.strip(), names, tree)

    def value(self, result: Callable[[str], Any]) -> Any:
        """Return its value; ``result`` gives that of a name."""
        return _value(self._tree, result)


def _names(node: ast.expr, where: str, text: str) -> Iterator[str]:
    """Yield the names of an expression, and refuse everything that isn't arithmetic."""
    match node:
        case ast.Constant(value=bool()):
            raise _refused(text, where)
        case ast.Constant(value=int() | float()):
            return
        case ast.Name() | ast.Attribute():
            yield _dotted(node, where, text)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            yield from _names(left, where, text)
            yield from _names(right, where, text)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _names(operand, where, text)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            least = _FUNCTIONS[name][1]
            if len(arguments) < least or (least == 1 and len(arguments) > 1):
                raise SpecError(where, f"must give {name} {'one value' if least == 1 else 'two or more'}", shown(text))
            for argument in arguments:
                yield from _names(argument, where, text)
        case _:
            raise _refused(text, where)


def _refused(text: str, where: str) -> SpecError:
    rule = f"must be made of results, numbers, + - * / ** and {', '.join(_FUNCTIONS)}"
    return SpecError(where, rule, shown(text), "time * energy")


def _dotted(node: ast.expr, where: str, text: str) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_dotted(inner, where, text)}.{name}"
        case _:
            raise _refused(text, where)


def _value(node: ast.expr, result: Callable[[str], Any]) -> Any:
    match node:
        case ast.Constant(value=number):
            return float(number)  # type: ignore[arg-type]
        case ast.BinOp(left=left, op=operator, right=right):
            return _BINARY[type(operator)](_value(left, result), _value(right, result))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return np.negative(_value(operand, result))
        case ast.UnaryOp(operand=operand):
            return _value(operand, result)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            function, least = _FUNCTIONS[name]
            found = _value(arguments[0], result)
            for argument in arguments[1:]:
                found = function(found, _value(argument, result))
            return function(found) if least == 1 else found
        case _:
            return result(_dotted(node, "", ""))


def split_list(text: str) -> list[str]:
    """Split expressions at the commas that stand outside of parentheses.

    Examples
    --------
    >>> split_list("time,max(phases.transfer, phases.training)")
    ['time', 'max(phases.transfer, phases.training)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
