"""From symbols to numbers: dimensions are checked, formulas compiled, phases composed by a named policy."""
