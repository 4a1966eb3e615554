r"""Devices beyond which another one gains less than a share ``g``, by Amdahl's law (Amdahl 1967).

.. math:: T(N) = S + P/N, \quad \frac{T(N)}{T(N + 1)} = 1 + g \;\Rightarrow\;
          N = \frac{2 (1 - f)}{g + \sqrt{g^2 + 4 g f (1 - f)}}, \quad f = \frac{S}{S + P}

Worked number: nothing serial and 5 %: 20 devices; half of the time of one device serial: 3.6 devices.
"""

import sympy

from perfmodel.phases._base import Phase, symbols

(serial, gain) = symbols("serial_share_of_one least_gain")

PHASE = Phase(
    name="scaling_knee",
    result="knee_devices",
    unit="",
    expression=2 * (1 - serial) / (gain + sympy.sqrt(gain**2 + 4 * gain * serial * (1 - serial))),
    meaning="devices beyond which another one gains too little",
    source="amdahl1967",
    assumption="what devices share out falls as one over their number, and nothing grows with it",
)
