"""Formulas for people: text and LaTeX, in the words of the phase's file, with names or with numbers in place.

A phase's file names the parts of its formula (``sender``, ``wire``, ``pace``); those names fold the whole expression
back to what its author wrote.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import math
import re
from collections.abc import Mapping, Sequence

import sympy
from sympy.codegen.cfunctions import expm1
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from perfmodel.model.branches import Point
from perfmodel.model.dimensions import dimension
from perfmodel.phases._base import Phase, all_phases
from perfmodel.symbols import NOMENCLATURE
from perfmodel.units import render

#: Keeps a number and its unit on one line; ``str.split`` and ``textwrap`` with plain spaces leave it alone.
JOINT = "\N{NO-BREAK SPACE}"
_BASE_UNITS = {"byte": "B", "second": "s", "joule": "J"}


@dataclasses.dataclass(frozen=True)
class Definition:
    """A part of a formula that has a name of its own, over other names."""

    name: str
    formula: sympy.Basic


@dataclasses.dataclass(frozen=True)
class Named:
    """A value as formulas show it."""

    value: float
    unit: str


@dataclasses.dataclass(frozen=True)
class Written:
    """Expressions in the words of their phase, and what those words stand for, in order of appearance."""

    expressions: tuple[sympy.Basic, ...]
    definitions: tuple[Definition, ...]

    @property
    def ordered(self) -> list[tuple[str, sympy.Basic]]:
        """Return names and formulas so that each uses only those before it."""
        formulas = {definition.name: definition.formula for definition in self.definitions}
        found: dict[str, sympy.Basic] = {}

        def settle(name: str) -> None:
            if name in formulas and name not in found:
                for inner in _known(formulas[name], formulas):
                    settle(inner)
                found[name] = formulas[name]

        for name in formulas:
            settle(name)
        return list(found.items())

    def values(self, numbers: Mapping[str, float]) -> dict[str, Named]:
        """Return what formulas show in place of names: of the phase's arguments, and of the parts that have names."""
        units = {name: NOMENCLATURE[name].unit for name in numbers}
        known = dict(numbers)
        for name, formula in self.ordered:
            known[name] = float(Point(known).value(formula))
            units[name] = unit_of(formula, units)
        return {name: Named(value, units[name]) for name, value in known.items()}


class Notation:
    """The names that a phase's file gives to parts of its formula.

    Parameters
    ----------
    phase : Phase
        One of the folder; a phase without a file has no names.

    Examples
    --------
    >>> from perfmodel.phases._base import all_phases
    >>> phase = all_phases()["training"]
    >>> text(Notation(phase).write([phase.expression]).expressions[0])
    'launch_time * training_kernels + max(compute_bound, memory_bound)'
    """

    def __init__(self, phase: Phase) -> None:
        own = vars(importlib.import_module(f"perfmodel.phases.{phase.name}")) if phase.name in all_phases() else {}
        self._parts: dict[str, sympy.Basic] = {}
        for name, part in own.items():
            is_formula = isinstance(part, sympy.Expr) and bool(part.args) and bool(part.free_symbols)
            is_new = name not in NOMENCLATURE and not name.startswith("_") and part not in self._parts.values()
            if is_formula and is_new:
                self._parts[name] = part

    def write(self, expressions: Sequence[sympy.Basic]) -> Written:
        """Return expressions with the phase's names in place of the parts that they stand for.

        Long parts that occur several times without a name in the file are called ``part_1`` and so on.
        """
        whole = _Folding(self._parts)
        folded = {f"{_OWN}{number}": whole.fold(expression) for number, expression in enumerate(expressions)}
        waiting = [name for formula in folded.values() for name in _known(formula, self._parts)]
        while waiting:
            name = waiting.pop(0)
            if name not in folded:
                folded[name] = _Folding(self._parts, without=name).fold(self._parts[name])
                waiting += _known(folded[name], self._parts)
        folded = _repeated_named(folded)
        own = tuple(formula for name, formula in folded.items() if name.startswith(_OWN))
        return Written(own, tuple(Definition(name, formula) for name, formula in folded.items() if _OWN not in name))


_OWN = "="  # marks the expressions themselves among the definitions; no name starts so
_LONG = 8  # operations from which a repeated part gets a name


@functools.lru_cache(maxsize=65536)
def _operations(expression: sympy.Basic) -> int:
    return int(expression.count_ops())


def _known(expression: sympy.Basic, names: Mapping[str, object]) -> list[str]:
    return sorted(symbol.name for symbol in expression.free_symbols if symbol.name in names)


def _repeated_named(formulas: dict[str, sympy.Basic]) -> dict[str, sympy.Basic]:
    """Give names to long parts that occur more than once."""
    named = dict(formulas)
    for number in range(1, 100):
        counts = collections.Counter(
            node
            for formula in named.values()
            for node in sympy.preorder_traversal(formula)
            if isinstance(node, (sympy.Max, sympy.Min, sympy.Add, sympy.Piecewise))
        )
        again = [node for node, count in counts.items() if count > 1 and _operations(node) >= _LONG]
        if not again:
            break
        longest = max(again, key=lambda node: (_operations(node), str(node)))
        rule = _Folding({f"part_{number}": longest})
        named = {name: rule.fold(formula) for name, formula in named.items()}
        named[f"part_{number}"] = longest
    return named


def _for_people(formula: sympy.Basic) -> sympy.Basic:
    """Return a formula with ``exp(x) - 1`` written as such, not as the function that keeps its digits."""
    return formula.xreplace({node: sympy.exp(*node.args) - 1 for node in formula.atoms(expm1)})


class _Folding:
    """Puts names in place of parts; ``without`` is the name that must stay out of its own definition."""

    def __init__(self, parts: Mapping[str, sympy.Basic], without: str = "") -> None:
        kept = [(name, part) for name, part in parts.items() if name != without]
        self.short: dict[sympy.Basic, sympy.Basic] = {}
        self.terms: list[tuple[type, frozenset[sympy.Basic], sympy.Basic]] = []
        for name, part in sorted(kept, key=lambda each: (-_operations(each[1]), each[0])):
            self._add(part, sympy.Symbol(name))
        own = parts.get(without)
        self.found: dict[sympy.Basic, sympy.Basic] = {}
        if own is not None:
            self.short.pop(own, None)

    def _add(self, part: sympy.Basic, name: sympy.Symbol) -> None:
        """Remember a part in the forms in which sums and products hide it."""
        self.short.setdefault(part, name)
        if isinstance(part, sympy.Add):
            constant, rest = part.as_coeff_Add()
            if constant:
                self.short.setdefault(rest, name - constant)
            for form, short in ((rest, name - constant), (-rest, constant - name)):
                self.terms.append((sympy.Add, frozenset(sympy.Add.make_args(form)), short))
        elif isinstance(part, sympy.Mul):
            for form, short in ((part, name), (1 / part, 1 / name)):
                self.terms.append((sympy.Mul, frozenset(sympy.Mul.make_args(form)), short))

    def fold(self, node: sympy.Basic) -> sympy.Basic:
        """Return the expression with names in it."""
        if not node.args:
            return node
        if node in self.short:
            return self.short[node]
        if node not in self.found:
            self.found[node] = self._folded(node)
        return self.found[node]

    def _folded(self, node: sympy.Basic) -> sympy.Basic:
        taken: list[sympy.Basic] = []
        rest = list(node.args)
        for kind, terms, short in self.terms if isinstance(node, (sympy.Add, sympy.Mul)) else ():
            if node.func is kind and terms <= set(rest):
                rest = [each for each in rest if each not in terms]
                taken.append(short)
        inner = [*taken, *(self.fold(part) for part in rest)]
        if isinstance(node, (sympy.Max, sympy.Min)):
            return node.func(*inner, evaluate=False)
        return node.func(*inner)


def _positive_first(terms: list[sympy.Expr]) -> list[sympy.Expr]:
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


class _Text(StrPrinter):  # type: ignore[misc]
    """Prints plain text with spaces around operators."""

    def _as_ordered_terms(self, expr: sympy.Expr, order: str | None = None) -> list[sympy.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order))

    def _print_Max(self, expr: sympy.Max) -> str:
        return f"max({', '.join(self._sorted(expr))})"

    def _print_Min(self, expr: sympy.Min) -> str:
        return f"min({', '.join(self._sorted(expr))})"

    def _sorted(self, expr: sympy.Expr) -> list[str]:
        return [self._print(part) for part in sorted(expr.args, key=sympy.default_sort_key)]

    def _print_ceiling(self, expr: sympy.ceiling) -> str:
        return f"ceil({self._print(expr.args[0])})"

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        branches = [
            f"{self._print(branch)} otherwise" if condition == sympy.true else
            f"{self._print(branch)} if {self._print(condition)}"
            for branch, condition in expr.args
        ]  # fmt: skip
        return f"({'; '.join(branches)})"

    def _print_And(self, expr: sympy.And) -> str:
        return " and ".join(self._print(part) for part in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Float(self, expr: sympy.Float) -> str:
        return f"{float(expr):.6g}"


_WORD = re.compile(r"[A-Za-z_]\w*")


def text(expression: sympy.Basic, values: Mapping[str, Named] | None = None) -> str:
    """Return an expression as text; with values, numbers stand in place of names.

    Examples
    --------
    >>> from perfmodel.phases._base import symbols
    >>> size, rate = symbols("tensor_bytes link_bandwidth")
    >>> text(size / rate), text(size / rate, {"tensor_bytes": Named(1e6, "B"), "link_bandwidth": Named(25e9, "B/s")})
    ('tensor_bytes / link_bandwidth', '1 MB / 25 GB/s')
    """
    printed = str(_Text().doprint(_for_people(expression))).replace("**", "^").replace("*", " * ").replace("/", " / ")
    if values is None:
        return printed
    shown = {name: render(named.value, named.unit).replace(" ", JOINT) for name, named in values.items()}
    return _WORD.sub(lambda match: shown.get(match[0], match[0]), printed).replace(JOINT, " ")


class _Latex(LatexPrinter):  # type: ignore[misc]
    """Prints LaTeX with whole words upright."""

    def __init__(self, values: Mapping[str, Named] | None) -> None:
        super().__init__({"mul_symbol": "dot"})
        self._values = values

    def _as_ordered_terms(self, expr: sympy.Expr, order: str | None = None) -> list[sympy.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order))

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:
        if self._values is not None and expr.name in self._values:
            named = self._values[expr.name]
            return latex_quantity(named.value, named.unit)
        return latex_name(expr.name)

    def _print_Float(self, expr: sympy.Float) -> str:
        return latex_quantity(float(expr), "")


def latex(expression: sympy.Basic, values: Mapping[str, Named] | None = None) -> str:
    r"""Return an expression as LaTeX; with values, numbers stand in place of names.

    Examples
    --------
    >>> from perfmodel.phases._base import symbols
    >>> size, rate = symbols("tensor_bytes link_bandwidth")
    >>> latex(size / rate)
    '\\frac{\\mathrm{tensor\\_bytes}}{\\mathrm{link\\_bandwidth}}'
    """
    return str(_Latex(values).doprint(_for_people(expression)))


def latex_name(name: str) -> str:
    """Return a name as upright LaTeX."""
    return rf"\mathrm{{{escaped(name)}}}"


def latex_quantity(value: float, unit: str) -> str:
    """Return a value with its unit as LaTeX."""
    number, _, shown = render(value, unit).partition(" ")
    if not math.isfinite(value):
        number = r"\infty" if value > 0 else r"-\infty"
    elif "e" in number:
        mantissa, power = number.split("e")
        number = rf"{mantissa} \cdot 10^{{{int(power)}}}"
    shown = re.sub(r"^u(?=\w)", r"\\mu ", escaped(shown))
    return f"{{{number}}}" if not shown else rf"{{{number}\,\mathrm{{{shown}}}}}"


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
} | {character: "\\" + character for character in "_%&#${}"}


def escaped(words: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(character, character) for character in words)


def unit_of(expression: sympy.Basic, units: Mapping[str, str] | None = None) -> str:
    """Return the unit of an expression in the unit table's words; ``units`` are those of names of its own.

    Examples
    --------
    >>> from perfmodel.phases._base import symbol
    >>> unit_of(1 / symbol("link_bandwidth"))
    's/B'
    """
    powers = {base: int(power) for base, power in dimension(expression, dict(units or {})).items()}
    above = [_BASE_UNITS.get(base, base) for base, power in powers.items() for _ in range(power)]
    below = [_BASE_UNITS.get(base, base) for base, power in powers.items() for _ in range(-power)]
    return "/".join(["*".join(above) or ("1" if below else ""), *below])
