r"""Gathering: copying the mini-batch's rows out of one table, in random order.

.. math:: t = r\,t_r + \frac{G}{B_g} + m\,(r\,t_{rm} + G\,t_{bm}), \quad m = 1 - (1 - d) \min(1,\ L/T)

Of a table of ``T`` bytes a cache of ``L`` bytes holds the share ``L/T``, less what was displaced since the last mini-batch
(``d``); a row that it does not hold costs a trip to memory for the row and more for each of its bytes.

Worked number: 100,000 rows of 400 B at 10 GB/s take 4 ms, and 2 ms more where half the table is beyond the cache and a
miss costs 40 ns.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._displaced import kept

(rows, gathered, table, bandwidth, cache) = symbols("table_rows table_row_bytes table_bytes gather_bandwidth cache")
(per_row, per_missed_row, per_missed_byte) = symbols("time_per_row time_per_missed_row time_per_missed_byte")

kept_share = kept()
missed = 1 - kept_share * sympy.Min(1, cache / table)

PHASE = Phase(
    name="gathering",
    result="gather_time",
    unit="s",
    expression=rows * per_row + gathered / bandwidth + missed * (rows * per_missed_row + gathered * per_missed_byte),
    meaning="copy rows scattered over one table",
    source="lgnnic2026",
    assumption="rows are reached at random; the cache holds a share of the table and nothing else",
    regimes=(Condition(table > cache, "the table outgrows the last cache level: rows come from memory"),),
)
