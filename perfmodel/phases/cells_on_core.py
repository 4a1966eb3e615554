r"""One layer of a snapshot's recurrent cells on one core, in one direction: dense products and gates.

.. math:: t = t_0 + t_r + 2 q\,b\,g\,h^2\,f + b\,h\,e

``q`` products of ``b`` targets' states of ``h`` elements with the weights of ``g`` gates: of state and input forward, and of
each with both gradients backward. Where states travel, every cell begins in a process that a message has just woken, whose
code and data are no longer where they were: ``t_r``.

Worked number: 200 targets, 32 elements, an LSTM's 4 gates, 2 products of 20 ps an operation, 12 ns an element, 40 us a
call: 0.18 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import gates, hidden, targets, travels

(products, call, restart, operation, element) = symbols(
    "cell_products cell_call_time cell_restart_time cell_operation_time cell_element_time"
)
work = 2 * products * targets * gates * hidden**2 * operation + targets * hidden * element

PHASE = Phase(
    name="cells_on_core",
    result="cell_time",
    unit="s",
    expression=call + travels * restart + work,
    meaning="one layer of a snapshot's recurrent cells in one direction",
    source="mdgnn2026",
    assumption="one thread; the input of a layer is as wide as its state",
)
