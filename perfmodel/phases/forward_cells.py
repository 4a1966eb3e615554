r"""One layer of a snapshot's LSTM cells, forward: four gates of state and input in one product.

.. math:: t = \frac{c(b, 2h, 4h)}{\nu}

Worked number: 128 targets, 6 elements, 64 x 64 at 800 MHz: 256 cycles, 0.32 us.
"""

from perfmodel.phases._array import cycles, frequency
from perfmodel.phases._base import Phase, symbols

(targets, hidden) = symbols("batch_targets hidden_width")

PHASE = Phase(
    name="forward_cells",
    result="forward_cell_time",
    unit="s",
    expression=cycles(targets, 2 * hidden, 4 * hidden) / frequency,
    meaning="one layer of a snapshot's recurrent cells, forward",
    source="mdgnn2026",
    assumption="LSTM cells; elementwise gates hide behind the product",
)
