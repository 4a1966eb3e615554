"""What the phases of systolic arrays share: cycles of a product, weights in place and rows passing through."""

import sympy

from perfmodel.phases._base import symbols

(array_rows, array_columns, frequency) = symbols("array_rows array_columns array_frequency")


def cycles(rows: sympy.Expr, inner: sympy.Expr, outputs: sympy.Expr, fills: sympy.Expr | int = 1) -> sympy.Expr:
    """Return the cycles of (rows x inner) times (inner x outputs): for each tile of weights, its rows and the filling.

    ``fills`` is how often each tile is filled anew; 0 where rows go on from those of another call.
    """
    tiles = sympy.ceiling(inner / array_rows) * sympy.ceiling(outputs / array_columns)
    return tiles * (rows + fills * (array_rows + array_columns))
