r"""How sharp the knee of the closed-loop law is, from the queues of a device whose pages lie at random.

At the knee, ``q = X L_0`` reads in flight would just fill the slowest station if none ever waited. With the waits of
M/D/1 queues at stations of ``s_i`` each, ``M_i`` of them, busy ``\rho_i u`` of the time, a share ``u`` of the
throughput is reached:

.. math:: 1 = u \left(1 + \sum_i \frac{s_i g_i}{L_0} \frac{\rho_i u}{2 (1 - \rho_i u)}\right), \quad
          g_i = (1 - 1/M_i)(1 - 1/(X L_0))^+, \quad p = \frac{\ln 2}{-\ln u}

Worked number: planes alone, as many reads as planes: ``u = 2 - \sqrt 2``, ``p = 1.296``.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._knee import reached, waited

(before,) = symbols("knee_share")
share = sympy.Min(reached(waited(before)), 0.99, evaluate=False)

PHASE = Phase(
    name="flash_sharpness",
    result="flash_sharpness",
    unit="",
    expression=sympy.log(2) / -sympy.log(share),
    meaning="exponent of the closed-loop law of flash reads",
    source="baskett1976",
    assumption="pages lie at random; every service takes as long each time",
)
