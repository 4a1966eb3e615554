r"""One layer of a snapshot's LSTM cells, backward: gradients of the weights and of the input.

.. math:: t = \frac{c(2h, b, 4h) + c(b, 4h, 2h)}{\nu}

Worked number: 128 targets, 6 elements, 64 x 64 at 800 MHz: 280 and 256 cycles, 0.67 us.
"""

from perfmodel.phases._array import cycles, frequency
from perfmodel.phases._base import Phase, symbols

(targets, hidden) = symbols("batch_targets hidden_width")
weights = cycles(2 * hidden, targets, 4 * hidden)
inputs = cycles(targets, 4 * hidden, 2 * hidden)

PHASE = Phase(
    name="backward_cells",
    result="backward_cell_time",
    unit="s",
    expression=(weights + inputs) / frequency,
    meaning="one layer of a snapshot's recurrent cells, backward",
    source="mdgnn2026",
)
