"""What the phases of systolic arrays share: cycles of a product, weights in place and rows passing through."""

import sympy

from perfmodel.phases._base import symbols

(array_rows, array_columns, frequency) = symbols("array_rows array_columns array_frequency")


def cycles(rows: sympy.Expr, inner: sympy.Expr, outputs: sympy.Expr) -> sympy.Expr:
    """Return the cycles of (rows x inner) times (inner x outputs): for each tile of weights, its rows and the filling."""
    tiles = sympy.ceiling(inner / array_rows) * sympy.ceiling(outputs / array_columns)
    return tiles * (rows + array_rows + array_columns)
