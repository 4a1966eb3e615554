"""Writes the numpy source of all phases from their sympy expressions. Imported only when the cache has no copy."""

from __future__ import annotations

import sympy
from sympy.printing.numpy import NumPyPrinter

from perfmodel.errors import ModelError
from perfmodel.model.dimensions import check_condition, dimension, dimension_of_unit
from perfmodel.phases._base import Phase, all_phases
from perfmodel.phases._comparisons import quick_comparisons


class FloorOfQuotient(sympy.Function):  # type: ignore[misc]
    """``floor(a / b)`` kept whole: through a shared ``1 / b``, 49 / 49 would come out below 1."""


class CeilingOfQuotient(sympy.Function):  # type: ignore[misc]
    """``ceiling(a / b)`` kept whole."""


_ROUNDED = {sympy.floor: FloorOfQuotient, sympy.ceiling: CeilingOfQuotient}


class ArrayPrinter(NumPyPrinter):  # type: ignore[misc]
    """Prints elementwise code: nested ``np.where`` and binary ``np.maximum``, which broadcast scalars and are fast."""

    def __init__(self) -> None:
        super().__init__({"fully_qualified_modules": False, "precision": 17})

    def _module_format(self, fqn: str, register: bool = True) -> str:
        return "np." + fqn.split(".")[-1]

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False, sqrt: str = "sqrt") -> str:
        if expr.exp == -1:
            return f"(1.0/({self._print(expr.base)}))"
        return str(super()._print_Pow(expr, rational=rational))

    def _print_Max(self, expr: sympy.Max) -> str:
        return self._nested("np.maximum", [self._print(part) for part in expr.args])

    def _print_Min(self, expr: sympy.Min) -> str:
        return self._nested("np.minimum", [self._print(part) for part in expr.args])

    def _print_And(self, expr: sympy.And) -> str:
        return self._nested("np.logical_and", [self._print(part) for part in expr.args])

    def _print_Or(self, expr: sympy.Or) -> str:
        return self._nested("np.logical_or", [self._print(part) for part in expr.args])

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        if expr.args[-1][1] != sympy.true:
            raise ModelError(f"a Piecewise needs a last branch that always holds: {expr}")
        printed = self._print(expr.args[-1][0])
        for branch, condition in reversed(expr.args[:-1]):
            printed = f"np.where({self._print(condition)}, {self._print(branch)}, {printed})"
        return str(printed)

    def _print_FloorOfQuotient(self, expr: sympy.Function) -> str:
        return "np.floor(({})/({}))".format(*map(self._print, expr.args))

    def _print_CeilingOfQuotient(self, expr: sympy.Function) -> str:
        return "np.ceil(({})/({}))".format(*map(self._print, expr.args))

    def _nested(self, function: str, parts: list[str]) -> str:
        printed = parts[-1]
        for part in reversed(parts[:-1]):
            printed = f"{function}({part}, {printed})"
        return printed


@quick_comparisons()
def numpy_source() -> str:
    """Return a module that defines ``PHASES``; every dimension is checked on the way.

    Raises
    ------
    ModelError
        Where a formula's dimension differs from its unit.
    """
    lines = ['"""Compiled from the formulas of perfmodel/phases; written by the program, never by hand."""', ""]
    entries: list[str] = []
    for phase in all_phases().values():
        _check(phase)
        lines += _function(f"{phase.name}", phase.arguments, phase.expression)
        domain: list[str] = []
        for number, condition in enumerate(phase.valid_when):
            arguments = tuple(sorted(str(name) for name in condition.relation.free_symbols))
            lines += _function(f"{phase.name}_valid_{number}", arguments, condition.relation)
            domain.append(f"({arguments!r}, {phase.name}_valid_{number}, {condition.meaning!r})")
        joined = "(" + ", ".join(domain) + ("," if domain else "") + ")"
        entries.append(
            f"    {phase.name!r}: ({phase.result!r}, {phase.source!r}, {phase.arguments!r}, {phase.name}, {joined}),"
        )
    return "\n".join([*lines, "PHASES = {", *entries, "}", ""])


def _check(phase: Phase) -> None:
    units = {other.result: other.unit for other in all_phases().values()}
    found = dimension(phase.expression, units)
    if found != dimension_of_unit(phase.unit):
        raise ModelError(f"phases/{phase.name}.py gives {found}, not {phase.unit}")
    for condition in (*phase.valid_when, *phase.regimes):
        check_condition(condition.relation)


def _function(name: str, arguments: tuple[str, ...], expression: sympy.Basic) -> list[str]:
    """Print one function with its common subexpressions taken out."""
    printer = ArrayPrinter()
    whole = _with_quotients(expression, {})
    shared, (reduced,) = sympy.cse(whole, symbols=sympy.numbered_symbols("x_"), order="canonical")
    body = [f"    {target} = {printer.doprint(value)}" for target, value in shared]
    return [f"def {name}({', '.join(arguments)}):", *body, f"    return {printer.doprint(reduced)}", "", ""]


def _with_quotients(node: sympy.Basic, done: dict[sympy.Basic, sympy.Basic]) -> sympy.Basic:
    """Let floors and ceilings divide once, exactly; each subexpression is rebuilt once, without simplifying it again."""
    if not node.args or node in done:
        return done.get(node, node)
    arguments = [_with_quotients(argument, done) for argument in node.args]
    if node.func in _ROUNDED:
        new = _ROUNDED[node.func](*sympy.fraction(arguments[0]))
    elif all(new is old for new, old in zip(arguments, node.args, strict=True)):
        new = node
    elif isinstance(node, (sympy.Max, sympy.Min)):
        new = node.func(*arguments, evaluate=False)
    else:
        new = node.func(*arguments)
    done[node] = new
    return new
