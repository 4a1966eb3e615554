r"""Forward pass of a frame's cells: the parent says so, the chain, and the last process reports.

.. math:: t = t_c + 2\,t_w

Worked number: a chain of 2.3 ms and 60 us either way: 2.4 ms.
"""

from perfmodel.phases._base import Phase, symbols

(chain, wake, each) = symbols("chain_time wake_time way_message_time")

PHASE = Phase(
    name="forward_on_cores",
    result="forward_time",
    unit="s",
    expression=chain + 2 * (wake + each),
    meaning="recurrent cells forward",
    source="mdgnn2026",
)
