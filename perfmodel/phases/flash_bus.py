r"""Channel bus: the time that one read holds it, with its command, for the page or only the row.

.. math:: t_x = t_c + \frac{(1 - s) P + s \min(P, f)}{B_c}

Worked number: a page of 4,096 B at 800 MB/s takes 5.12 us, a row of 400 B 0.5 us.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(command, rows_only, page, dimension, row_width, bandwidth) = symbols(
    "command_time sends_rows page feature_dimension row_width channel_bandwidth"
)
row = dimension * row_width

PHASE = Phase(
    name="flash_bus",
    result="bus_time",
    unit="s",
    expression=command + ((1 - rows_only) * page + rows_only * sympy.Min(page, row)) / bandwidth,
    meaning="a page or a row over the channel's bus",
    source="mqsim2018",
)
