r"""Sums over neighbors of one graph layer in the vector unit, and their gradients.

.. math:: t = \frac{2 - i}{\nu} \left\lceil \frac{n\,d}{w} \right\rceil

The first layer (``i = 1``) needs no gradient of its input.

Worked number: 4,992 neighbors with 602 elements, 64 at a time at 800 MHz: 46,956 cycles forward, 59 us; none backward.
"""

import sympy

from perfmodel.phases._array import frequency
from perfmodel.phases._base import Phase, symbols

(targets, sources, is_first, dimension, hidden, vector) = symbols(
    "batch_targets layer_sources is_first_layer feature_dimension hidden_width vector_width"
)
elements = targets * sources * (is_first * dimension + (1 - is_first) * hidden)

PHASE = Phase(
    name="layer_sums",
    result="sum_time",
    unit="s",
    expression=(2 - is_first) * sympy.ceiling(elements / vector) / frequency,
    meaning="sums over a layer's neighbors, forward and backward",
    source="mdgnn2026",
)
