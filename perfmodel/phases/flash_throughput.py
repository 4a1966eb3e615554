r"""Endless reads in flight: the slowest of planes, buses and firmware sets the pace.

.. math:: X = \frac{1}{\max(t_h/U,\ t_x/C,\ t_f/F)}, \quad t_h = t_R + t_x \text{ or } \max(t_R + t_c, t_x - t_c)

``U`` planes (dies, where a die's planes read together) are held from their command until their page has left, or, with a
second register, until the next page may be read.

Worked number: 16 channels of 8 dies of 2 planes, 12 us and 5.12 us: planes allow 15 million reads a second, buses 3.125
million.
"""

import sympy

from perfmodel.phases._base import Condition, Phase
from perfmodel.phases._flash import bus, channels, cores, firmware, held, units

plane_pace = held / units
bus_pace = bus / channels
firmware_pace = firmware / cores

PHASE = Phase(
    name="flash_throughput",
    result="flash_throughput",
    unit="1/s",
    expression=1 / sympy.Max(plane_pace, bus_pace, firmware_pace),
    meaning="reads of the whole device with every plane busy",
    source="mqsim2018",
    regimes=(
        Condition(bus_pace >= sympy.Max(plane_pace, firmware_pace), "the channel buses are the bottleneck of flash"),
        Condition(plane_pace > sympy.Max(bus_pace, firmware_pace), "the arrays are the bottleneck of flash"),
        Condition(firmware_pace > sympy.Max(bus_pace, plane_pace), "the firmware is the bottleneck of flash"),
    ),
)
