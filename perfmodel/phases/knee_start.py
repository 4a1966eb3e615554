r"""Share of its throughput that flash reaches at the knee, if only the slowest station made reads wait.

.. math:: 1 = u \left(1 + \frac{s g}{L_0} \frac{u}{2 (1 - u)}\right)

Worked number: balls thrown at as many of 1,000 bins, again and again: ``u = 2 - \sqrt 2 = 0.586``.
"""

import sympy

from perfmodel.phases._base import Phase
from perfmodel.phases._knee import reached

PHASE = Phase(
    name="knee_start",
    result="knee_share",
    unit="",
    expression=reached(sympy.Integer(0)),
    meaning="share of flash's throughput at the knee, waits elsewhere left out",
    source="baskett1976",
)
